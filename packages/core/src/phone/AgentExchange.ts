import { Effect, Stream } from "effect"
import { type AgentReply, AgentUnreachable } from "./AgentCallback.ts"

/** What becomes of a question to an agent: the parts of its answer, and in the end one of the other two. */
export type Told =
  | AgentReply
  | { readonly _tag: "Answered" }
  | { readonly _tag: "Unanswered"; readonly why: AgentUnreachable }

/** Asks an agent, and once more if that failed before anything was answered, unless its address can't be used. */
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
