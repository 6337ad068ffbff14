import { AgentCallback, type AgentMessage, type AgentReply, type AgentUnreachable, Timestamp } from "@agentos/core"
import { Effect, Redacted, Stream } from "effect"
import { AgentCallbackHttps } from "../../../src/webhook/index.ts"

const at = (millis: number) => Timestamp.Timestamp.make(millis)

export const secretText = "cs_v1_0123456789"
export const secret = Redacted.make(secretText)

export const question: AgentMessage = {
  callId: "01890a5d-ac96-774b-bcce-b302099a8057",
  phoneNumberId: "01890a5d-ac96-774b-bcce-b302099a8058",
  direction: "inbound",
  from: "+12125550100",
  to: "+12125550101",
  turn: { text: "Grüß Gott", at: at(1_763_712_345_678) },
  transcriptSoFar: Array.from({ length: 25 }, (_, index) => ({
    index,
    role: index % 2 === 0 ? "agent" : "caller",
    text: `turn ${index}`,
    at: at(1_763_712_300_000 + index)
  }))
}

/** Provides the callback with its own layer, as in a server. */
export const withCallback = <A, E, R>(
  options: AgentCallbackHttps.AgentCallbackOptions,
  use: (callback: AgentCallback["Service"]) => Effect.Effect<A, E, R>
) => Effect.provide(Effect.flatMap(AgentCallback, use), AgentCallbackHttps.layer(options))

/** Returns all replies of an answer, and the error if it failed. */
export const answerOf = (callback: AgentCallback["Service"], url: string) =>
  Effect.suspend(() => {
    const replies: Array<AgentReply> = []
    return callback.ask({ url, secret }, question).pipe(
      Stream.runForEach((reply) => Effect.sync(() => replies.push(reply))),
      Effect.match({
        onFailure: (error): { replies: Array<AgentReply>; error?: AgentUnreachable } => ({ replies, error }),
        onSuccess: (): { replies: Array<AgentReply>; error?: AgentUnreachable } => ({ replies })
      })
    )
  })

export const say = (text: string): AgentReply => ({ _tag: "Say", text })
export const press = (digits: string): AgentReply => ({ _tag: "Press", digits })
export const hangUp: AgentReply = { _tag: "HangUp" }
