import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/*
 * The messages of ConversationRelay, by https://www.twilio.com/docs/voice/conversationrelay/websocket-messages.
 */

const interruptible = Schema.Union([
  Schema.Boolean,
  Schema.Literals(["none", "dtmf", "speech", "any", "true", "false"])
])

/** A piece of what is to be spoken. `last` (false unless given) ends what belongs together. */
const Text = Schema.Struct({
  type: Schema.Literal("text"),
  token: Schema.String,
  last: Schema.optionalKey(Schema.Boolean),
  lang: Schema.optionalKey(Schema.String),
  interruptible: Schema.optionalKey(interruptible),
  preemptible: Schema.optionalKey(Schema.Boolean)
})

const Play = Schema.Struct({
  type: Schema.Literal("play"),
  source: Schema.NonEmptyString,
  loop: Schema.optionalKey(Schema.Int),
  interruptible: Schema.optionalKey(interruptible),
  preemptible: Schema.optionalKey(Schema.Boolean)
})

const SendDigits = Schema.Struct({
  type: Schema.Literal("sendDigits"),
  digits: Schema.String.check(Schema.isPattern(/^[0-9w#*]+$/))
})

const Language = Schema.Struct({
  type: Schema.Literal("language"),
  ttsLanguage: Schema.optionalKey(Schema.NonEmptyString),
  transcriptionLanguage: Schema.optionalKey(Schema.NonEmptyString)
})

/** Ends the session, not the call: what comes next is the action's to say, which is told the data. */
const End = Schema.Struct({ type: Schema.Literal("end"), handoffData: Schema.optionalKey(Schema.String) })

/** What an application may send. */
export const ApplicationMessage = Schema.Union([Text, Play, SendDigits, Language, End])
export type ApplicationMessage = typeof ApplicationMessage.Type

const decode = Schema.decodeUnknownResult(Schema.fromJsonString(ApplicationMessage), { onExcessProperty: "error" })

/** Undefined for what Twilio answers with error 64107: no JSON, another type, a field too many or of another type. */
export const readApplicationMessage = (text: string): ApplicationMessage | undefined => {
  const message = decode(text)
  return Result.isSuccess(message) ? message.success : undefined
}

/** What the carrier sends. */
export type RelayMessage =
  | SetupMessage
  | { readonly type: "prompt"; readonly voicePrompt: string; readonly lang: string; readonly last: boolean }
  | { readonly type: "dtmf"; readonly digit: string }
  | {
      readonly type: "interrupt"
      readonly utteranceUntilInterrupt: string
      readonly durationUntilInterruptMs: number
    }
  | { readonly type: "error"; readonly description: string }

/**
 * The first message. The documentation's example has these fields; that `callStatus` is RINGING in the first session of
 * an inbound call and IN_PROGRESS in later ones was seen on the wire (github.com/ivy/thicket, docs/reference.md).
 */
export interface SetupMessage {
  readonly type: "setup"
  readonly sessionId: string
  readonly accountSid: string
  readonly parentCallSid: string
  readonly callSid: string
  readonly from: string
  readonly to: string
  readonly forwardedFrom: string
  readonly callType: "PSTN"
  readonly callerName: string
  readonly direction: string
  readonly callStatus: "RINGING" | "IN_PROGRESS"
  readonly customParameters: Readonly<Record<string, string>>
}
