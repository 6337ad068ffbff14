import { type AgentAddress, type AgentMessage, type AgentReply, AgentUnreachable } from "@agentos/core"
import { Cause, Effect, Queue, Stream } from "effect"

/** A question to the agent, with functions that answer it piece by piece. */
export interface Asked {
  readonly url: string
  readonly secret: AgentAddress["secret"]
  readonly message: AgentMessage
  /** Whether the answer is still being read. */
  isHeard: boolean
  readonly say: (text: string) => void
  readonly press: (digits: string) => void
  readonly awaitSpeech: (seconds: number) => void
  readonly hangUp: () => void
  readonly end: () => void
  readonly fail: (reason: AgentUnreachable["reason"]) => void
  /** Fails with a defect of the adapter. */
  readonly die: () => void
}

/** The message of a failure with this reason. */
export const messageOf = (reason: AgentUnreachable["reason"]): string => `The agent failed: ${reason}.`

/** An agent whose answers the test controls. */
export const make = () => {
  const asked: Array<Asked> = []
  const ask = ({ secret, url }: AgentAddress, message: AgentMessage) =>
    Stream.unwrap(
      Effect.map(Queue.unbounded<AgentReply, AgentUnreachable | Cause.Done>(), (queue) => {
        const question: Asked = {
          url,
          secret,
          message,
          isHeard: true,
          say: (text) => Queue.offerUnsafe(queue, { _tag: "Say", text }),
          press: (digits) => Queue.offerUnsafe(queue, { _tag: "Press", digits }),
          awaitSpeech: (seconds) => Queue.offerUnsafe(queue, { _tag: "AwaitSpeech", seconds }),
          hangUp: () => Queue.offerUnsafe(queue, { _tag: "HangUp" }),
          end: () => Queue.endUnsafe(queue),
          die: () => Queue.failCauseUnsafe(queue, Cause.die("the adapter fails")),
          fail: (reason) =>
            Queue.failCauseUnsafe(queue, Cause.fail(new AgentUnreachable({ reason, message: messageOf(reason) })))
        }
        asked.push(question)
        return Stream.ensuring(
          Stream.fromQueue(queue),
          Effect.sync(() => (question.isHeard = false))
        )
      })
    )
  return { asked, ask }
}
