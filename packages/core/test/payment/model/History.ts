import { Data, Effect, Random } from "effect"
import { TestClock } from "effect/testing"
import { Bookkeeping } from "./Bookkeeping.ts"
import type { History } from "./Command.ts"
import { type Breakage, deploy, watchedLog } from "./Deployment.ts"
import { Ending } from "./Ending.ts"
import { Play } from "./Play.ts"

/** A property of the model was violated. */
export class Violation extends Data.TaggedError("Violation")<{ readonly findings: ReadonlyArray<string> }> {}

/** Number of occurrences of each transition (`settling to settled`) and of each kind of answer. */
export type Tally = ReadonlyMap<string, number>

/** Milliseconds that pass after each command, so that its effects make progress. */
const PACE = 40

/**
 * Plays a history on a new deployment with its own clock, and fails with the first violation. Deterministic: the same
 * history always has the same result.
 */
export const play = ({ commands, ...options }: History, breakage: Breakage = {}): Effect.Effect<Tally, Violation> =>
  Effect.gen(function* () {
    const deployment = yield* deploy(options, breakage)
    const { servers, witness } = deployment
    const whenSound = Effect.suspend(() =>
      witness.findings.length > 0 ? new Violation({ findings: witness.findings }) : Effect.void
    )
    yield* Effect.gen(function* () {
      const bookkeeping = new Bookkeeping(deployment)
      const purchases = new Play(deployment, yield* Effect.scope)
      yield* Effect.forEach(servers, (server) => server.start)
      for (const command of commands) {
        yield* purchases.run(command)
        yield* purchases.readStatuses()
        yield* TestClock.adjust(PACE)
        yield* bookkeeping.check
        yield* whenSound
      }
      yield* new Ending(deployment, purchases, bookkeeping).check()
      yield* whenSound
    }).pipe(Effect.provide(watchedLog(witness)))
    return witness.tally
  }).pipe(Effect.scoped, Effect.provide(TestClock.layer()), Random.withSeed("a history"))
