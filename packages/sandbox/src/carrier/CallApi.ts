import { callEvents, type StatusCallbackTarget } from "./call/StatusCallbacks.ts"
import { type Exchange, timeLimitSecondsMax } from "./call/Exchange.ts"
import type { LiveCall } from "./call/LiveCall.ts"
import type { Person } from "./call/Person.ts"
import type { TwimlSource } from "./call/TwimlPlayer.ts"
import { type CallRecord, CallStatus, type CarrierStore } from "./CarrierStore.ts"
import { isE164, isPerson } from "./number/Telephone.ts"
import { badParameter, methodNotAllowed, notFound, TwilioError } from "./twilio/TwilioError.ts"
import { checkForm, type TwilioForm } from "./twilio/TwilioForm.ts"
import { pageOf, pageParameters } from "./twilio/TwilioPage.ts"
import { showCall } from "./twilio/TwilioResource.ts"
import { answer, type TwilioAnswer, type TwilioRequest, type WithFaults } from "./TwilioRequest.ts"

/** Calls of the account. */
export interface CallApi {
  readonly calls: (request: TwilioRequest) => Promise<TwilioAnswer>
  readonly one: (request: TwilioRequest, sid: string) => Promise<TwilioAnswer>
}

const documentParameters = ["Url", "Method", "FallbackUrl", "FallbackMethod", "Twiml"]
const callbackParameters = ["StatusCallback", "StatusCallbackMethod"]
const createParameters = [
  "To",
  "From",
  ...documentParameters,
  ...callbackParameters,
  "TimeLimit",
  "Timeout",
  "MachineDetection",
  "MachineDetectionTimeout"
]
const updateParameters = [...documentParameters, ...callbackParameters, "Status", "TimeLimit"]
const momentParameters = ["StartTime", "StartTime<", "StartTime>", "EndTime", "EndTime<", "EndTime>"]

/** The limits of https://www.twilio.com/docs/voice/api/call-resource. */
const timeoutSecondsDefault = 60
const timeoutSecondsMax = 600
const twimlCharactersMax = 4_000
/** Each has a socket and timers. */
const liveCallsMax = 2_000

export const makeCallApi = (
  accountSid: string,
  store: CarrierStore,
  exchange: Exchange,
  faulty: WithFaults
): CallApi => {
  const show = (call: CallRecord) => showCall(accountSid, call)
  const current = (sid: string): CallRecord | undefined => {
    const call = exchange.live(sid)?.record ?? store.calls.get(sid)
    return call?.numberSid === null ? undefined : call
  }

  const create = ({ form: params }: TwilioRequest): Promise<TwilioAnswer> => {
    const form = checkForm(params, createParameters, ["StatusCallbackEvent"])
    const to = form.required("To", new TwilioError(400, 21_201, "No 'To' number is specified"))
    const from = form.required("From", new TwilioError(400, 21_213, "No 'From' number is specified"))
    if (!isE164(to)) throw new TwilioError(400, 21_211, `The 'To' number ${to} is not a valid phone number`)
    if (!isE164(from)) throw new TwilioError(400, 21_212, `The 'From' number ${from} is not a valid phone number`)
    const document = readDocument(form)
    if (document === undefined) throw new TwilioError(400, 21_205, "Url parameter is required, or Twiml")
    const order = {
      to,
      person: personOf(store, to),
      document,
      callback: readCallback(form),
      timeLimitSeconds: form.whole("TimeLimit", 1, timeLimitSecondsMax) ?? timeLimitSecondsMax,
      timeoutSeconds: form.whole("Timeout", 1, timeoutSecondsMax) ?? timeoutSecondsDefault,
      detectMachine: readDetection(form)
    }
    const blocked = new TwilioError(400, 21_216, `This account may not call ${to}`)
    return faulty("call", [to, from], blocked, async () => {
      const number = [...store.numbers.values()].find(({ phoneNumber }) => phoneNumber === from)
      if (number === undefined) throw notOurs(from)
      if (exchange.liveCount() >= liveCallsMax) throw new TwilioError(429, 20_429, "Too many calls at a time")
      return answer(201, show(await exchange.dial({ ...order, number })))
    })
  }

  const list = async ({ path, query }: TwilioRequest): Promise<TwilioAnswer> => {
    const form = checkForm(query, ["To", "From", "Status", ...momentParameters, ...pageParameters])
    const isWanted = callFilter(form)
    const calls = [...store.calls.values()].filter((call) => call.numberSid !== null && isWanted(call)).toReversed()
    return answer(200, pageOf({ key: "calls", path, query, form, resources: calls, show }))
  }

  const update = (call: CallRecord, { form: params }: TwilioRequest): Promise<TwilioAnswer> => {
    const form = checkForm(params, updateParameters)
    if (form.has("Url") && form.has("Twiml")) throw badParameter("Url and Twiml exclude each other")
    const change = {
      document: readDocument(form),
      status: readStatus(form),
      limit: form.whole("TimeLimit", 1, timeLimitSecondsMax),
      callback: readCallback(form)
    }
    const over = new TwilioError(400, 21_220, "Unable to update record. Call is not in-progress.")
    const about = [call.sid, call.to, call.from, `${call.to} ${change.limit}`]
    return faulty("update", about, over, async () => {
      const live = exchange.live(call.sid)
      if (live === undefined || live.isOver) throw over
      if (change.document !== undefined && !live.isAnswered) throw over
      await apply(live, change)
      await store.putCall(live.record)
      return answer(200, show(live.record))
    })
  }

  return {
    calls: async (request) => {
      if (request.method === "POST") return create(request)
      if (request.method === "GET") return list(request)
      throw methodNotAllowed(request.method)
    },
    one: async (request, sid) => {
      const call = current(sid)
      if (call === undefined) throw notFound(request.path)
      if (request.method === "POST") return update(call, request)
      checkForm(request.query, [])
      if (request.method === "GET") return answer(200, show(call))
      throw methodNotAllowed(request.method)
    }
  }
}

const notOurs = (from: string): TwilioError =>
  new TwilioError(
    400,
    21_210,
    `The source phone number provided, ${from}, is not yet verified for your account. You may only make calls from ` +
      "phone numbers that you've verified or purchased from Twilio."
  )

/** Someone who was never told how to behave answers, listens to one thing, and hangs up. */
const personOf = (store: CarrierStore, number: string): Person | undefined =>
  store.people.get(number) ?? (isPerson(number) ? { number, behaviour: "answers", lines: [] } : undefined)

interface CallChange {
  readonly document: TwimlSource | undefined
  readonly status: "completed" | "canceled" | undefined
  readonly limit: number | undefined
  readonly callback: StatusCallbackTarget | undefined
}

const apply = async (live: LiveCall, { callback, document, limit, status }: CallChange): Promise<void> => {
  if (callback !== undefined) live.callbacks.target(callback)
  if (limit !== undefined) live.setTimeLimit(limit)
  // One that only cancels leaves a call alone that is answered.
  const isToEnd = status === "completed" || (status === "canceled" && !live.isAnswered)
  const ending = { by: "agent", reason: `the account set its status to ${status}` } as const
  if (isToEnd) return live.end(live.isAnswered ? ending : { ...ending, status: "canceled" })
  if (document !== undefined) live.redirect(document)
}

const readDocument = (form: TwilioForm): TwimlSource | undefined => {
  const url = form.url("Url", 21_205)
  const twiml = form.text("Twiml")
  const [method, fallbackMethod] = [form.method("Method") ?? "POST", form.method("FallbackMethod") ?? "POST"]
  const fallback = form.url("FallbackUrl", 21_205)
  if (url !== undefined && url !== "") {
    const other = fallback === undefined || fallback === "" ? undefined : { url: fallback, method: fallbackMethod }
    return { _tag: "Asked", purpose: "voice", url, method, fallback: other }
  }
  if (twiml === undefined) return undefined
  if (twiml.length > twimlCharactersMax) throw badParameter(`Twiml is over ${twimlCharactersMax} characters`)
  return { _tag: "Given", twiml }
}

const readCallback = (form: TwilioForm): StatusCallbackTarget | undefined => {
  const url = form.url("StatusCallback", 21_609)
  const method = form.method("StatusCallbackMethod") ?? "POST"
  const wanted = form.all("StatusCallbackEvent")
  const unknown = wanted.filter((event) => !callEvents.some((known) => known === event))
  if (unknown.length > 0) throw badParameter(`Sandbox: no such event: ${unknown.join(", ")}`)
  if (url === undefined || url === "") return undefined
  return { url, method, events: wanted.length === 0 ? ["completed"] : callEvents.filter((e) => wanted.includes(e)) }
}

/** Everybody here is human, and known to be at once. */
const readDetection = (form: TwilioForm): boolean => {
  const detection = form.text("MachineDetection")
  if (detection !== undefined && !["Enable", "DetectMessageEnd"].includes(detection)) {
    throw badParameter("MachineDetection must be Enable or DetectMessageEnd")
  }
  form.whole("MachineDetectionTimeout", 3, 59)
  return detection !== undefined
}

const readStatus = (form: TwilioForm): "completed" | "canceled" | undefined => {
  const status = form.text("Status")
  if (status === undefined || status === "completed" || status === "canceled") return status
  throw badParameter("Status must be completed or canceled")
}

const callFilter = (form: TwilioForm): ((call: CallRecord) => boolean) => {
  const [to, from, status] = [form.text("To"), form.text("From"), form.text("Status")]
  if (status !== undefined && !CallStatus.literals.some((known) => known === status)) {
    throw badParameter(`Status must be one of ${CallStatus.literals.join(", ")}`)
  }
  const isInTime = [momentFilter(form, "StartTime", "startedAt"), momentFilter(form, "EndTime", "endedAt")]
  return (call) =>
    (to === undefined || call.to === to) &&
    (from === undefined || call.from === from) &&
    (status === undefined || call.status === status) &&
    isInTime.every((holds) => holds(call))
}

/**
 * `StartTime>=2009-07-06` is, in a query, the name `StartTime>` and a value: on that day or later. A moment in place
 * of a day is taken too. Calls that have no such moment yet are left out.
 */
const momentFilter = (form: TwilioForm, name: string, key: "startedAt" | "endedAt") => {
  const read = (suffix: "" | "<" | ">") => {
    const text = form.text(`${name}${suffix}`)
    if (text === undefined) return undefined
    const isDay = /^\d{4}-\d\d-\d\d$/.test(text)
    const from = isDay || /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d)$/.test(text) ? Date.parse(text) : Number.NaN
    if (Number.isNaN(from)) throw badParameter(`${name} must be YYYY-MM-DD, or a moment of ISO 8601`)
    return { from, to: isDay ? from + 86_400_000 : from + 1_000 }
  }
  const [on, before, since] = [read(""), read("<"), read(">")]
  return (call: CallRecord): boolean => {
    const moment = call[key]
    if (on === undefined && before === undefined && since === undefined) return true
    if (moment === null) return false
    return (
      (on === undefined || (moment >= on.from && moment < on.to)) &&
      (before === undefined || moment < before.from) &&
      (since === undefined || moment >= since.from)
    )
  }
}
