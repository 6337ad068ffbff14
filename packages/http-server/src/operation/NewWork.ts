import { RequestDelayed, ServerBusy } from "@agentos/api"
import { Context, Effect, Layer } from "effect"
import { ANSWER_WITHIN } from "./Responses.ts"
import * as SharedDeadline from "./SharedDeadline.ts"

/** Requests without a payment that are worked on at a time. A usual one takes a few milliseconds. */
export const NEW_WORK_AT_ONCE = 256

/**
 * Limits how many requests without a payment are worked on, and how long. While the store is slow, they would fill the queue
 * for its connections, and payments under way, which are not limited here, would wait behind them.
 */
export class NewWork extends Context.Service<
  NewWork,
  {
    /** Runs the work of a request once its body has arrived. Fails at once if too many others are worked on. */
    readonly admit: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E | ServerBusy, R>
    /** The same, and fails if the work takes too long. */
    readonly limit: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E | RequestDelayed | ServerBusy, R>
  }
>()("@agentos/http-server/operation/NewWork") {
  static readonly layer = Layer.effect(
    NewWork,
    Effect.gen(function* () {
      let running = 0
      const withinDeadline = yield* SharedDeadline.make(
        ANSWER_WITHIN,
        Effect.failSync(() => new RequestDelayed())
      )
      const end = Effect.sync(() => void running--)
      const admit = <A, E, R>(work: Effect.Effect<A, E, R>) =>
        Effect.suspend((): Effect.Effect<A, E | ServerBusy, R> => {
          if (running >= NEW_WORK_AT_ONCE) return Effect.fail(new ServerBusy())
          running++
          return Effect.ensuring(work, end)
        })
      return { admit, limit: (work) => admit(withinDeadline(work)) }
    })
  )
}
