import type { TenantId, WakeUp } from "@agentos/core"
import { PgConnection } from "@effect/sql-pg"
import { Deferred, Effect, Exit, Queue, Schedule, type Scope } from "effect"
import type { SqlClient } from "effect/sql"
import * as Parameter from "./Parameter.ts"

/** How the word that a tenant has something to deliver reaches whoever waits for it. */
export interface Announcements {
  /** Tells that these tenants have something new, once the transaction of the caller commits and never otherwise. */
  readonly announce: (tenantIds: ReadonlyArray<TenantId>) => Effect.Effect<void>
  /** See `EventSignal`. */
  readonly listen: (wake: (wakeUp: WakeUp) => void) => Effect.Effect<void, never, Scope.Scope>
}

const CHANNEL = "agentos_events"

/** A payload of pg_notify is shorter than 8000 bytes; a tenant's id takes 37 of them. */
const TENANTS_PER_PAYLOAD = 200
/** Tenants that one statement tells of. */
const TENANTS_PER_STATEMENT = 10 * TENANTS_PER_PAYLOAD

/** How long after one attempt to listen another is made: soon at first, and at least every 5 seconds. */
const reconnect = Schedule.jittered(Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("5 seconds")]))
/** What is left to be told when a server stops gets this long. */
const FLUSH_WITHIN = "2 seconds"

/**
 * Through the database, to every server on it, by one connection of each that
 * listens and tells. What is announced while that connection is lost is told
 * when there is one again, and what may have been missed is made up for by
 * waking everybody.
 *
 * Sessions of this process are woken as soon as the transaction has committed.
 * The others are told by a statement of its own after that: a NOTIFY within the
 * transaction would hold a lock, of which the database has one, while the commit
 * goes to disk, so that one commit would wait for the other. It does not wait for
 * a connection of the pool either, for which all may be waiting when there is much to tell.
 * What is to be told while such a statement is under way goes into the next one. A server that
 * dies in between tells nobody; the others find out when they look for themselves.
 *
 * It answers when the first attempt to listen is over. The connection is known to
 * pg_stat_activity by the application's name with `events` after it.
 */
export const makeListening = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  connection: PgConnection.Config
): Effect.fn.Return<Announcements, never, Scope.Scope> {
  const listeners = new Listeners()
  const outbox = new Outbox()
  const attempted = yield* Deferred.make<void>()

  const tell = Effect.fnUntraced(function* (session: PgConnection.PgConnection) {
    const tenantIds = outbox.take(TENANTS_PER_STATEMENT)
    const payloads: Array<string> = []
    for (let start = 0; start < tenantIds.length; start += TENANTS_PER_PAYLOAD) {
      payloads.push(tenantIds.slice(start, start + TENANTS_PER_PAYLOAD).join(","))
    }
    yield* session
      .query("select pg_notify($1, payload) from unnest($2::text[]) payload", [
        Parameter.text(CHANNEL),
        Parameter.texts(payloads)
      ])
      .pipe(Effect.onExit((exit) => Effect.sync(() => outbox.settle(Exit.isSuccess(exit) ? [] : tenantIds))))
  })

  const listenUntilLost = Effect.gen(function* () {
    const session = yield* Effect.flatMap(
      PgConnection.make({ ...connection, applicationName: `${connection.applicationName} events` }),
      ({ pin }) => pin
    )
    const notifications = yield* session.listen(CHANNEL)
    yield* Deferred.succeed(attempted, undefined)
    listeners.wake("everybody")
    const hear = Effect.map(Queue.take(notifications), ({ payload, processId }) => {
      if (processId !== session.processId) listeners.wake(payload.split(","))
    })
    yield* Effect.ignore(
      Effect.raceFirst(Effect.forever(hear), Effect.forever(Effect.andThen(outbox.filled, tell(session))))
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
  yield* Effect.addFinalizer(() => Effect.timeoutOption(outbox.emptied, FLUSH_WITHIN))
  yield* Deferred.await(attempted)

  return {
    announce: (tenantIds) =>
      tenantIds.length === 0
        ? Effect.void
        : sql.afterCommit(
            Effect.sync(() => {
              listeners.wake(tenantIds)
              outbox.add(tenantIds)
            })
          ),
    listen: listeners.listen
  }
})

/** Of which tenants the other servers are still to be told; of each once. */
class Outbox {
  readonly #tenantIds = new Set<TenantId>()
  #isTelling = false
  /** Who waits until there is something in it, and who until there is nothing. */
  #forSome: (() => void) | undefined
  #forNone: (() => void) | undefined

  readonly filled = Effect.callback<void>((resume) => {
    if (this.#tenantIds.size > 0) return resume(Effect.void)
    this.#forSome = () => resume(Effect.void)
  })

  readonly emptied = Effect.callback<void>((resume) => {
    if (this.#tenantIds.size === 0 && !this.#isTelling) return resume(Effect.void)
    this.#forNone = () => resume(Effect.void)
  })

  add(tenantIds: ReadonlyArray<TenantId>): void {
    for (const tenantId of tenantIds) this.#tenantIds.add(tenantId)
    this.#forSome?.()
    this.#forSome = undefined
  }

  /** Takes out up to `limit`, which are to be settled. */
  take(limit: number): ReadonlyArray<TenantId> {
    const taken = [...this.#tenantIds].slice(0, limit)
    for (const tenantId of taken) this.#tenantIds.delete(tenantId)
    this.#isTelling = true
    return taken
  }

  /** What was taken has been told, but for these. */
  settle(untold: ReadonlyArray<TenantId>): void {
    this.#isTelling = false
    if (untold.length > 0) return this.add(untold)
    if (this.#tenantIds.size > 0) return
    this.#forNone?.()
    this.#forNone = undefined
  }
}

/** Within this process alone, after the outermost transaction has committed. */
export const makeLocal = (sql: SqlClient.SqlClient): Announcements => {
  const listeners = new Listeners()
  return {
    announce: (tenantIds) =>
      tenantIds.length === 0 ? Effect.void : sql.afterCommit(Effect.sync(() => listeners.wake(tenantIds))),
    listen: listeners.listen
  }
}

/** Who in this process waits for wake-ups. */
class Listeners {
  readonly #wakes = new Set<(wakeUp: WakeUp) => void>()

  readonly listen = (wake: (wakeUp: WakeUp) => void): Effect.Effect<void, never, Scope.Scope> =>
    Effect.acquireRelease(
      Effect.sync(() => void this.#wakes.add(wake)),
      () => Effect.sync(() => void this.#wakes.delete(wake))
    )

  wake(wakeUp: WakeUp): void {
    for (const wake of this.#wakes) wake(wakeUp)
  }
}
