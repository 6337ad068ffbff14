import type { CallRecord, CallStatus } from "../CarrierStore.ts"
import { newSid } from "../twilio/TwilioResource.ts"
import { twilioSignature } from "../twilio/TwilioSignature.ts"
import { readTwiml, TwimlError, type Verb } from "../twiml/Twiml.ts"
import type { CallContext, CallEnding } from "./CallContext.ts"
import type { PersonOnCall } from "./PersonOnCall.ts"
import { type RelayEnd, runRelay } from "./RelaySession.ts"

/** Where a document comes from. */
export type TwimlSource =
  | { readonly _tag: "Given"; readonly twiml: string }
  | {
      readonly _tag: "Asked"
      /** What for, in the journal. */
      readonly purpose: string
      readonly url: string
      readonly method: "GET" | "POST"
      /** Fields beside those of every request about a call. */
      readonly fields?: Readonly<Record<string, string>>
      /** Asked when the url fails. */
      readonly fallback?: { readonly url: string; readonly method: "GET" | "POST" } | undefined
    }

/** What a document sees of a call, and can do to it. */
export interface PlayedCall {
  readonly context: CallContext
  readonly record: CallRecord
  readonly person: PersonOnCall
  readonly isAnswered: boolean
  readonly isOver: boolean
  /** Aborted when what is being played is to be left. */
  readonly signal: AbortSignal
  readonly form: (status?: CallStatus) => Readonly<Record<string, string>>
  readonly note: (event: string, details: Readonly<Record<string, unknown>>) => void
  readonly answer: () => void
  readonly end: (ending: CallEnding) => void
}

/**
 * Fetches a document and carries it out. Answers the document that comes after it, if its end names one. A document
 * that can't be had or read ends the call.
 */
export const playTwiml = async (call: PlayedCall, source: TwimlSource): Promise<TwimlSource | undefined> => {
  const { signal } = call
  const twiml = await fetchTwiml(call, source, signal)
  if (twiml === undefined) return undefined
  const verbs = readVerbs(call, twiml)
  // Every document but one that rejects has the call answered, an empty one too.
  if (verbs?.length === 0) call.answer()
  const base = source._tag === "Asked" ? source.url : undefined
  for (const verb of verbs ?? []) {
    if (signal.aborted) return undefined
    const next = await perform(call, verb, signal, base)
    if (next !== undefined) return next
  }
  return undefined
}

const fail = (call: PlayedCall, code: number, message: string): undefined => {
  call.end({ by: "carrier", reason: `error ${code}: ${message}` })
}

const fetchTwiml = async (call: PlayedCall, source: TwimlSource, signal: AbortSignal): Promise<string | undefined> => {
  if (source._tag === "Given") return source.twiml
  const { fallback, fields = {}, method, purpose, url } = source
  const ask = (target: { readonly url: string; readonly method: "GET" | "POST" }, more: Record<string, string>) => {
    const { sid: callSid } = call.record
    const form = { ...call.form(), ...fields, ...more }
    return call.context.webhooks.send({ callSid, purpose, url: target.url, method: target.method, form, signal })
  }
  let answer = await ask({ url, method }, {})
  if (answer._tag === "Failed" && fallback !== undefined && !signal.aborted) {
    answer = await ask(fallback, { ErrorCode: String(answer.code), ErrorUrl: url })
  }
  if (signal.aborted) return undefined
  return answer._tag === "Answered" ? answer.body : fail(call, answer.code, `${answer.message} from ${url}`)
}

const readVerbs = (call: PlayedCall, twiml: string): ReadonlyArray<Verb> | undefined => {
  try {
    return readTwiml(twiml)
  } catch (error) {
    if (error instanceof TwimlError) return fail(call, error.code, error.message)
    throw error
  }
}

const perform = async (
  call: PlayedCall,
  verb: Verb,
  signal: AbortSignal,
  base: string | undefined
): Promise<TwimlSource | undefined> => {
  switch (verb._tag) {
    case "Say":
      call.answer()
      call.person.overhear(verb.text)
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
      call.end({ by: "agent", reason: `the document rejected it as ${verb.reason}`, status })
      return undefined
    }
    case "Connect":
      return connect(call, verb, signal, base)
  }
}

type Connect = Extract<Verb, { readonly _tag: "Connect" }>

const connect = async (
  call: PlayedCall,
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
    opened: () => call.answer(),
    note: (event, details) => call.note(event, details)
  })
  const isElsewhere = signal.aborted && !call.isOver
  if (verb.action === undefined || isElsewhere) return undefined
  const url = base === undefined || URL.canParse(verb.action) ? verb.action : new URL(verb.action, base).href
  const seconds = Math.round((clock.now() - startedAt) / 1_000)
  const fields = { SessionId: sessionId, SessionDuration: String(seconds), ...fieldsOf(end) }
  if (!call.isOver) return { _tag: "Asked", purpose: "action", url, method: verb.method, fields }
  // The call is over: the action is told, and its answer changes nothing.
  const form = { ...call.form(), ...fields }
  await call.context.webhooks.send({ callSid: sid, purpose: "action", url, method: verb.method, form })
  return undefined
}

/**
 * What the action is told of the session's end, by
 * https://www.twilio.com/docs/voice/twiml/connect/conversationrelay and as it was seen on the wire: `completed` where
 * the call ended, `ended` where the application ended the session, `failed` where its socket did.
 */
const fieldsOf = (end: RelayEnd): Readonly<Record<string, string>> => {
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
