import type { InboundCall, CallProgress, Timestamp } from "@agentos/core"
import { Option, Schema } from "effect"
import { answeredByOf, callReportOf } from "./CallReportOf.ts"

/** A call placed by this service was answered. */
export interface AnsweredCall {
  readonly providerCallId: string
}

export interface StatusReport {
  readonly providerCallId: string
  /** None if it contains nothing new. */
  readonly report: Option.Option<CallProgress.CallReport>
}

/** The end of a call's relay session. */
export interface RelayEnd {
  readonly providerCallId: string
  /**
   * `Broken`: the socket failed, and the call may continue with another. `Ended`: this service ended the
   * session, and the call must end too. `Over`: the call itself has ended.
   */
  readonly outcome: "Broken" | "Ended" | "Over"
  /** Twilio's code of the failure (https://www.twilio.com/docs/api/errors), if it reports one. */
  readonly errorCode: string | null
}

const Sid = Schema.String.check(Schema.isPattern(/^CA[0-9a-fA-F]{32}$/))

/*
 * The fields that are read of those that Twilio sends
 * (https://www.twilio.com/docs/voice/twiml#request-parameters). All others are dropped unread, above all those
 * of recordings.
 */

/** `From` is a number, an address, Twilio's placeholder for a withheld number, or missing. */
const VoiceForm = Schema.Struct({ CallSid: Sid, From: Schema.optionalKey(Schema.String), To: Schema.String })
const AnswerForm = Schema.Struct({ CallSid: Sid })
const RecognizedForm = Schema.Struct({ CallSid: Sid, AnsweredBy: Schema.String })
const StatusForm = Schema.Struct({
  CallSid: Sid,
  CallStatus: Schema.String,
  CallDuration: Schema.optionalKey(Schema.String),
  AnsweredBy: Schema.optionalKey(Schema.String)
})
/**
 * https://www.twilio.com/docs/voice/twiml/connect/conversationrelay: the action's fields in addition to those
 * of every call.
 */
const ActionForm = Schema.Struct({
  CallSid: Sid,
  CallStatus: Schema.String,
  SessionStatus: Schema.optionalKey(Schema.String),
  ErrorCode: Schema.optionalKey(Schema.String)
})

const reader = <Form>(schema: Schema.Codec<Form, unknown>) => {
  const decode = Schema.decodeUnknownOption(schema)
  return (form: URLSearchParams): Option.Option<Form> => decode(Object.fromEntries(form))
}
const readVoiceForm = reader(VoiceForm)
const readAnswerForm = reader(AnswerForm)
const readRecognizedForm = reader(RecognizedForm)
const readStatusForm = reader(StatusForm)
const readActionForm = reader(ActionForm)

/** Returns the caller and the called number. None if the form is invalid. */
export const readVoice = (form: URLSearchParams): Option.Option<InboundCall> =>
  Option.map(readVoiceForm(form), ({ CallSid, From = "", To }) => ({ providerCallId: CallSid, from: From, to: To }))

/** Returns the call that was answered. None if the form is invalid. */
export const readAnswer = (form: URLSearchParams): Option.Option<AnsweredCall> =>
  Option.map(readAnswerForm(form), ({ CallSid }) => ({ providerCallId: CallSid }))

/**
 * Returns the state of a call, as reported now. Callbacks may repeat or arrive out of order. None if the form
 * is invalid.
 */
export const readStatus = (form: URLSearchParams, now: Timestamp.Timestamp): Option.Option<StatusReport> =>
  Option.map(readStatusForm(form), ({ AnsweredBy, CallDuration, CallSid, CallStatus }) => ({
    providerCallId: CallSid,
    report: Option.fromUndefinedOr(
      callReportOf({ status: CallStatus, duration: CallDuration, answeredBy: AnsweredBy }, now)
    )
  }))

/** Returns who answered a call. None if the form is invalid. */
export const readRecognized = (form: URLSearchParams): Option.Option<StatusReport> =>
  Option.map(readRecognizedForm(form), ({ AnsweredBy: text, CallSid }) => ({
    providerCallId: CallSid,
    report: Option.map(Option.fromUndefinedOr(answeredByOf(text)), (answeredBy): CallProgress.CallReport => ({
      _tag: "Recognized",
      answeredBy
    }))
  }))

/** Returns how a relay's session ended. None if the form is invalid. */
export const readRelayEnd = (form: URLSearchParams): Option.Option<RelayEnd> =>
  Option.map(readActionForm(form), ({ CallSid, CallStatus, ErrorCode, SessionStatus }) => ({
    providerCallId: CallSid,
    outcome: outcomeOf(CallStatus, SessionStatus),
    errorCode: ErrorCode ?? null
  }))

const outcomeOf = (callStatus: string, sessionStatus: string | undefined): RelayEnd["outcome"] => {
  // Only a call in progress can continue, and only if its session is not reported as completed.
  if (callStatus !== "in-progress" || sessionStatus === "completed") return "Over"
  return sessionStatus === "ended" ? "Ended" : "Broken"
}
