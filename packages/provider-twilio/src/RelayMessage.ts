import { Option, Schema } from "effect"

/*
 * The messages of ConversationRelay's socket, each a text frame of JSON, by
 * https://www.twilio.com/docs/voice/conversationrelay/websocket-messages. What is not named here is not kept: a message
 * may hold more than the page says, and what it holds more is nobody's business.
 */

/** Largest message that is read. The longest of them carry what was said in one breath. */
export const RELAY_MESSAGE_BYTES_MAX = 64 * 1_024

/** The first message of a session: whose call it is. */
export const RelaySetup = Schema.Struct({
  type: Schema.Literal("setup"),
  sessionId: Schema.String,
  callSid: Schema.String,
  from: Schema.optionalKey(Schema.String),
  to: Schema.optionalKey(Schema.String),
  direction: Schema.optionalKey(Schema.String)
})

/** What the caller said. Only with partial prompts, which are not asked for, is there one that is not the last. */
export const RelayPrompt = Schema.Struct({
  type: Schema.Literal("prompt"),
  voicePrompt: Schema.String,
  lang: Schema.optionalKey(Schema.String),
  last: Schema.optionalKey(Schema.Boolean)
})

/** The caller spoke while something was being spoken: what had been heard of it by then. */
export const RelayInterrupt = Schema.Struct({
  type: Schema.Literal("interrupt"),
  utteranceUntilInterrupt: Schema.String,
  durationUntilInterruptMs: Schema.optionalKey(Schema.Number)
})

/** The caller pressed a key: one of 0 to 9, `*`, `#`, A to D. */
export const RelayDtmf = Schema.Struct({
  type: Schema.Literal("dtmf"),
  digit: Schema.String.check(Schema.isPattern(/^[0-9A-D*#]$/i))
})

/** Something that was sent could not be carried out. */
export const RelayError = Schema.Struct({ type: Schema.Literal("error"), description: Schema.String })

/** What Twilio sends. */
export const RelayInbound = Schema.Union([RelaySetup, RelayPrompt, RelayInterrupt, RelayDtmf, RelayError])
export type RelayInbound = typeof RelayInbound.Type

/** A piece of what is to be spoken. `last` ends what belongs together. */
export const RelayText = Schema.Struct({
  type: Schema.Literal("text"),
  token: Schema.String,
  last: Schema.Boolean,
  lang: Schema.optionalKey(Schema.String)
})

/** Ends the session, not the call: the action URL is asked how to go on. */
export const RelayEndSession = Schema.Struct({
  type: Schema.Literal("end"),
  /** Repeated to the action URL. */
  handoffData: Schema.optionalKey(Schema.String)
})

/** What this service sends. */
export const RelayOutbound = Schema.Union([RelayText, RelayEndSession])
export type RelayOutbound = typeof RelayOutbound.Type

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(RelayInbound))
const encode = Schema.encodeSync(Schema.fromJsonString(RelayOutbound))

/** A message of Twilio's. None for one of another type, which is to be passed over, or too large. */
export const readRelayMessage = (frame: string): Option.Option<RelayInbound> =>
  Buffer.byteLength(frame) > RELAY_MESSAGE_BYTES_MAX ? Option.none() : decode(frame)

/** The frame of a message to Twilio. */
export const writeRelayMessage = (message: RelayOutbound): string => encode(message)
