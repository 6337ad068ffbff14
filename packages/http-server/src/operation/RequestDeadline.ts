import { RequestDelayed } from "@agentos/api"
import { Duration, Effect } from "effect"

/** How long the work of a request may take, once its body has arrived. Payments have their own time in the core. */
const ANSWER_WITHIN = Duration.seconds(25)

/** Fails an answer that takes too long, and interrupts it. */
export const withinDeadline = <A, E, R>(answer: Effect.Effect<A, E, R>): Effect.Effect<A, E | RequestDelayed, R> =>
  Effect.timeoutOrElse(answer, { duration: ANSWER_WITHIN, orElse: () => Effect.fail(new RequestDelayed()) })
