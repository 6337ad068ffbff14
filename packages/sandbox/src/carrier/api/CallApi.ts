import { type ActiveCalls, timeLimitSecondsMax } from "../call/ActiveCalls.ts"
import type { LiveCall } from "../call/LiveCall.ts"
import type { Person } from "../call/Person.ts"
import type { TwimlSource } from "../call/TwimlPlayer.ts"
import { callEvents, type MachineDetection, type StatusCallbackTarget } from "../call/Webhooks.ts"
import { type CallRecord, CallStatus, type CarrierStore } from "../CarrierStore.ts"
import { isE164, isPersonNumber } from "../PhoneNumbers.ts"
import {
  badParameter,
  checkForm,
  methodNotAllowed,
  notFound,
  respond,
  type RunWithFaults,
  TwilioError,
  type TwilioForm,
  type TwilioRequest,
  type TwilioResponse
} from "./TwilioRequest.ts"
import { pageParameters, toCallResource, toPage } from "./TwilioResource.ts"

export type CallApi = ReturnType<typeof makeCallApi>

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
  "MachineDetectionTimeout",
  "AsyncAmd",
  "AsyncAmdStatusCallback",
  "AsyncAmdStatusCallbackMethod"
]
const updateParameters = [...documentParameters, ...callbackParameters, "Status", "TimeLimit"]
const timeParameters = ["StartTime", "StartTime<", "StartTime>", "EndTime", "EndTime<", "EndTime>"]

/** The limits of https://www.twilio.com/docs/voice/api/call-resource. */
const timeoutSecondsDefault = 60
const timeoutSecondsMax = 600
const twimlCharactersMax = 4_000
/** Bounds sockets and timers. */
const activeCallsMax = 2_000

export const makeCallApi = (
  accountSid: string,
  store: CarrierStore,
  activeCalls: ActiveCalls,
  runWithFaults: RunWithFaults
) => {
  const toItem = (call: CallRecord) => toCallResource(accountSid, call)
  const find = (sid: string): CallRecord | undefined => {
    const call = activeCalls.find(sid)?.record ?? store.calls.get(sid)
    return call?.numberSid === null ? undefined : call
  }

  const create = ({ form: params }: TwilioRequest): Promise<TwilioResponse> => {
    const form = checkForm(params, createParameters, ["StatusCallbackEvent"])
    const to = form.required("To", new TwilioError(400, 21_201, "No 'To' number is specified"))
    const from = form.required("From", new TwilioError(400, 21_213, "No 'From' number is specified"))
    if (!isE164(to)) throw new TwilioError(400, 21_211, `The 'To' number ${to} is not a valid phone number`)
    if (!isE164(from)) throw new TwilioError(400, 21_212, `The 'From' number ${from} is not a valid phone number`)
    const document = readDocument(form)
    if (document === undefined) throw new TwilioError(400, 21_205, "Url or Twiml parameter is required")
    const order = {
      to,
      person: personOf(store, to),
      document,
      callback: readCallback(form),
      timeLimitSeconds: form.integer("TimeLimit", 1, timeLimitSecondsMax) ?? timeLimitSecondsMax,
      timeoutSeconds: form.integer("Timeout", 1, timeoutSecondsMax) ?? timeoutSecondsDefault,
      detection: readDetection(form)
    }
    const blocked = new TwilioError(400, 21_216, `This account may not call ${to}`)
    return runWithFaults("call", [to, from], blocked, async () => {
      const number = [...store.numbers.values()].find(({ phoneNumber }) => phoneNumber === from)
      if (number === undefined) throw notOwned(from)
      if (activeCalls.count() >= activeCallsMax) throw new TwilioError(429, 20_429, "Too many concurrent calls")
      return respond(201, toItem(await activeCalls.placeCall({ ...order, number })))
    })
  }

  const listCalls = async ({ path, query }: TwilioRequest): Promise<TwilioResponse> => {
    const form = checkForm(query, ["To", "From", "Status", ...timeParameters, ...pageParameters])
    const matches = callFilter(form)
    const calls = [...store.calls.values()].filter((call) => call.numberSid !== null && matches(call)).toReversed()
    return respond(200, toPage({ key: "calls", path, query, form, resources: calls, toItem }))
  }

  const update = (call: CallRecord, { form: params }: TwilioRequest): Promise<TwilioResponse> => {
    const form = checkForm(params, updateParameters)
    if (form.has("Url") && form.has("Twiml")) throw badParameter("Url and Twiml are mutually exclusive")
    const change = {
      document: readDocument(form),
      status: readStatus(form),
      limit: form.integer("TimeLimit", 1, timeLimitSecondsMax),
      callback: readCallback(form)
    }
    const ended = new TwilioError(400, 21_220, "Unable to update record. Call is not in-progress.")
    const subjects = [call.sid, call.to, call.from, `${call.to} ${change.limit}`]
    return runWithFaults("update", subjects, ended, async () => {
      const live = activeCalls.find(call.sid)
      if (live === undefined || live.isEnded) throw ended
      if (change.document !== undefined && !live.isAnswered) throw ended
      await apply(live, change)
      await store.putCall(live.record)
      return respond(200, toItem(live.record))
    })
  }

  return {
    list: async (request: TwilioRequest): Promise<TwilioResponse> => {
      if (request.method === "POST") return create(request)
      if (request.method === "GET") return listCalls(request)
      throw methodNotAllowed(request.method)
    },
    instance: async (request: TwilioRequest, sid: string): Promise<TwilioResponse> => {
      const call = find(sid)
      if (call === undefined) throw notFound(request.path)
      if (request.method === "POST") return update(call, request)
      checkForm(request.query, [])
      if (request.method === "GET") return respond(200, toItem(call))
      throw methodNotAllowed(request.method)
    }
  }
}

const notOwned = (from: string): TwilioError =>
  new TwilioError(
    400,
    21_210,
    `The source phone number provided, ${from}, is not yet verified for your account. You may only make calls from ` +
      "phone numbers that you've verified or purchased from Twilio."
  )

/** By default a person answers, listens to one utterance and hangs up. */
const personOf = (store: CarrierStore, number: string): Person | undefined =>
  store.people.get(number) ?? (isPersonNumber(number) ? { number, behaviour: "answers", lines: [] } : undefined)

interface CallChange {
  readonly document: TwimlSource | undefined
  readonly status: "completed" | "canceled" | undefined
  readonly limit: number | undefined
  readonly callback: StatusCallbackTarget | undefined
}

const apply = async (live: LiveCall, { callback, document, limit, status }: CallChange): Promise<void> => {
  if (callback !== undefined) live.callbacks.setTarget(callback)
  if (limit !== undefined) live.setTimeLimit(limit)
  // `canceled` does not end an answered call.
  const shouldEnd = status === "completed" || (status === "canceled" && !live.isAnswered)
  const ending = { by: "agent", reason: `the account set the status to ${status}` } as const
  if (shouldEnd) return live.end(live.isAnswered ? ending : { ...ending, status: "canceled" })
  if (document !== undefined) live.redirect(document)
}

const readDocument = (form: TwilioForm): TwimlSource | undefined => {
  const url = form.url("Url", 21_205)
  const twiml = form.text("Twiml")
  const [method, fallbackMethod] = [form.method("Method") ?? "POST", form.method("FallbackMethod") ?? "POST"]
  const fallback = form.url("FallbackUrl", 21_205)
  if (url !== undefined && url !== "") {
    const fallbackRequest =
      fallback === undefined || fallback === "" ? undefined : { url: fallback, method: fallbackMethod }
    return { _tag: "Remote", purpose: "voice", url, method, fallback: fallbackRequest }
  }
  if (twiml === undefined) return undefined
  if (twiml.length > twimlCharactersMax) throw badParameter(`Twiml is longer than ${twimlCharactersMax} characters`)
  return { _tag: "Inline", twiml }
}

const readCallback = (form: TwilioForm): StatusCallbackTarget | undefined => {
  const url = form.url("StatusCallback", 21_609)
  const method = form.method("StatusCallbackMethod") ?? "POST"
  const events = form.all("StatusCallbackEvent")
  const unknown = events.filter((event) => !callEvents.some((known) => known === event))
  if (unknown.length > 0) throw badParameter(`Sandbox: unknown StatusCallbackEvent: ${unknown.join(", ")}`)
  if (url === undefined || url === "") return undefined
  return {
    url,
    method,
    events: events.length === 0 ? ["completed"] : callEvents.filter((event) => events.includes(event))
  }
}

/** Detection has no delay: the calls of a test are short. */
const readDetection = (form: TwilioForm): MachineDetection | undefined => {
  const detection = form.text("MachineDetection")
  if (detection !== undefined && !["Enable", "DetectMessageEnd"].includes(detection)) {
    throw badParameter("MachineDetection must be Enable or DetectMessageEnd")
  }
  form.integer("MachineDetectionTimeout", 3, 59)
  const isAsync = form.text("AsyncAmd")
  if (isAsync !== undefined && !["true", "false"].includes(isAsync))
    throw badParameter("AsyncAmd must be true or false")
  const url = form.url("AsyncAmdStatusCallback", 21_609)
  const method = form.method("AsyncAmdStatusCallbackMethod") ?? "POST"
  if (detection === undefined) return undefined
  return { callback: isAsync !== "true" || url === undefined || url === "" ? undefined : { url, method } }
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
  const timeFilters = [timeFilter(form, "StartTime", "startedAt"), timeFilter(form, "EndTime", "endedAt")]
  return (call) =>
    (to === undefined || call.to === to) &&
    (from === undefined || call.from === from) &&
    (status === undefined || call.status === status) &&
    timeFilters.every((filter) => filter(call))
}

/**
 * `StartTime>=2009-07-06` is parsed as the name `StartTime>` and a value: on that day or later. The value can also be a
 * time. Calls without that time do not match.
 */
const timeFilter = (form: TwilioForm, name: string, key: "startedAt" | "endedAt") => {
  const read = (suffix: "" | "<" | ">") => {
    const text = form.text(`${name}${suffix}`)
    if (text === undefined) return undefined
    const isDay = /^\d{4}-\d\d-\d\d$/.test(text)
    const from = isDay || /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d)$/.test(text) ? Date.parse(text) : Number.NaN
    if (Number.isNaN(from)) throw badParameter(`${name} must be YYYY-MM-DD or an ISO 8601 time`)
    return { from, to: isDay ? from + 86_400_000 : from + 1_000 }
  }
  const [on, before, since] = [read(""), read("<"), read(">")]
  return (call: CallRecord): boolean => {
    const time = call[key]
    if (on === undefined && before === undefined && since === undefined) return true
    if (time === null) return false
    return (
      (on === undefined || (time >= on.from && time < on.to)) &&
      (before === undefined || time < before.from) &&
      (since === undefined || time >= since.from)
    )
  }
}
