import { Transactor } from "@agentos/core"
import { Context, Deferred, Duration, Effect, Layer, Schedule } from "effect"

const PROBE_EVERY = Duration.seconds(5)
/**
 * A minute, in probes: time in which the whole process was stopped does not count. Each wait in the store has a deadline of its
 * own, of at most 20 s.
 */
const STALLED_PROBES = 12

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
>()("@agentos/http-server/health/Liveness") {
  static readonly layer = Layer.effect(
    Liveness,
    Effect.gen(function* () {
      const { transact } = yield* Transactor
      const stalled = yield* Deferred.make<void>()
      let isPending = false
      let pendingProbes = 0

      const probe = Effect.gen(function* () {
        isPending = true
        yield* Effect.exit(transact(Effect.void))
        isPending = false
      })
      const isLive = Effect.sync(() => pendingProbes <= STALLED_PROBES)
      const watch = Effect.suspend(() => {
        pendingProbes = isPending ? pendingProbes + 1 : 0
        return pendingProbes <= STALLED_PROBES ? Effect.void : Deferred.succeed(stalled, undefined)
      })
      yield* Effect.forkScoped(Effect.repeat(probe, Schedule.spaced(PROBE_EVERY)))
      yield* Effect.forkScoped(Effect.repeat(watch, Schedule.spaced(PROBE_EVERY)))
      return { isLive, stalled: Deferred.await(stalled) }
    })
  )
}
