import { newSid } from "../api/TwilioResource.ts"
import type { CallClock } from "../CallClock.ts"
import type { CallRecord, CallStatus, CarrierStore, EndedBy } from "../CarrierStore.ts"
import type { RequestLog } from "../RequestLog.ts"
import type { PersonSimulator } from "./PersonSimulator.ts"
import { type RelayEnd, runRelay } from "./RelaySession.ts"
import { readTwiml, TwimlError, type Verb } from "./Twiml.ts"
import { type CallbackDelivery, twilioSignature, type Webhooks } from "./Webhooks.ts"

/** The parts of the carrier that a call uses. */
export interface CallContext {
  readonly accountSid: string
  readonly authToken: string
  readonly clock: CallClock
  readonly store: CarrierStore
  readonly requestLog: RequestLog
  readonly webhooks: Webhooks
  readonly delivery: () => CallbackDelivery
  /** Returns false if time limits do not end calls, so that a test can observe another end. */
  readonly enforcesTimeLimits: () => boolean
}

export interface CallEnding {
  readonly by: EndedBy
  readonly reason: string
  /** By default `completed`, or `failed` for a call that was not answered. */
  readonly status?: CallStatus
  /** The time on the calls' clock; now by default. */
  readonly at?: number
}

interface WebhookTarget {
  readonly url: string
  readonly method: "GET" | "POST"
}

export type TwimlSource =
  | { readonly _tag: "Inline"; readonly twiml: string }
  | {
      readonly _tag: "Remote"
      /** Identifies the request in the log. */
      readonly purpose: string
      readonly url: string
      readonly method: "GET" | "POST"
      /** Fields in addition to those of every webhook. */
      readonly fields?: Readonly<Record<string, string>>
      /** Requested if the URL fails. */
      readonly fallback?: WebhookTarget | undefined
    }

/** The part of a call that a document can read and control. */
export interface PlayableCall {
  readonly context: CallContext
  readonly record: CallRecord
  readonly person: PersonSimulator
  readonly isAnswered: boolean
  readonly isEnded: boolean
  /** Aborted when the document must stop. */
  readonly signal: AbortSignal
  readonly form: (status?: CallStatus) => Readonly<Record<string, string>>
  readonly log: (event: string, details: Readonly<Record<string, unknown>>) => void
  readonly answer: () => void
  readonly end: (ending: CallEnding) => void
}

/**
 * Fetches and plays a document. Returns the following document, if its end names one. A document that cannot be fetched or
 * parsed ends the call.
 */
export const playTwiml = async (call: PlayableCall, source: TwimlSource): Promise<TwimlSource | undefined> => {
  const { signal } = call
  const twiml = await fetchTwiml(call, source, signal)
  if (twiml === undefined) return undefined
  const verbs = parseVerbs(call, twiml)
  // Every document answers the call, also an empty one, unless it rejects the call.
  if (verbs?.length === 0) call.answer()
  const base = source._tag === "Remote" ? source.url : undefined
  for (const verb of verbs ?? []) {
    if (signal.aborted) return undefined
    const next = await playVerb(call, verb, signal, base)
    if (next !== undefined) return next
  }
  return undefined
}

const fail = (call: PlayableCall, code: number, message: string): undefined => {
  call.end({ by: "carrier", reason: `error ${code}: ${message}` })
}

const fetchTwiml = async (
  call: PlayableCall,
  source: TwimlSource,
  signal: AbortSignal
): Promise<string | undefined> => {
  if (source._tag === "Inline") return source.twiml
  const { fallback, fields = {}, method, purpose, url } = source
  const request = (target: WebhookTarget, errorFields: Record<string, string>) => {
    const { sid: callSid } = call.record
    const form = { ...call.form(), ...fields, ...errorFields }
    return call.context.webhooks.send({ callSid, purpose, url: target.url, method: target.method, form, signal })
  }
  let response = await request({ url, method }, {})
  if (response._tag === "Failed" && fallback !== undefined && !signal.aborted) {
    response = await request(fallback, { ErrorCode: String(response.code), ErrorUrl: url })
  }
  if (signal.aborted) return undefined
  return response._tag === "Succeeded" ? response.body : fail(call, response.code, `${response.message} from ${url}`)
}

const parseVerbs = (call: PlayableCall, twiml: string): ReadonlyArray<Verb> | undefined => {
  try {
    return readTwiml(twiml)
  } catch (error) {
    if (error instanceof TwimlError) return fail(call, error.code, error.message)
    throw error
  }
}

const playVerb = async (
  call: PlayableCall,
  verb: Verb,
  signal: AbortSignal,
  base: string | undefined
): Promise<TwimlSource | undefined> => {
  switch (verb._tag) {
    case "Say":
      call.answer()
      call.person.hearAnnouncement(verb.text)
      return undefined
    case "Pause":
      call.answer()
      await call.context.clock.sleep(verb.seconds, signal)
      return undefined
    case "Hangup":
      call.answer()
      call.end({ by: "agent", reason: "the document hung up" })
      return undefined
    case "Reject": {
      const status = call.isAnswered ? "completed" : verb.reason === "busy" ? "busy" : "no-answer"
      call.end({ by: "agent", reason: `the document rejected the call: ${verb.reason}`, status })
      return undefined
    }
    case "Connect":
      return connect(call, verb, signal, base)
  }
}

type Connect = Extract<Verb, { readonly _tag: "Connect" }>

const connect = async (
  call: PlayableCall,
  verb: Connect,
  signal: AbortSignal,
  base: string | undefined
): Promise<TwimlSource | undefined> => {
  const { accountSid, authToken, clock } = call.context
  const { direction, from, sid, to } = call.record
  const sessionId = newSid("VX")
  const startedAt = clock.now()
  const end = await runRelay({
    settings: verb.relay,
    setup: {
      type: "setup",
      sessionId,
      accountSid,
      parentCallSid: "",
      callSid: sid,
      from,
      to,
      forwardedFrom: "",
      callType: "PSTN",
      callerName: "",
      direction,
      callStatus: call.isAnswered ? "IN_PROGRESS" : "RINGING",
      customParameters: verb.relay.parameters
    },
    signature: twilioSignature(authToken, verb.relay.url, {}),
    person: call.person,
    signal,
    onOpen: () => call.answer(),
    log: (event, details) => call.log(event, details)
  })
  const isRedirected = signal.aborted && !call.isEnded
  if (verb.action === undefined || isRedirected) return undefined
  const url = base === undefined || URL.canParse(verb.action) ? verb.action : new URL(verb.action, base).href
  const seconds = Math.round((clock.now() - startedAt) / 1_000)
  const fields = { SessionId: sessionId, SessionDuration: String(seconds), ...endFields(end) }
  if (!call.isEnded) return { _tag: "Remote", purpose: "action", url, method: verb.method, fields }
  // After the end of the call, the action is still requested, and its response is ignored.
  const form = { ...call.form(), ...fields }
  await call.context.webhooks.send({ callSid: sid, purpose: "action", url, method: verb.method, form })
  return undefined
}

/**
 * Returns the action's fields about the end of the session, as documented in
 * https://www.twilio.com/docs/voice/twiml/connect/conversationrelay and observed in real calls: `completed` if the call
 * ended, `ended` if the application ended the session, `failed` if its socket failed.
 */
const endFields = (end: RelayEnd): Readonly<Record<string, string>> => {
  switch (end._tag) {
    case "Left":
      return { SessionStatus: "completed" }
    case "Ended":
      return {
        SessionStatus: "ended",
        ...(end.handoffData === undefined ? {} : { HandoffData: end.handoffData })
      }
    case "Failed":
      return { SessionStatus: "failed", ErrorCode: String(end.code), ErrorMessage: end.message }
  }
}
