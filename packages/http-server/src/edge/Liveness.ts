import { Transactor } from "@agentos/core"
import { Clock, Context, Deferred, Duration, Effect, Layer, Schedule } from "effect"

const PROBE_EVERY = Duration.seconds(5)
/** In milliseconds. Each wait in the store has a deadline of its own, of at most 20 s. */
const STALLED_MILLIS = 60_000

/**
 * Whether a restart of this process would help. The store makes progress as long as transactions end, with success or a
 * failure: while the database is down, each fails soon, and a restart would change nothing. One that has not ended for a
 * minute waits for something in this process, such as a connection that was never returned to the pool, and so do all after
 * it.
 */
export class Liveness extends Context.Service<
  Liveness,
  {
    readonly isLive: Effect.Effect<boolean>
    /** Resolves once the store has made no progress for a minute. */
    readonly stalled: Effect.Effect<void>
  }
>()("@agentos/http-server/edge/Liveness") {
  static readonly layer = Layer.effect(
    Liveness,
    Effect.gen(function* () {
      const { transact } = yield* Transactor
      const stalled = yield* Deferred.make<void>()
      let pendingSince: number | undefined

      const probe = Effect.gen(function* () {
        pendingSince = yield* Clock.currentTimeMillis
        yield* Effect.exit(transact(Effect.void))
        pendingSince = undefined
      })
      const isLive = Effect.map(
        Clock.currentTimeMillis,
        (now) => pendingSince === undefined || now - pendingSince < STALLED_MILLIS
      )
      const watch = Effect.gen(function* () {
        if (!(yield* isLive)) yield* Deferred.succeed(stalled, undefined)
      })
      yield* Effect.forkScoped(Effect.repeat(probe, Schedule.spaced(PROBE_EVERY)))
      yield* Effect.forkScoped(Effect.repeat(watch, Schedule.spaced(PROBE_EVERY)))
      return { isLive, stalled: Deferred.await(stalled) }
    })
  )
}
