import type { ArrivingCall, CallProgress, Timestamp } from "@agentos/core"
import { Option, Schema } from "effect"
import { callReportOf } from "./CallReportOf.ts"

/** Somebody whom we called has answered. */
export interface AnsweredCall {
  readonly providerCallId: string
}

/** What a status callback tells of a call. */
export interface CallNews {
  readonly providerCallId: string
  /** None where it says nothing new. */
  readonly report: Option.Option<CallProgress.CallReport>
}

/** What became of a call's relay. */
export interface RelayEnd {
  readonly providerCallId: string
  /**
   * `Broken`: the socket failed, and the call may go on with another. `Ended`: this service ended the session, and the
   * call is to end too. `Over`: the call itself has ended.
   */
  readonly outcome: "Broken" | "Ended" | "Over"
  /** Twilio's code of what broke it (https://www.twilio.com/docs/api/errors), where it gives one. */
  readonly errorCode: string | null
}

const Sid = Schema.String.check(Schema.isPattern(/^CA[0-9a-fA-F]{32}$/))
/** A number, or what stands for one that is withheld. */
const Party = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(64))
const Word = Schema.String.check(Schema.isMaxLength(32))

/*
 * Of the fields that Twilio sends (https://www.twilio.com/docs/voice/twiml#request-parameters), these are read. All
 * others are dropped unseen, those of recordings first of all.
 */

const VoiceForm = Schema.Struct({ CallSid: Sid, From: Party, To: Party })
const AnswerForm = Schema.Struct({ CallSid: Sid })
const StatusForm = Schema.Struct({
  CallSid: Sid,
  CallStatus: Word,
  CallDuration: Schema.optionalKey(Word)
})
/** https://www.twilio.com/docs/voice/twiml/connect/conversationrelay: the action's fields beside those of every call. */
const ActionForm = Schema.Struct({
  CallSid: Sid,
  CallStatus: Word,
  SessionStatus: Schema.optionalKey(Word),
  ErrorCode: Schema.optionalKey(Word)
})

const reader = <Form>(schema: Schema.Codec<Form, unknown>) => {
  const decode = Schema.decodeUnknownOption(schema)
  return (form: URLSearchParams): Option.Option<Form> => decode(Object.fromEntries(form))
}
const readVoiceForm = reader(VoiceForm)
const readAnswerForm = reader(AnswerForm)
const readStatusForm = reader(StatusForm)
const readActionForm = reader(ActionForm)

/** Who calls whom. None for a form that is no such request. */
export const readVoice = (form: URLSearchParams): Option.Option<ArrivingCall> =>
  Option.map(readVoiceForm(form), ({ CallSid, From, To }) => ({ providerCallId: CallSid, from: From, to: To }))

/** Which call has been answered. None for a form that is no such request. */
export const readAnswer = (form: URLSearchParams): Option.Option<AnsweredCall> =>
  Option.map(readAnswerForm(form), ({ CallSid }) => ({ providerCallId: CallSid }))

/** How a call goes, told of now. Callbacks repeat and overtake each other. None for a form that is no such request. */
export const readStatus = (form: URLSearchParams, now: Timestamp.Timestamp): Option.Option<CallNews> =>
  Option.map(readStatusForm(form), ({ CallDuration, CallSid, CallStatus }) => ({
    providerCallId: CallSid,
    report: Option.fromUndefinedOr(callReportOf({ status: CallStatus, duration: CallDuration }, now))
  }))

/** How a relay's session ended. None for a form that is no such request. */
export const readRelayEnd = (form: URLSearchParams): Option.Option<RelayEnd> =>
  Option.map(readActionForm(form), ({ CallSid, CallStatus, ErrorCode, SessionStatus }) => ({
    providerCallId: CallSid,
    outcome: outcomeOf(CallStatus, SessionStatus),
    errorCode: ErrorCode ?? null
  }))

const outcomeOf = (callStatus: string, sessionStatus: string | undefined): RelayEnd["outcome"] => {
  // A call that still goes on can be gone on with, whatever is said of its session.
  if (callStatus !== "in-progress" || sessionStatus === "completed") return "Over"
  return sessionStatus === "ended" ? "Ended" : "Broken"
}
