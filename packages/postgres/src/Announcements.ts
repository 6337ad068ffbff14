import { Batcher, type TenantId, type WakeUp } from "@agentos/core"
import type { PgConnection } from "@effect/sql-pg"
import { Array, Deferred, Effect, FiberSet, Queue, Schedule, type Scope } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { connect, type ConnectionOf } from "./Connecting.ts"
import * as Parameter from "./Parameter.ts"

/**
 * Notifies the sessions that wait for a tenant's events that the tenant has something to deliver, and servers that
 * messages to them wait.
 */
export interface Announcements {
  /** Announces new events of these tenants once the caller's transaction commits, and never if it does not. */
  readonly announce: (tenantIds: ReadonlyArray<TenantId>) => Effect.Effect<void>
  /** See `EventSignal`. */
  readonly listen: (wake: (wakeUp: WakeUp) => void) => Effect.Effect<void, never, Scope.Scope>
  /** Announces messages to these servers once the caller's transaction commits. */
  readonly announceMessages: (serverIds: ReadonlyArray<string>) => Effect.Effect<void>
  /** Calls `wake` when there may be messages to a server, until the scope closes. */
  readonly listenMessages: (serverId: string, wake: () => void) => Effect.Effect<void, never, Scope.Scope>
}

const CHANNEL = "agentos_events"
const MESSAGE_CHANNEL = "agentos_messages"

/** The payload of pg_notify must be shorter than 8000 bytes; a tenant id with its comma takes 37. */
const TENANTS_PER_PAYLOAD = 200
/** Limit of tenants that one statement announces. */
const TENANTS_PER_STATEMENT = 10 * TENANTS_PER_PAYLOAD

/** Delay before the next attempt to listen: exponential from 100 ms, at most 5 seconds. */
const reconnect = Schedule.jittered(Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("5 seconds")]))
/** Delay before the next attempt after a connection was lost. */
const RETRY_INTERVAL = "100 millis"
/** How often a listening connection is asked whether it still works. */
const HEARTBEAT = "10 seconds"
/** Time limit for sending the remaining announcements when a server stops. */
const FLUSH_WITHIN = "2 seconds"

/**
 * Makes announcements that go through the database to every server on it. Each server uses one connection,
 * which both listens and notifies. Announcements made while that connection is lost are sent once it is
 * restored. Notifications that may have been missed are compensated by waking every session.
 *
 * Sessions of this process are woken as soon as the transaction has committed. The others are notified after
 * the commit by a separate statement: a NOTIFY inside the transaction would hold a database-wide lock while the
 * commit is written to disk, so that one commit would wait for the other. That statement does not use the pool
 * either, since under load every connection of the pool may be in use. Announcements made while such a
 * statement runs are sent by the next one. If a server dies in between, its announcements are lost; the others
 * find the events when they poll.
 *
 * Returns when the first attempt to listen has succeeded or failed. In pg_stat_activity, the connection has the
 * application's name followed by `events` and the version, by which servers see each other.
 */
export const makeListening = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  connectionOf: ConnectionOf,
  version: string | undefined
): Effect.fn.Return<Announcements, never, Scope.Scope> {
  const listeners = new Listeners()
  const attempted = yield* Deferred.make<void>()
  let listening = Deferred.makeUnsafe<PgConnection.PgConnection>()

  const messages = new Listeners()
  const notify = (channel: string) => (ids: ReadonlyArray<string>) => {
    const payloads = Array.chunksOf(ids, TENANTS_PER_PAYLOAD).map((some) => some.join(","))
    return Effect.suspend(() => Deferred.await(listening)).pipe(
      Effect.flatMap((session) =>
        session.query("select pg_notify($1, payload) from unnest($2::text[]) payload", [
          Parameter.text(channel),
          Parameter.texts(payloads)
        ])
      ),
      Effect.asVoid,
      Effect.retry(Schedule.spaced(RETRY_INTERVAL))
    )
  }
  const fork = yield* FiberSet.makeRuntime<never, void, never>()
  const outbox = Batcher.make<TenantId, SqlError.SqlError>(
    {
      limit: TENANTS_PER_STATEMENT,
      work: notify(CHANNEL),
      failed: (_, cause) => Effect.logError("announcing events to other servers failed; they poll for them", cause)
    },
    fork
  )
  const messageOutbox = Batcher.make<string, SqlError.SqlError>(
    {
      limit: TENANTS_PER_STATEMENT,
      work: notify(MESSAGE_CHANNEL),
      failed: (_, cause) => Effect.logError("announcing messages to other servers failed", cause)
    },
    fork
  )

  const listenUntilLost = Effect.gen(function* () {
    const session = yield* Effect.flatMap(
      connect(connectionOf({ name: version === undefined ? "events" : `events ${version}` })),
      ({ pin }) => pin
    )
    const notifications = yield* session.listen(CHANNEL)
    const messageNotifications = yield* session.listen(MESSAGE_CHANNEL)
    yield* Deferred.succeed(attempted, undefined)
    listeners.wake("all")
    messages.wake("all")
    yield* Deferred.succeed(listening, session)
    const receive = Effect.map(Queue.take(notifications), ({ payload, processId }) => {
      if (processId !== session.processId) listeners.wake(payload.split(","))
    })
    const receiveMessage = Effect.map(Queue.take(messageNotifications), ({ payload, processId }) => {
      if (processId !== session.processId) messages.wake(payload.split(","))
    })
    // A connection that only listens owes no answer, so that its silence shows only if it is asked.
    const beat = Effect.andThen(Effect.sleep(HEARTBEAT), session.query("select 1", []))
    yield* Effect.ignore(
      Effect.raceAllFirst([Effect.forever(receive), Effect.forever(receiveMessage), Effect.forever(beat)])
    )
    listening = Deferred.makeUnsafe()
  })
  const listen = Effect.scoped(listenUntilLost).pipe(
    Effect.tapError((error) =>
      Effect.andThen(
        Effect.logWarning("listening for events failed; retrying", error),
        Deferred.succeed(attempted, undefined)
      )
    ),
    Effect.retry(reconnect),
    Effect.andThen(Effect.logWarning("the connection that listens for events was lost; reconnecting"))
  )
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(listen, Effect.sleep(RETRY_INTERVAL))))
  yield* Effect.addFinalizer(() => Effect.timeoutOption(outbox.idle, FLUSH_WITHIN))
  yield* Deferred.await(attempted)

  return {
    announce: (tenantIds) =>
      tenantIds.length === 0
        ? Effect.void
        : sql.afterCommit(
            Effect.sync(() => {
              listeners.wake(tenantIds)
              tenantIds.forEach(outbox.offer)
            })
          ),
    listen: listeners.listen,
    announceMessages: (serverIds) =>
      sql.afterCommit(
        Effect.sync(() => {
          messages.wake(serverIds)
          serverIds.forEach(messageOutbox.offer)
        })
      ),
    listenMessages: messages.listenFor
  }
})

/** Makes announcements within this process alone, after the outermost transaction has committed. */
export const makeLocal = (sql: SqlClient.SqlClient): Announcements => {
  const listeners = new Listeners()
  const messages = new Listeners()
  return {
    announce: (tenantIds) =>
      tenantIds.length === 0 ? Effect.void : sql.afterCommit(Effect.sync(() => listeners.wake(tenantIds))),
    listen: listeners.listen,
    announceMessages: (serverIds) => sql.afterCommit(Effect.sync(() => messages.wake(serverIds))),
    listenMessages: messages.listenFor
  }
}

/** The callbacks of this process that wait for wake-ups. */
class Listeners {
  readonly #wakes = new Set<(wakeUp: WakeUp) => void>()

  readonly listen = (wake: (wakeUp: WakeUp) => void): Effect.Effect<void, never, Scope.Scope> =>
    Effect.acquireRelease(
      Effect.sync(() => void this.#wakes.add(wake)),
      () => Effect.sync(() => void this.#wakes.delete(wake))
    )

  /** Calls `wake` for the wake-ups of one id. */
  readonly listenFor = (id: string, wake: () => void): Effect.Effect<void, never, Scope.Scope> =>
    this.listen((wakeUp) => {
      if (wakeUp === "all" || wakeUp.includes(id)) wake()
    })

  wake(wakeUp: WakeUp): void {
    for (const wake of this.#wakes) wake(wakeUp)
  }
}
