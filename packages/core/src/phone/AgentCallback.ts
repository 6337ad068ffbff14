import { Context, Effect, Schema, Stream } from "effect"
import type { Redacted } from "effect"
import { IsoTimestamp, type Timestamp, toIso } from "../kernel/Timestamp.ts"
import { Uuid } from "../kernel/Uuid.ts"
import { CallDirection } from "./Call.ts"
import { callerOf, fromWithheld } from "./CallerId.ts"
import { type Turn, TurnRecord } from "./Transcript.ts"

/** The maximum number of previous turns that an agent receives with each message. */
export const CONTEXT_TURNS = 20

/** A turn of the caller, sent to the agent behind the number. */
export interface AgentMessage {
  readonly callId: string
  readonly phoneNumberId: string
  readonly direction: CallDirection
  /** Of an inbound call, in the form of `storedCaller`. */
  readonly from: string
  readonly to: string
  readonly turn: { readonly text: string; readonly at: Timestamp }
  /** The turns before this one, oldest first: the last `CONTEXT_TURNS` at most. */
  readonly transcriptSoFar: ReadonlyArray<Turn>
}

/** The turn to answer and those before it, as a webhook or a session of an agent receives them. */
export const TURN_FIELDS = {
  turn: Schema.Struct({
    text: Schema.String.annotateKey({ description: "What the person said. Pressed keys are `[pressed 12#]`." }),
    at: IsoTimestamp.annotateKey({ description: "When the person said it." })
  }).annotateKey({ description: "The turn to answer." }),
  transcriptSoFar: Schema.Array(TurnRecord).annotateKey({
    description: `The turns before this one, oldest first: the last ${CONTEXT_TURNS} at most.`
  })
}

/** The parties of a call, as a webhook or a session of an agent receives them. */
export const PARTY_FIELDS = {
  from: Schema.NullOr(Schema.String).annotateKey({
    description:
      "Number that calls, in E.164 format, or an address such as sip:alice@example.com; null if the caller's number is withheld."
  }),
  fromWithheld,
  to: Schema.String.annotateKey({ description: "Number that is called, in E.164 format." })
}

/** Returns the parties of a call for `PARTY_FIELDS`. */
export const partiesOf = ({ direction, from: fromNumber, to }: Pick<AgentMessage, "direction" | "from" | "to">) => {
  const { from, withheld } = callerOf({ direction, fromNumber })
  return { from, fromWithheld: withheld, to }
}

/** A turn of the caller as the webhook of an agent receives it. */
export const AgentMessageRecord = Schema.Struct({
  type: Schema.Literal("agent.message").annotateKey({ description: "Always agent.message." }),
  callId: Uuid.annotateKey({ description: "Id of the call." }),
  phoneNumberId: Uuid.annotateKey({ description: "Id of your number in the call." }),
  direction: CallDirection.annotateKey({
    description: "inbound: a person called your number. outbound: you placed the call."
  }),
  ...PARTY_FIELDS,
  ...TURN_FIELDS
}).annotate({
  identifier: "AgentMessage",
  description: `What the person on the line said, with up to ${CONTEXT_TURNS} turns before it, oldest first.`
})
export type AgentMessageRecord = typeof AgentMessageRecord.Type

export const toAgentMessageRecord = (message: AgentMessage): AgentMessageRecord => ({
  type: "agent.message",
  callId: message.callId,
  phoneNumberId: message.phoneNumberId,
  direction: message.direction,
  ...partiesOf(message),
  turn: { text: message.turn.text, at: toIso(message.turn.at) },
  transcriptSoFar: message.transcriptSoFar
    .slice(-CONTEXT_TURNS)
    .map(({ at, role, text }) => ({ role, text, at: toIso(at) }))
})

const DIGITS_MAX = 64

/** Keys of a telephone that an agent presses; `w` waits half a second. */
export const Digits = Schema.String.check(
  Schema.isMaxLength(DIGITS_MAX),
  Schema.isPattern(/^[0-9*#w]+$/u, { expected: "keys of a telephone: 0 to 9, *, # and w for a pause" })
)

/** How long a person may be silent after an answer until the agent is asked again. */
export const SilenceSeconds = Schema.Int.check(Schema.isBetween({ minimum: 2, maximum: 60 }))

/** The answer of an agent's webhook: one object, or one on each line. */
export const AgentReplyRecord = Schema.Struct({
  text: Schema.optionalKey(Schema.String).annotateKey({ description: "Text to speak. An empty one is silent." }),
  digits: Schema.optionalKey(Digits).annotateKey({
    description: "Keys to press after the text, for a menu at the other end. `w` waits half a second."
  }),
  hangup: Schema.optionalKey(Schema.Boolean).annotateKey({
    description: "Whether the call ends after the text and the keys. Default: false."
  }),
  silenceSeconds: Schema.optionalKey(SilenceSeconds).annotateKey({
    description:
      "Asks you again, with the turn `[silence]`, if the person says nothing for this long after the answer. After three such turns in a row, the next silence ends the call. Default: silence is no turn."
  })
}).annotate({
  identifier: "AgentReply",
  description: "The text to speak, the keys to press, and whether to end the call after them. At least one of them."
})

/** The webhook URL of an agent and the secret that signs the messages to it. */
export interface AgentAddress {
  readonly url: string
  readonly secret: Redacted.Redacted<string>
}

/**
 * Whether a URL is a placeholder for an agent that answers over its socket only: a host under `.invalid`, which never
 * resolves (RFC 2606, section 2). It is never contacted.
 */
export const isPlaceholder = (url: string): boolean =>
  URL.canParse(url) && /(?:^|\.)invalid\.?$/u.test(new URL(url).hostname)

/** A part of an agent's answer: text to speak, keys to press, or the instruction to end the call after the parts before it. */
export type AgentReply =
  | { readonly _tag: "Say"; readonly text: string }
  | { readonly _tag: "Press"; readonly digits: string }
  | { readonly _tag: "HangUp" }
  /** Asks again if the person is silent for this long after the answer. */
  | { readonly _tag: "AwaitSpeech"; readonly seconds: number }

/** The agent gave no complete, valid answer. `message` explains why and is safe to show to the tenant. */
export class AgentUnreachable extends Schema.TaggedError<AgentUnreachable>()("AgentUnreachable", {
  reason: Schema.Literals(["address", "connection", "timeout", "status", "answer"]),
  message: Schema.String
}) {}

/** The port that calls the webhooks of agents. */
export class AgentCallback extends Context.Service<
  AgentCallback,
  {
    /**
     * Returns why a URL is not a valid agent webhook, or undefined if it is valid: it must use https, and its host name
     * must resolve to public addresses at this moment.
     */
    readonly refusal: (url: string) => Effect.Effect<string | undefined>
    /**
     * Posts a message once and streams the parts of the answer as they arrive. Never retries. The first byte must
     * arrive within 5 s, and the whole answer within 30 s and 64 KiB. Redirects are not followed, and the address is
     * checked again on the connection itself.
     */
    readonly ask: (address: AgentAddress, message: AgentMessage) => Stream.Stream<AgentReply, AgentUnreachable>
  }
>()("@agentos/core/phone/AgentCallback") {}
