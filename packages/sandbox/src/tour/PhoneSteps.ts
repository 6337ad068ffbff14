import { setTimeout as sleep } from "node:timers/promises"
import { expectEqual, ExpectationFailed, within } from "./Expectation.ts"
import type { TourSocket } from "./TourClient.ts"
import { paymentEvidence, type StepResult, type TourContext } from "./TourStep.ts"

interface TourNumber {
  readonly phoneNumberId: string
  readonly number: string
}
interface Transcript {
  readonly complete: boolean
  readonly turns: ReadonlyArray<{ readonly role: "agent" | "caller" | "system"; readonly text: string }>
}
interface CarrierCall {
  readonly state: "ringing" | "in-progress" | "completed" | "rejected"
  readonly heard: ReadonlyArray<string>
}

const areaCode = "415"
/** A fictitious number of a person whom the carrier simulates. */
const callee = "+14155550199"
const greetings = { outbound: "Hello, this is the tour.", inbound: "You have reached the tour." }
const calleeLines = ["Who's there?", "Good to know."]
const callerLine = "I am calling back."
/** The test agent's reply to a line. */
const replyTo = (line: string): string => `You said: ${line}`

const minutesBought = 10
const callMillisMax = 60_000
const transcriptMillisMax = 30_000
const pollMillis = 50

/** Buys a phone number for the test agent, places a call, receives a call, and releases the number. */
export const runPhoneSteps = async (context: TourContext, socket: TourSocket): Promise<void> => {
  const { step } = context
  const number = await step("Buy a phone number", () => buyNumber(context))
  await step("Set up a test callee", () => setUpCallee(context))
  const callId = await step("Place a call", () => placeCall(context, number))
  await step("Receive the end event", () => awaitEnd(socket, callId))
  await step("Read the transcript", () => readTranscript(context, callId))
  await step("Add inbound minutes", () => addMinutes(context, number))
  await step("Receive a call", () => receiveCall(context, socket, number))
  await step("Release the number", () => release(context, number))
}

const buyNumber = async ({ client, priceOf, sandbox }: TourContext): Promise<StepResult<TourNumber>> => {
  const paid = await client.pay<TourNumber & { readonly callbackVerificationSecret: string }>(
    "/api/v1/phone/purchase-us-number-30-days",
    {
      agentName: "Tour",
      agentWebhookUrl: sandbox.agentWebhookUrl,
      areaCode,
      beginMessage: greetings.inbound
    },
    priceOf("phone.number.us.30d"),
    201
  )
  const { callbackVerificationSecret, number } = paid.data
  if (!number.startsWith(`+1${areaCode}`)) throw new ExpectationFailed(`a number with area code ${areaCode}`, number)
  if (callbackVerificationSecret === "") throw new ExpectationFailed("a callback secret", "none")
  return { value: paid.data, evidence: `${number}; ${paymentEvidence(paid)}` }
}

const setUpCallee = async ({ sandbox }: TourContext): Promise<StepResult<void>> => {
  await controlCarrier(sandbox.carrier.url, "/sandbox/people", {
    number: callee,
    behaviour: "answers",
    lines: calleeLines
  })
  return { value: undefined, evidence: `${callee} answers and says ${quoted(calleeLines)}` }
}

const placeCall = async (
  { client, priceOf }: TourContext,
  { phoneNumberId }: TourNumber
): Promise<StepResult<string>> => {
  const paid = await client.pay<{ readonly call: { readonly callId: string; readonly status: string } }>(
    "/api/v1/phone/call-1-minute",
    { phoneNumberId, toNumber: callee, initialGreeting: greetings.outbound },
    priceOf("phone.call.outbound.1m"),
    201
  )
  const { callId } = paid.data.call
  return { value: callId, evidence: `call ${callId}; ${paymentEvidence(paid)}` }
}

/** Waits for the event and acknowledges it, because it would be delivered again otherwise. */
const awaitEnd = async (socket: TourSocket, callId: string): Promise<StepResult<void>> => {
  const { event } = await socket.next(
    "an event.delivery of phone.call.ended",
    ({ event: received }) => received?.type === "phone.call.ended" && received.payload["callId"] === callId
  )
  const { endReason } = event!.payload
  expectEqual("end reason", endReason, "completed")
  socket.send({ type: "event.ack", eventId: event!.eventId })
  return { value: undefined, evidence: `event ${event!.eventId}: ${String(endReason)}` }
}

const readTranscript = async ({ client }: TourContext, callId: string): Promise<StepResult<void>> => {
  const conversation = calleeLines.flatMap((line) => [`caller: ${line}`, `agent: ${replyTo(line)}`])
  const expected = [`agent: ${greetings.outbound}`, ...conversation].join(" / ")
  const deadline = performance.now() + transcriptMillisMax
  for (;;) {
    const { transcript } = await client.get<{ readonly transcript: Transcript }>(
      `/api/v1/phone/calls/${callId}/transcript`
    )
    const actual = transcript.turns.map(({ role, text }) => `${role}: ${text.trim()}`).join(" / ")
    // The last turns of a call are stored shortly after its end.
    if (actual !== expected && performance.now() < deadline) {
      await sleep(pollMillis)
      continue
    }
    expectEqual("turns", actual, expected)
    expectEqual("transcript complete:", transcript.complete, true)
    return { value: undefined, evidence: actual }
  }
}

const addMinutes = async (
  { client, priceOf }: TourContext,
  { phoneNumberId }: TourNumber
): Promise<StepResult<void>> => {
  const paid = await client.pay<{
    readonly phoneNumber: { readonly inboundAllowance: { readonly remainingSeconds: number } }
  }>("/api/v1/phone/add-inbound-minutes-10", { phoneNumberId }, priceOf("phone.call.inbound.add.10m"), 200)
  const { remainingSeconds } = paid.data.phoneNumber.inboundAllowance
  expectEqual("remaining seconds:", remainingSeconds, minutesBought * 60)
  return { value: undefined, evidence: `${remainingSeconds} s; ${paymentEvidence(paid)}` }
}

const receiveCall = async (
  { sandbox }: TourContext,
  socket: TourSocket,
  { number }: TourNumber
): Promise<StepResult<void>> => {
  const { url } = sandbox.carrier
  const { id } = await controlCarrier<{ readonly id: string }>(url, "/sandbox/calls", {
    from: callee,
    to: number,
    lines: [callerLine]
  })
  const { heard, state } = await within(callMillisMax, "the end of the call", untilEnded(url, id))
  expectEqual("call state", state, "completed")
  expectEqual("heard:", quoted(heard), quoted([greetings.inbound, replyTo(callerLine)]))
  const { event } = await socket.next(
    "an event.delivery of phone.call.ended",
    ({ event: received }) => received?.type === "phone.call.ended" && received.payload["toNumber"] === number
  )
  socket.send({ type: "event.ack", eventId: event!.eventId })
  return { value: undefined, evidence: `the caller heard ${quoted(heard)}; event ${event!.eventId}` }
}

const untilEnded = async (url: string, id: string): Promise<CarrierCall> => {
  for (;;) {
    const call = await controlCarrier<CarrierCall>(url, `/sandbox/calls/${id}`)
    if (call.state === "completed" || call.state === "rejected") return call
    await sleep(pollMillis)
  }
}

/** An area code has only 50 numbers, so the tour releases its number. */
const release = async ({ client }: TourContext, { number, phoneNumberId }: TourNumber): Promise<StepResult<void>> => {
  const { phoneNumber } = await client.post<{ readonly phoneNumber: { readonly status: string } }>(
    "/api/v1/phone/release-number",
    { phoneNumberId, confirmRelease: true }
  )
  expectEqual("number status", phoneNumber.status, "released")
  return { value: undefined, evidence: `${number} is released permanently` }
}

const quoted = (texts: ReadonlyArray<string>): string => texts.map((text) => `"${text.trim()}"`).join(", ")

/** Calls the carrier's control API: GET, or POST with a body. */
const controlCarrier = async <Data>(url: string, path: string, body?: object): Promise<Data> => {
  const response = await fetch(url + path, {
    ...(body && { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(callMillisMax)
  })
  const text = await response.text()
  if (!response.ok) throw new ExpectationFailed("success from the carrier", `${response.status} ${text}`)
  return JSON.parse(text) as Data
}
