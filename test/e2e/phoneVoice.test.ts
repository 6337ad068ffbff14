import { createHmac } from "node:crypto"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, afterEach, describe, expect, it } from "vitest"
import {
  ADD_MINUTES,
  type CallFields,
  dataOf,
  EXTEND,
  type NumberFields,
  type PhoneCustomer,
  type Purchase,
  refusalOf
} from "../support/PhoneCustomer.ts"
import { type Behaviour, PhoneCarrier } from "../support/PhoneCarrier.ts"
import { Realtime, type RealtimeMessage } from "../support/Realtime.ts"
import { usePhone } from "../support/usePhone.ts"
import { type Answer, moving, saying, sending, streaming, VoiceAgent } from "../support/VoiceAgent.ts"

let voice: VoiceAgent
let folder: string
const host = usePhone(async () => {
  folder = await mkdtemp(join(tmpdir(), "agentos-voice-"))
  voice = await VoiceAgent.start(folder)
  const allowed = ["--allow-webhook", `127.0.0.1:${voice.port}`, "--allow-webhook-ca", voice.caFile]
  return { arguments: ["--no-tour", ...allowed] }
})
afterEach(() => host.carrier.speed(1))
afterAll(async () => {
  voice.close()
  await rm(folder, { recursive: true, force: true })
})

const APOLOGY = "Sorry, I can't answer that right now. Please try again in a moment."
const PAUSE_MILLIS = 400

/** Calls a person from a number whose agent gives this answer. */
const converse = async (path: string, answer: Answer, behaviour: Behaviour, greeting = "Hello.") => {
  const customer = await host.customer()
  const bought = await customer.buy({ agentWebhookUrl: voice.at(path, answer) })
  const person = await host.carrier.person(behaviour)
  const { callId } = await customer.callOut(bought.phoneNumberId, person, greeting)
  return { customer, bought, person, callId }
}
type Conversation = Awaited<ReturnType<typeof converse>>

const ended = async ({ callId, customer, person }: Conversation) => {
  const call = await callEnded(customer, callId)
  const { turns } = await customer.transcript(callId)
  return { call, turns: turns.map(({ role, text }) => [role, text.trim()]), play: await host.carrier.playTo(person) }
}

const callEnded = (customer: PhoneCustomer, callId: string): Promise<CallFields> =>
  host.carrier.until(
    () => customer.call(callId),
    ({ status }) => status === "ended"
  )

/** Returns the signature of a callback with the secret of a number. */
const signatureOf = ({ callbackVerificationSecret: secret }: Purchase, timestamp: unknown, body: string): string =>
  `v1=${createHmac("sha256", secret)
    .update(`${String(timestamp)}.${body}`)
    .digest("hex")}`

describe("an agent behind a number", () => {
  it("receives each turn with the transcript so far, signed with the secret of its number", async () => {
    const begunAt = Math.floor(Date.now() / 1_000)
    const talk = await converse("/signed", saying({ text: "I see." }), { lines: ["One.", "Two.", { dtmf: "42#" }] })
    const { play, turns } = await ended(talk)
    expect(play.heard).toEqual(["Hello.", "I see.", "I see.", "I see."])
    const { bought, callId, person } = talk
    const callbacks = voice.of("/signed")
    expect(callbacks.map(({ message }) => message.turn.text)).toEqual(["One.", "Two.", "[pressed 42#]"])
    for (const [index, { body, headers, message }] of callbacks.entries()) {
      const timestamp = headers["x-service-timestamp"]
      expect(headers["x-service-signature"]).toBe(signatureOf(bought, timestamp, body))
      expect(Number(timestamp)).toBeGreaterThanOrEqual(begunAt)
      expect(Number(timestamp)).toBeLessThanOrEqual(Date.now() / 1_000)
      expect(headers["content-type"]).toBe("application/json")
      expect(Object.keys(message)).toEqual([
        "type",
        "callId",
        "phoneNumberId",
        "direction",
        "from",
        "fromWithheld",
        "to",
        "turn",
        "transcriptSoFar"
      ])
      expect(message).toMatchObject({
        type: "agent.message",
        callId,
        phoneNumberId: bought.phoneNumberId,
        direction: "outbound",
        from: bought.number,
        fromWithheld: null,
        to: person
      })
      const before = message.transcriptSoFar.map(({ role, text }) => [role, text])
      expect(before).toEqual(turns.slice(0, 1 + 2 * index))
      expect(Date.parse(message.turn.at)).toBeLessThanOrEqual(Date.now())
    }
  })

  it("receives at most the last 20 turns", async () => {
    const lines = Array.from({ length: 12 }, (_, index) => `Line ${index}.`)
    const talk = await converse("/long", saying({ text: "Go on." }), { lines })
    expect((await ended(talk)).turns).toHaveLength(25)
    const last = voice.of("/long").at(-1)!.message
    expect(last.turn.text).toBe("Line 11.")
    expect(last.transcriptSoFar).toHaveLength(20)
    expect(last.transcriptSoFar.at(-1)).toMatchObject({ role: "agent", text: "Go on." })
  })

  it("is heard piece by piece while it streams its answer", async () => {
    const pieces = ["First. ", "Second. ", "Third."]
    const answer = streaming(PAUSE_MILLIS, ...pieces.map((text) => ({ text })))
    const talk = await converse("/stream", answer, { lines: ["Well?"] })
    const heard = new Set<string>()
    await host.carrier.until(
      () => host.carrier.playTo(talk.person),
      (play) => {
        if (play.heard[1] !== undefined) heard.add(play.heard[1])
        return play.state === "completed"
      }
    )
    expect([...heard]).toEqual(["First. ", "First. Second. ", "First. Second. Third."])
    const { call, turns } = await ended(talk)
    expect(turns.at(-1)).toEqual(["agent", "First. Second. Third."])
    expect(call.endReason).toBe("completed")
  })

  it.each([
    ["with a word", "/bye", { text: "Bye.", hangup: true }, ["Hello.", "Bye."]],
    ["without a word", "/off", { hangup: true }, ["Hello."]]
  ] as const)("ends the call %s", async (_name, path, answer, heard) => {
    const talk = await converse(path, saying(answer), { lines: ["Are you there?", "Still?"], seconds: 50 })
    const { call, play } = await ended(talk)
    expect(play).toMatchObject({ heard, state: "completed", endedBy: "agent" })
    expect(call.endReason).toBe("hangup_agent")
    expect(voice.of(path)).toHaveLength(1)
  })

  it("that fails is retried once, and then the caller hears an apology", async () => {
    const failing: Answer = (_message, response) => response.writeHead(503).end()
    const talk = await converse("/failing", failing, { lines: ["Anybody?"] })
    const { call, play, turns } = await ended(talk)
    expect(voice.of("/failing")).toHaveLength(2)
    expect(play.heard).toEqual(["Hello.", APOLOGY])
    expect(turns).toEqual([
      ["agent", "Hello."],
      ["caller", "Anybody?"],
      ["system", expect.stringMatching(/503/)]
    ])
    expect(JSON.stringify(turns)).not.toContain("/failing")
    expect(call.endReason).toBe("completed")
  })

  it.each([
    ["redirects", "/redirect", moving],
    ["sends an invalid answer", "/garbage", sending("<html>")],
    ["sends too much", "/flood", sending(JSON.stringify({ text: "x".repeat(70_000) }))]
  ])("that %s has failed", async (_name, path, answer) => {
    const { play, turns } = await ended(await converse(path, answer, { lines: ["Anybody?"] }))
    expect(play.heard).toEqual(["Hello.", APOLOGY])
    expect(turns.at(-1)![0]).toBe("system")
  })

  it("that is interrupted is in the transcript up to the interruption", async () => {
    const story = "This is a long story that no caller will ever listen to until its very end, which is far away."
    const lines = ["Tell me.", { text: "Stop!", interrupt: true, afterMillis: 500 }]
    const answers = [saying({ text: story }), saying({ text: "Sorry." })]
    const talk = await converse("/story", (message, response) => answers.shift()?.(message, response), { lines })
    const { play, turns } = await ended(talk)
    const heard = play.heard[1]!
    expect(heard.length).toBeGreaterThan(0)
    expect(story.startsWith(heard) && heard.length < story.length).toBe(true)
    expect(turns).toEqual([
      ["agent", "Hello."],
      ["caller", "Tell me."],
      ["agent", heard.trim()],
      ["caller", "Stop!"],
      ["agent", "Sorry."]
    ])
  })

  it("is neither called nor awaited after the caller hangs up", async () => {
    const answer = streaming(PAUSE_MILLIS, { text: "One moment. " }, { text: "Here it is." })
    const talk = await converse("/gone", answer, {
      lines: ["Quick.", { hangup: true, interrupt: true, afterMillis: 50 }]
    })
    const { call, turns } = await ended(talk)
    expect(call.endReason).toBe("completed")
    expect(turns.slice(0, 2)).toEqual([
      ["agent", "Hello."],
      ["caller", "Quick."]
    ])
    expect((await talk.customer.transcript(talk.callId)).complete).toBe(true)
  })
})

/** Waits for the only event of a call from a number and returns the call. */
const inboundOf = async (customer: PhoneCustomer, type: "started" | "ended", from: string): Promise<CallFields> => {
  const events = await host.carrier.until(
    async () => (await customer.events(`phone.call.${type}`)).filter(({ payload }) => payload["fromNumber"] === from),
    ({ length }) => length > 0
  )
  expect(events).toHaveLength(1)
  return customer.call(events[0]!.resourceId)
}

describe("a number that is called", () => {
  const allowance = async (
    customer: PhoneCustomer,
    { phoneNumberId }: Purchase
  ): Promise<NumberFields["inboundAllowance"]> => (await customer.number(phoneNumberId)).inboundAllowance

  it("presses keys after its text, which are a turn of the transcript", async () => {
    const talk = await converse("/menu", saying({ text: "One moment.", digits: "1w23#" }), {
      lines: ["Press a key.", { silence: 1 }]
    })
    const { play, turns } = await ended(talk)
    expect(play.heard).toEqual(["Hello.", "One moment.", "[keys 1w23#]"])
    expect(turns).toEqual([
      ["agent", "Hello."],
      ["caller", "Press a key."],
      ["agent", "One moment."],
      ["agent", "[pressed 1w23#]"]
    ])
  })

  it("has in its transcripts what callers heard, who interrupt at each word", async () => {
    const { carrier } = host
    const customer = await host.customer()
    const story = "We open at nine, and on Sundays we do not open at all, I am afraid."
    const words = story.split(" ")
    const agentWebhookUrl = voice.at("/words", saying({ text: story }))
    const bought = await customer.buy({ agentWebhookUrl, beginMessage: story })
    await customer.addMinutes(bought.phoneNumberId)
    const heardOf = async (count: number): Promise<void> => {
      const part = words.slice(0, count).join(" ")
      // The stand-in hears 50 characters a second.
      const stop = { interrupt: true, afterMillis: part.length * 20 + 10 }
      const lines = [{ text: "Stop!", ...stop }, { text: "Stop it!", ...stop }, { silence: 0 }]
      const from = PhoneCarrier.personNumber()
      const play = await carrier.over(await carrier.callIn(bought.number, { from, lines }))
      expect(play.heard.slice(0, 2)).toEqual([part, part])
      const call = await inboundOf(customer, "ended", from)
      const { turns } = await customer.transcript(call.callId)
      expect(turns.slice(0, 4).map(({ role, text }) => [role, text.trim()])).toEqual([
        ["agent", part],
        ["caller", "Stop!"],
        ["agent", part],
        ["caller", "Stop it!"]
      ])
    }
    await Promise.all(words.slice(1).map((_, index) => heardOf(index)))
  })

  it.each([
    ["anonymous", "anonymous"],
    ["+266696687", "anonymous"],
    ["+12562533", "restricted"],
    ["", "unknown"]
  ])("answers a call from %j, and shows why there is no number", async (from, fromWithheld) => {
    const { carrier } = host
    const customer = await host.customer()
    const path = `/withheld${fromWithheld}${from.length}`
    const bought = await customer.buy({ agentWebhookUrl: voice.at(path, saying({ text: "Gladly." })) })
    await customer.addMinutes(bought.phoneNumberId)
    const play = await carrier.over(await carrier.callIn(bought.number, { from, lines: ["Help me."] }))
    expect(play).toMatchObject({ state: "completed", heard: ["Gladly."] })
    const caller = { fromNumber: null, fromWithheld, toNumber: bought.number }
    const events = await customer.events("phone.call.started")
    expect(events).toMatchObject([{ payload: caller }])
    expect(await customer.call(events[0]!.resourceId)).toMatchObject(caller)
    expect(voice.of(path)[0]!.message).toMatchObject({ from: null, fromWithheld, to: bought.number })
  })

  it("rejects calls without inbound minutes", async () => {
    const customer = await host.customer()
    const bought = await customer.buy({ beginMessage: "Hello?" })
    const play = await host.carrier.over(await host.carrier.callIn(bought.number, { lines: ["Hello?"] }))
    expect(play).toMatchObject({ state: "rejected", heard: [], seconds: null })
    const { events } = await host.carrier.log()
    const seen = events.filter(({ callSid }) => callSid === play.id).map(({ event }) => event)
    expect(seen).toContain("ended")
    expect(seen).not.toContain("answered")
    expect(await customer.events("phone.call.started")).toEqual([])
    const declined = { direction: "inbound", endReason: "allowance_exhausted", connectedSeconds: 0 }
    expect(await customer.events("phone.call.ended")).toMatchObject([{ payload: { ...declined, declinedCalls: 1 } }])
    const listed = await customer.agent.send({ method: "GET", path: `/api/v1/phone/calls?direction=inbound` })
    expect(dataOf(listed)).toMatchObject({ items: [{ ...declined, status: "ended" }], nextCursor: null })
    expect(await allowance(customer, bought)).toEqual({ purchasedSeconds: 0, usedSeconds: 0, remainingSeconds: 0 })
  })

  it("greets, answers through its agent, and uses minutes by the second", async () => {
    const { carrier } = host
    const customer = await host.customer()
    const agentWebhookUrl = voice.at("/inbound", saying({ text: "Gladly." }))
    const bought = await customer.buy({ agentWebhookUrl, beginMessage: "Ada speaking." })
    await customer.addMinutes(bought.phoneNumberId)
    const id = await carrier.callIn(bought.number, { lines: ["Help me.", { silence: 200 }] })
    const { from } = await carrier.play(id)
    const { callId } = await inboundOf(customer, "started", from)
    await carrier.until(
      () => carrier.limitsTold(id),
      (told) => told.at(-1) === 600
    )
    // An extension belongs to this call alone, and inbound minutes are shared by all calls.
    const extension = await customer.agent.pay({ path: EXTEND, body: { callId } })
    expect(dataOf(extension)).toMatchObject({ call: { authorizedSeconds: 660 } })
    await customer.addMinutes(bought.phoneNumberId)
    await carrier.until(
      () => carrier.limitsTold(id),
      (told) => told.at(-1) === 1_260
    )
    // The records show the seconds of a call while it lasts.
    const live = await carrier.until(
      () => customer.call(callId),
      ({ connectedSeconds }) => connectedSeconds > 0
    )
    expect(live.status).toBe("in_progress")
    const { purchasedSeconds, remainingSeconds, usedSeconds } = await allowance(customer, bought)
    expect(usedSeconds).toBeGreaterThanOrEqual(live.connectedSeconds)
    expect(remainingSeconds).toBe(purchasedSeconds - usedSeconds)
    await carrier.speed(100)
    const play = await carrier.over(id)
    expect(play.heard).toEqual(["Ada speaking.", "Gladly."])
    expect(voice.of("/inbound")[0]!.message).toMatchObject({ direction: "inbound", from, to: bought.number, callId })
    const call = await inboundOf(customer, "ended", from)
    const seconds = play.seconds!
    expect(seconds).toBeGreaterThanOrEqual(200)
    expect(call).toMatchObject({ direction: "inbound", endReason: "completed", connectedSeconds: seconds })
    const usage = { purchasedSeconds: 1_200, usedSeconds: seconds, remainingSeconds: 1_200 - seconds }
    expect(await allowance(customer, bought)).toEqual(usage)
    expect((await customer.transcript(callId)).turns.map(({ text }) => text)).toEqual([
      "Ada speaking.",
      "Help me.",
      "Gladly."
    ])
  })

  it("shares its minutes among concurrent callers, ends their calls when none are left, and rejects later calls", async () => {
    const { carrier } = host
    const customer = await host.customer()
    const bought = await customer.buy({ beginMessage: "Ada speaking." })
    await customer.addMinutes(bought.phoneNumberId)
    const told = (id: string, isWanted: (limit: number) => boolean) =>
      carrier.until(
        () => carrier.limitsTold(id),
        (limits) => limits.length > 0 && isWanted(limits.at(-1)!)
      )
    const first = await carrier.callIn(bought.number, { seconds: 100 })
    await told(first, (limit) => limit === 600)
    const second = await carrier.callIn(bought.number, { seconds: 20_000 })
    for (const id of [first, second]) await told(id, (limit) => limit > 280 && limit <= 310)
    // The rest of a caller that hangs up goes to the others.
    await carrier.speed(40)
    const left = await carrier.over(first)
    await told(second, (limit) => limit === 600 - left.seconds!)
    await carrier.speed(300)
    const [one, other] = [left, await carrier.over(second)]
    expect([one.seconds, other.seconds]).toEqual([100, 500])
    expect(await inboundOf(customer, "ended", one.from)).toMatchObject({
      endReason: "completed",
      connectedSeconds: 100
    })
    const exhausted = await inboundOf(customer, "ended", other.from)
    expect(exhausted).toMatchObject({ endReason: "allowance_exhausted", connectedSeconds: 500 })
    const refused = await customer.agent.send({ path: EXTEND, body: { callId: exhausted.callId } })
    expect([...refusalOf(refused), refused.headers.get("payment-required")]).toEqual([409, "ALLOWANCE_EXHAUSTED", null])
    expect(refused.body.error.next).toEqual({ method: "POST", path: ADD_MINUTES })
    expect(await allowance(customer, bought)).toEqual({ purchasedSeconds: 600, usedSeconds: 600, remainingSeconds: 0 })
    const late = await carrier.over(await carrier.callIn(bought.number))
    expect(late).toMatchObject({ state: "rejected", heard: [] })
  })
})

describe("an agent without a public address", () => {
  const placeholder = { agentWebhookUrl: "https://ada.invalid/voice" }

  it("answers calls over its voice session, and is told when the caller speaks over it", async () => {
    const customer = await host.customer()
    const bought = await customer.buy(placeholder)
    const agent = await Realtime.open(customer.agent, { mode: "voice" })
    expect(await agent.next("session.ready")).toMatchObject({ maxInFlight: 64 })
    const long = "One moment, this is a very long answer that is too long to hear to its end. ".repeat(3)
    const person = await host.carrier.person({
      lines: ["Which name?", { text: "Stop.", interrupt: true, afterMillis: 500 }, "Bye."]
    })
    const { callId } = await customer.callOut(bought.phoneNumberId, person, "Hello.")
    const first = await agent.next("call.turn")
    expect(first).toMatchObject({
      callId,
      phoneNumberId: bought.phoneNumberId,
      direction: "outbound",
      to: person,
      turn: { text: "Which name?" },
      transcriptSoFar: [{ role: "agent", text: "Hello." }]
    })
    const answer = (turn: RealtimeMessage, more: object) =>
      agent.send({ type: "call.reply", callId, turnId: turn.turnId, ...more })
    answer(first, { text: long.slice(0, 80), more: true })
    answer(first, { text: long.slice(80) })
    const events: Array<RealtimeMessage> = []
    while (events.at(-1)?.turn?.text !== "Bye.") {
      const message = await agent.next()
      events.push(message)
      if (message.type === "call.turn" && message.turn?.text !== "Bye.") answer(message, { text: "Yes?" })
    }
    expect(events[0]).toMatchObject({ type: "call.interrupted", callId, turnId: first.turnId })
    const last = events.at(-1)!
    answer(last, { text: "Good", more: true })
    answer(last, { text: " bye.", hangup: true })
    answer(last, { text: "Late." })
    expect(await agent.next("error")).toMatchObject({ code: "RESOURCE_NOT_FOUND" })
    const call = await callEnded(customer, callId)
    expect(call.endReason).toBe("hangup_agent")
    const { turns } = await customer.transcript(callId)
    expect(turns.at(-1)).toMatchObject({ role: "agent", text: "Good bye." })
    agent.close()
  })

  it("buys a number whose placeholder URL is never contacted, and the caller hears an apology without a session", async () => {
    const customer = await host.customer()
    const bought = await customer.buy(placeholder)
    const person = await host.carrier.person({ lines: ["Anyone?"] })
    const { callId } = await customer.callOut(bought.phoneNumberId, person, "Hello.")
    await callEnded(customer, callId)
    const { turns } = await customer.transcript(callId)
    expect(turns.map(({ role, text }) => [role, text])).toContainEqual([
      "system",
      "The agent can't be called. No voice session answers it, and its agentWebhookUrl is a placeholder. The caller heard an apology."
    ])
  })

  it("that closes its session during a turn is replaced by its URL, and a stranger's session can't answer", async () => {
    const customer = await host.customer()
    const bought = await customer.buy({
      agentWebhookUrl: voice.at("/after", saying({ text: "By URL.", hangup: true }))
    })
    const agent = await Realtime.open(customer.agent, { mode: "voice" })
    await agent.next("session.ready")
    const other = await host.customer()
    await other.buy(placeholder)
    const stranger = await Realtime.open(other.agent, { mode: "voice" })
    await stranger.next("session.ready")
    const person = await host.carrier.person({ lines: ["Hello?"] })
    const { callId } = await customer.callOut(bought.phoneNumberId, person, "Hi.")
    const { turnId } = await agent.next("call.turn")
    stranger.send({ type: "call.reply", callId, turnId, text: "I am Ada.", hangup: true })
    expect(await stranger.next("error")).toMatchObject({ code: "RESOURCE_NOT_FOUND" })
    stranger.send({ type: "event.ack", eventId: callId })
    expect(await stranger.next("error")).toMatchObject({ code: "FORBIDDEN" })
    agent.close()
    const call = await callEnded(customer, callId)
    expect(call.endReason).toBe("hangup_agent")
    expect((await host.carrier.playTo(person)).heard).toEqual(["Hi.", "By URL."])
    stranger.close()
  })
})
