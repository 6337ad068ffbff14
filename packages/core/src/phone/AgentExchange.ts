import { Effect, Stream } from "effect"
import { type AgentReply, AgentUnreachable } from "./AgentCallback.ts"

/** An item of an exchange with an agent: the parts of its answer, then exactly one `Answered` or `Unanswered`. */
export type Told =
  | AgentReply
  | { readonly _tag: "Answered" }
  | { readonly _tag: "Unanswered"; readonly why: AgentUnreachable }

/**
 * Asks an agent, and retries once if the first attempt failed before any part of an answer arrived. A failure with the
 * reason `address` is not retried.
 */
export const exchange = (ask: Stream.Stream<AgentReply, AgentUnreachable>): Stream.Stream<Told> =>
  Stream.suspend(() => {
    let isBegun = false
    const once = Stream.tap(ask, () => Effect.sync(() => (isBegun = true)))
    return once.pipe(
      Stream.catch((why) => (isBegun || why.reason === "address" ? Stream.fail(why) : once)),
      Stream.concat(Stream.succeed<Told>({ _tag: "Answered" })),
      Stream.catch((why) => Stream.succeed<Told>({ _tag: "Unanswered", why })),
      Stream.catchCause((cause) =>
        Stream.fromEffect(Effect.as(Effect.logError("an agent could not be asked", cause), FAILED))
      )
    )
  })

const FAILED: Told = {
  _tag: "Unanswered",
  why: new AgentUnreachable({ reason: "connection", message: "The agent could not be asked: this service failed." })
}
