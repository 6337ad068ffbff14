import type { TenantId, WakeUp } from "@agentos/core"
import { PgConnection } from "@effect/sql-pg"
import { Deferred, Effect, Exit, Queue, Schedule, type Scope } from "effect"
import type { SqlClient } from "effect/sql"
import * as Parameter from "./Parameter.ts"

/** Notifies the sessions that wait for a tenant's events that the tenant has something to deliver. */
export interface Announcements {
  /** Announces new events of these tenants once the caller's transaction commits, and never if it does not. */
  readonly announce: (tenantIds: ReadonlyArray<TenantId>) => Effect.Effect<void>
  /** See `EventSignal`. */
  readonly listen: (wake: (wakeUp: WakeUp) => void) => Effect.Effect<void, never, Scope.Scope>
}

const CHANNEL = "agentos_events"

/** The payload of pg_notify must be shorter than 8000 bytes; a tenant id with its comma takes 37. */
const TENANTS_PER_PAYLOAD = 200
/** Limit of tenants that one statement announces. */
const TENANTS_PER_STATEMENT = 10 * TENANTS_PER_PAYLOAD

/** Delay before the next attempt to listen: exponential from 100 ms, at most 5 seconds. */
const reconnect = Schedule.jittered(Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("5 seconds")]))
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
 * application's name followed by `events`.
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
    listeners.wake("all")
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

/** The tenants that still have to be announced to the other servers, each at most once. */
class Outbox {
  readonly #tenantIds = new Set<TenantId>()
  #isTelling = false
  /** Resumes the effects that wait until the outbox is filled, or until it is emptied. */
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

  /** Takes up to `limit` tenants, which must then be settled. */
  take(limit: number): ReadonlyArray<TenantId> {
    const taken = [...this.#tenantIds].slice(0, limit)
    for (const tenantId of taken) this.#tenantIds.delete(tenantId)
    this.#isTelling = true
    return taken
  }

  /** Settles the tenants that were taken: `untold` are added again, all others were announced. */
  settle(untold: ReadonlyArray<TenantId>): void {
    this.#isTelling = false
    if (untold.length > 0) return this.add(untold)
    if (this.#tenantIds.size > 0) return
    this.#forNone?.()
    this.#forNone = undefined
  }
}

/** Makes announcements within this process alone, after the outermost transaction has committed. */
export const makeLocal = (sql: SqlClient.SqlClient): Announcements => {
  const listeners = new Listeners()
  return {
    announce: (tenantIds) =>
      tenantIds.length === 0 ? Effect.void : sql.afterCommit(Effect.sync(() => listeners.wake(tenantIds))),
    listen: listeners.listen
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

  wake(wakeUp: WakeUp): void {
    for (const wake of this.#wakes) wake(wakeUp)
  }
}
