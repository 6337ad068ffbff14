import { Option, Schema } from "effect"

/*
 * The messages of ConversationRelay's socket, each a text frame of JSON, by
 * https://www.twilio.com/docs/voice/conversationrelay/websocket-messages. Only the fields declared here are read, and
 * only these can make a message invalid: Twilio's messages were seen with other fields, and with values of another type.
 */

/** Size limit of a message. The longest messages contain the text of one utterance. */
export const RELAY_MESSAGE_BYTES_MAX = 64 * 1_024

/** The first message of a session, which identifies the call. */
export const RelaySetup = Schema.Struct({ type: Schema.Literal("setup"), callSid: Schema.String })

/**
 * The caller's speech as text. Messages whose `last` is false occur only with partial prompts, which are not enabled.
 */
export const RelayPrompt = Schema.Struct({
  type: Schema.Literal("prompt"),
  voicePrompt: Schema.String,
  last: Schema.optionalKey(Schema.Unknown)
})

/** The caller spoke during speech output: contains the text that was heard by then, if any was. */
export const RelayInterrupt = Schema.Struct({
  type: Schema.Literal("interrupt"),
  utteranceUntilInterrupt: Schema.optionalKey(Schema.NullOr(Schema.String))
})

/** The caller pressed a key: one of 0 to 9, `*`, `#`, A to D. */
export const RelayDtmf = Schema.Struct({
  type: Schema.Literal("dtmf"),
  digit: Schema.Union([
    Schema.String.check(Schema.isPattern(/^[0-9A-D*#]$/i)),
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 }))
  ])
})

/** Twilio could not process a message. */
export const RelayError = Schema.Struct({
  type: Schema.Literal("error"),
  description: Schema.optionalKey(Schema.Unknown)
})

/** The messages that Twilio sends. */
export const RelayInbound = Schema.Union([RelaySetup, RelayPrompt, RelayInterrupt, RelayDtmf, RelayError])
export type RelayInbound = typeof RelayInbound.Type

/** A piece of the text to be spoken. `last` marks the end of an utterance. */
export const RelayText = Schema.Struct({
  type: Schema.Literal("text"),
  token: Schema.String,
  last: Schema.Boolean,
  lang: Schema.optionalKey(Schema.String)
})

/** Presses keys; `w` waits half a second. */
export const RelaySendDigits = Schema.Struct({ type: Schema.Literal("sendDigits"), digits: Schema.String })

/** Ends the session, not the call: Twilio then requests the action URL for the next step. */
export const RelayEndSession = Schema.Struct({
  type: Schema.Literal("end"),
  /** Passed on to the action URL. */
  handoffData: Schema.optionalKey(Schema.String)
})

/** The messages that this service sends. */
export const RelayOutbound = Schema.Union([RelayText, RelaySendDigits, RelayEndSession])
export type RelayOutbound = typeof RelayOutbound.Type

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(RelayInbound))
const encode = Schema.encodeSync(Schema.fromJsonString(RelayOutbound))

/** Decodes a message of Twilio. None if it has another type, and is to be ignored, or is too large. */
export const readRelayMessage = (frame: string): Option.Option<RelayInbound> =>
  Buffer.byteLength(frame) > RELAY_MESSAGE_BYTES_MAX ? Option.none() : decode(frame)

/** Encodes a message to Twilio as a frame. */
export const writeRelayMessage = (message: RelayOutbound): string => encode(message)
