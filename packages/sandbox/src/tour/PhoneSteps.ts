import { setTimeout as sleep } from "node:timers/promises"
import { expectEqual, Unexpected, within } from "./Expectation.ts"
import type { TourSocket } from "./TourSocket.ts"
import { type Outcome, paymentProof, type Visit } from "./TourStep.ts"

interface TourNumber {
  readonly phoneNumberId: string
  readonly number: string
}
interface Transcript {
  readonly complete: boolean
  readonly turns: ReadonlyArray<{ readonly role: "agent" | "caller" | "system"; readonly text: string }>
}
/** How a call went for the person in it, as the carrier tells. */
interface Play {
  readonly state: "ringing" | "in-progress" | "completed" | "rejected"
  readonly heard: ReadonlyArray<string>
}

const areaCode = "415"
/** Of those whose numbers nobody can have: she is played by the carrier. */
const person = "+14155550199"
const greetings = { whenCalling: "Hello, this is the tour.", whenCalled: "You have reached the tour." }
const lines = ["Who is there?", "Good to know."]
const callerLine = "I am calling back."
/** What the sandbox's own agent makes of a line. */
const answerTo = (line: string): string => `You said: ${line}`

const minutesBought = 10
const callMillisMax = 15_000
const transcriptMillisMax = 5_000
const pollMillis = 50

/** Buys a telephone number with the sandbox's agent behind it, calls somebody, is called, and gives the number back. */
export const takePhoneSteps = async (visit: Visit, socket: TourSocket): Promise<void> => {
  const { step } = visit
  const number = await step("Buy a telephone number", () => buyNumber(visit))
  await step("Have somebody to call", () => placePerson(visit))
  const callId = await step("Call her", () => callPerson(visit, number))
  await step("Be told that it is over", () => awaitEnd(socket, callId))
  await step("Read the transcript", () => readTranscript(visit, callId))
  await step("Add inbound minutes", () => addMinutes(visit, number))
  await step("Be called", () => receiveCall(visit, socket, number))
  await step("Give the number back", () => release(visit, number))
}

const buyNumber = async ({ client, priceOf, sandbox }: Visit): Promise<Outcome<TourNumber>> => {
  const paid = await client.pay<TourNumber & { readonly callbackVerificationSecret: string }>(
    "/api/v1/phone/purchase-us-number-30-days",
    {
      agentName: "Tour",
      agentWebhookUrl: sandbox.agentWebhookUrl,
      areaCode,
      beginMessage: greetings.whenCalled
    },
    priceOf("phone.number.us.30d"),
    201
  )
  const { callbackVerificationSecret, number } = paid.data
  if (!number.startsWith(`+1${areaCode}`)) throw new Unexpected(`a number of area code ${areaCode}`, number)
  if (callbackVerificationSecret === "") throw new Unexpected("a secret for callbacks", "none")
  return { value: paid.data, proof: `${number}; ${paymentProof(paid)}` }
}

const placePerson = async ({ sandbox }: Visit): Promise<Outcome<void>> => {
  await askCarrier(sandbox.carrier.url, "/sandbox/people", { number: person, behaviour: "answers", lines })
  return { value: undefined, proof: `${person} answers, and says ${quoted(lines)}` }
}

const callPerson = async ({ client, priceOf }: Visit, { phoneNumberId }: TourNumber): Promise<Outcome<string>> => {
  const paid = await client.pay<{ readonly call: { readonly callId: string; readonly status: string } }>(
    "/api/v1/phone/call-1-minute",
    { phoneNumberId, toNumber: person, initialGreeting: greetings.whenCalling },
    priceOf("phone.call.outbound.1m"),
    201
  )
  const { callId } = paid.data.call
  return { value: callId, proof: `call ${callId}; ${paymentProof(paid)}` }
}

/** An agent that has handled an event acknowledges it, or is told of it again. */
const awaitEnd = async (socket: TourSocket, callId: string): Promise<Outcome<void>> => {
  const { event } = await socket.next(
    "an event.delivery of phone.call.ended",
    ({ event: received }) => received?.type === "phone.call.ended" && received.payload["callId"] === callId
  )
  const { endReason } = event!.payload
  expectEqual("the end", endReason, "completed")
  socket.send({ type: "event.ack", eventId: event!.eventId })
  return { value: undefined, proof: `event ${event!.eventId}: ${String(endReason)}` }
}

const readTranscript = async ({ client }: Visit, callId: string): Promise<Outcome<void>> => {
  const answered = lines.flatMap((line) => [`caller: ${line}`, `agent: ${answerTo(line)}`])
  const expected = [`agent: ${greetings.whenCalling}`, ...answered].join(" / ")
  const deadline = performance.now() + transcriptMillisMax
  for (;;) {
    const { transcript } = await client.get<{ readonly transcript: Transcript }>(
      `/api/v1/phone/calls/${callId}/transcript`
    )
    const seen = transcript.turns.map(({ role, text }) => `${role}: ${text.trim()}`).join(" / ")
    // The last words of a call are written down within a moment of its end.
    if (seen !== expected && performance.now() < deadline) {
      await sleep(pollMillis)
      continue
    }
    expectEqual("the turns", seen, expected)
    expectEqual("a transcript whose completeness is", transcript.complete, true)
    return { value: undefined, proof: seen }
  }
}

const addMinutes = async ({ client, priceOf }: Visit, { phoneNumberId }: TourNumber): Promise<Outcome<void>> => {
  const paid = await client.pay<{
    readonly phoneNumber: { readonly inboundAllowance: { readonly remainingSeconds: number } }
  }>("/api/v1/phone/add-inbound-minutes-10", { phoneNumberId }, priceOf("phone.call.inbound.add.10m"), 200)
  const { remainingSeconds } = paid.data.phoneNumber.inboundAllowance
  expectEqual("an allowance in seconds of", remainingSeconds, minutesBought * 60)
  return { value: undefined, proof: `${remainingSeconds} s; ${paymentProof(paid)}` }
}

const receiveCall = async ({ sandbox }: Visit, socket: TourSocket, { number }: TourNumber): Promise<Outcome<void>> => {
  const { url } = sandbox.carrier
  const { id } = await askCarrier<{ readonly id: string }>(url, "/sandbox/calls", {
    from: person,
    to: number,
    lines: [callerLine]
  })
  const { heard, state } = await within(callMillisMax, "the end of her call", untilOver(url, id))
  expectEqual("her call", state, "completed")
  expectEqual("what she heard:", quoted(heard), quoted([greetings.whenCalled, answerTo(callerLine)]))
  const { event } = await socket.next(
    "an event.delivery of phone.call.ended",
    ({ event: received }) => received?.type === "phone.call.ended" && received.payload["toNumber"] === number
  )
  socket.send({ type: "event.ack", eventId: event!.eventId })
  return { value: undefined, proof: `she heard ${quoted(heard)}; event ${event!.eventId}` }
}

const untilOver = async (url: string, id: string): Promise<Play> => {
  for (;;) {
    const play = await askCarrier<Play>(url, `/sandbox/calls/${id}`)
    if (play.state === "completed" || play.state === "rejected") return play
    await sleep(pollMillis)
  }
}

/** There are fifty numbers in an area code: the tour can be taken more often than that. */
const release = async ({ client }: Visit, { number, phoneNumberId }: TourNumber): Promise<Outcome<void>> => {
  const { phoneNumber } = await client.post<{ readonly phoneNumber: { readonly status: string } }>(
    "/api/v1/phone/release-number",
    { phoneNumberId, confirmRelease: true }
  )
  expectEqual("a number that is", phoneNumber.status, "released")
  return { value: undefined, proof: `${number} is released, for good` }
}

const quoted = (texts: ReadonlyArray<string>): string => texts.map((text) => `"${text.trim()}"`).join(", ")

/** The carrier's own controls: GET, or POST with a body. */
const askCarrier = async <Answer>(url: string, path: string, body?: object): Promise<Answer> => {
  const response = await fetch(url + path, {
    ...(body && { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(callMillisMax)
  })
  const text = await response.text()
  if (!response.ok) throw new Unexpected("a success of the carrier's", `${response.status} ${text}`)
  return JSON.parse(text) as Answer
}
