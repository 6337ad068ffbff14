import type { TenantId } from "@agentos/core"
import { PgConnection } from "@effect/sql-pg"
import { Deferred, Effect, Queue, Schedule, type Scope } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

/** How the word that a tenant has something to deliver reaches whoever waits for it. */
export interface Announcements {
  /** Tells that these tenants have something new, once the transaction of the caller commits and never otherwise. */
  readonly announce: (tenantIds: ReadonlyArray<TenantId>) => Effect.Effect<void, SqlError.SqlError>
  /** A queue of at most one waiting wake-up of the tenant, until the scope closes. */
  readonly subscribe: (tenantId: TenantId) => Effect.Effect<Queue.Dequeue<void>, never, Scope.Scope>
}

const CHANNEL = "agentos_events"

/** A payload of pg_notify is shorter than 8000 bytes; a tenant's id takes 37 of them. */
const TENANTS_PER_PAYLOAD = 200

/** How long after one attempt to listen another is made: soon at first, and at least every 5 seconds. */
const reconnect = Schedule.jittered(Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("5 seconds")]))

/**
 * Through the database, to every server on it: NOTIFY goes out when the
 * transaction commits, and one connection of this server listens. What is
 * announced while that connection is lost is made up for by waking everybody.
 *
 * It answers when the first attempt to listen is over.
 */
export const makeListening = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  connection: PgConnection.Config
): Effect.fn.Return<Announcements, never, Scope.Scope> {
  const subscribers = new Subscribers()
  const attempted = yield* Deferred.make<void>()

  const listenUntilLost = Effect.gen(function* () {
    const session = yield* PgConnection.make(connection)
    const notifications = yield* session.listen(CHANNEL)
    yield* Deferred.succeed(attempted, undefined)
    subscribers.wakeAll()
    yield* Effect.ignore(
      Effect.forever(Effect.map(Queue.take(notifications), ({ payload }) => subscribers.wake(payload.split(","))))
    )
  })
  const listen = Effect.scoped(listenUntilLost).pipe(
    Effect.tapError((error) =>
      Effect.andThen(Effect.logWarning("can't listen for events", error), Deferred.succeed(attempted, undefined))
    ),
    Effect.retry(reconnect),
    Effect.andThen(Effect.logWarning("no longer listening for events: connecting again"))
  )
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(listen, Effect.sleep("100 millis"))))
  yield* Deferred.await(attempted)

  return {
    announce: (tenantIds) => {
      const payloads: Array<string> = []
      for (let start = 0; start < tenantIds.length; start += TENANTS_PER_PAYLOAD) {
        payloads.push(tenantIds.slice(start, start + TENANTS_PER_PAYLOAD).join(","))
      }
      return payloads.length === 0
        ? Effect.void
        : sql`select pg_notify(${CHANNEL}, payload) from unnest(${payloads}::text[]) payload`
    },
    subscribe: subscribers.subscribe
  }
})

/** Within this process alone, after the outermost transaction has committed. */
export const makeLocal = (sql: SqlClient.SqlClient): Announcements => {
  const subscribers = new Subscribers()
  return {
    announce: (tenantIds) =>
      tenantIds.length === 0 ? Effect.void : sql.afterCommit(Effect.sync(() => subscribers.wake(tenantIds))),
    subscribe: subscribers.subscribe
  }
}

/** Who in this process waits for which tenant. */
class Subscribers {
  readonly #queues = new Map<TenantId, Set<Queue.Queue<void>>>()

  readonly subscribe = (tenantId: TenantId): Effect.Effect<Queue.Dequeue<void>, never, Scope.Scope> =>
    Effect.acquireRelease(
      Effect.map(Queue.dropping<void>(1), (queue) => {
        const queues = this.#queues.get(tenantId)
        if (queues === undefined) this.#queues.set(tenantId, new Set([queue]))
        else queues.add(queue)
        return queue
      }),
      (queue) => {
        const queues = this.#queues.get(tenantId)
        queues?.delete(queue)
        if (queues?.size === 0) this.#queues.delete(tenantId)
        return Queue.shutdown(queue)
      }
    )

  readonly wake = (tenantIds: ReadonlyArray<TenantId>): void => {
    for (const tenantId of tenantIds) {
      for (const queue of this.#queues.get(tenantId) ?? []) Queue.offerUnsafe(queue, undefined)
    }
  }

  readonly wakeAll = (): void => this.wake([...this.#queues.keys()])
}
