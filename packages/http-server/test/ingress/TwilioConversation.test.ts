import { type AgentReply, CallStore } from "@agentos/core"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Schema, Stream } from "effect"
import { freshCallSid } from "../support/ScriptedCarrier.ts"
import { call, callPaid, dataOf } from "../support/TestClient.ts"
import { startServer, type TestServer } from "../support/TestServer.ts"
import {
  answerCall,
  ask,
  type BoughtNumber,
  CARRIER_TOKEN,
  newNumber,
  placeCall,
  PUBLIC_URL,
  RelayClient,
  relayOf
} from "./CarrierClient.ts"

let server: TestServer
beforeAll(async () => {
  server = await startServer({ carrierToken: CARRIER_TOKEN, publicUrl: PUBLIC_URL })
})
afterAll(() => server.stop())

const say = (text: string): AgentReply => ({ _tag: "Say", text })

const Transcript = Schema.Struct({
  transcript: Schema.Struct({
    complete: Schema.Boolean,
    turns: Schema.Array(Schema.Struct({ role: Schema.String, text: Schema.String, at: Schema.String }))
  })
})
const transcriptOf = async ({ token }: BoughtNumber, callId: string) => {
  const answer = await call(server, "GET", `/api/v1/phone/calls/${callId}/transcript`, { token })
  const { transcript } = Schema.decodeUnknownSync(Transcript)(dataOf(answer))
  return { complete: transcript.complete, turns: transcript.turns.map(({ role, text }) => `${role}: ${text}`) }
}

const until = async (isSo: () => boolean | Promise<boolean>): Promise<void> => {
  const startedAt = performance.now()
  while (!(await isSo())) {
    if (performance.now() - startedAt > 8_000) throw new Error("it did not come to be")
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** Opens a relay that is admitted and set up. */
const openRelay = async (path: string, callSid: string): Promise<RelayClient> => {
  const relay = new RelayClient(server.port, path)
  assert.strictEqual(await relay.status, 101)
  relay.setUp(callSid)
  return relay
}

/** Returns all messages that a relay has received so far. */
const spoken = (relay: RelayClient): string => relay.received.map((one) => JSON.stringify(one)).join("\n")

describe("a conversation", () => {
  it("runs from the greeting to the hangup, and is in the transcript", async () => {
    server.carrier.agent.answer = ({ turn }) =>
      turn.text === "Bye"
        ? Stream.make(say("Good"), say("bye."), { _tag: "HangUp" } as const)
        : Stream.make(say(`You said ${turn.text}.`))
    const number = await newNumber(server)
    const placed = await placeCall(server, number, { initialGreeting: "Ada here." })
    const { relay: path } = await answerCall(server, placed)
    const relay = await openRelay(path, placed.providerCallId)
    await until(() => spoken(relay).includes("Ada here."))
    relay.say("Hello")
    await until(() => spoken(relay).includes("You said Hello."))
    assert.deepInclude(server.carrier.asked.at(-1), {
      callId: placed.callId,
      phoneNumberId: number.phoneNumberId,
      direction: "outbound",
      from: number.number,
      to: "+12025550150"
    })
    const lines = ["agent: Ada here.", "caller: Hello", "agent: You said Hello."]
    await until(async () => (await transcriptOf(number, placed.callId)).turns.length === lines.length)
    assert.deepStrictEqual(await transcriptOf(number, placed.callId), { complete: false, turns: lines })
    relay.say("Bye")
    await until(() => spoken(relay).includes('{"type":"end"}'))
    relay.socket.close(1000)
    await ask(server, `/webhooks/twilio/status/${placed.callId}`, {
      CallSid: placed.providerCallId,
      CallStatus: "completed",
      CallDuration: "8"
    })
    const whole = await transcriptOf(number, placed.callId)
    assert.isTrue(whole.complete)
    assert.deepStrictEqual(whole.turns.slice(0, 4), [...lines, "caller: Bye"])
    assert.strictEqual(whole.turns[4]?.replace(" ", ""), "agent:Goodbye.")
  })

  it("stops speaking when it is interrupted, and continues over another relay when the first one breaks", async () => {
    server.carrier.agent.answer = ({ turn }) =>
      turn.text === "Tell me all"
        ? Stream.concat(Stream.make(say("It is a long story.")), Stream.never)
        : Stream.make(say("Fine."))
    const number = await newNumber(server, { beginMessage: "Hello." })
    const { phoneNumberId, token, wallet } = number
    await callPaid(server, "/api/v1/phone/add-inbound-minutes-10", { body: { phoneNumberId }, token }, wallet)
    const form = { CallSid: freshCallSid(), CallStatus: "ringing", From: "+12025550150", To: number.number }
    const { text } = await ask(server, "/webhooks/twilio/voice", form)
    const callId = /resume\/([0-9a-f-]+)"/.exec(text)?.[1] ?? ""
    const relay = await openRelay(relayOf(text), form.CallSid)
    relay.say("Tell me all")
    await until(() => spoken(relay).includes("It is a long story."))
    // The duration is not used, and was seen as text.
    relay.send({ type: "interrupt", utteranceUntilInterrupt: "It is", durationUntilInterruptMs: "400" })
    const cut = ["agent: Hello.", "caller: Tell me all", "agent: It is"]
    await until(async () => (await transcriptOf(number, callId)).turns[2] === cut[2])
    relay.socket.terminate()
    const broken = await ask(server, `/webhooks/twilio/resume/${callId}`, {
      ...form,
      CallStatus: "in-progress",
      SessionStatus: "failed",
      ErrorCode: "64105"
    })
    const next = await openRelay(relayOf(broken.text), form.CallSid)
    next.say("Never mind")
    await until(() => spoken(next).includes("Fine."))
    assert.notInclude(spoken(next), "Hello.")
    const turns = [...cut, "caller: Never mind", "agent: Fine."]
    await until(async () => (await transcriptOf(number, callId)).turns.length === turns.length)
    assert.deepStrictEqual((await transcriptOf(number, callId)).turns, turns)
    next.socket.terminate()
  })

  it("survives a restart of the server, which keeps the transcript and delays the next relay", async () => {
    const own = await startServer({ carrierToken: CARRIER_TOKEN, publicUrl: PUBLIC_URL })
    own.carrier.agent.answer = () => Stream.concat(Stream.make(say("As I was saying,")), Stream.never)
    const number = await newNumber(own)
    const placed = await placeCall(own, number)
    const { relay: path } = await answerCall(own, placed)
    const relay = new RelayClient(own.port, path)
    assert.strictEqual(await relay.status, 101)
    relay.setUp(placed.providerCallId)
    relay.say("Go on")
    await until(() => spoken(relay).includes("As I was saying,"))
    const stopped = own.stop()
    assert.strictEqual(await relay.closed, 1012)
    const resumed = await ask(own, `/webhooks/twilio/resume/${placed.callId}`, {
      CallSid: placed.providerCallId,
      CallStatus: "in-progress",
      SessionStatus: "failed",
      ErrorCode: "64105"
    })
    assert.match(resumed.text, /<Response><Pause length="6"\/><Connect /)
    await stopped
    const turns = await own.run(Effect.flatMap(CallStore, (store) => store.turns(placed.callId)))
    assert.deepStrictEqual(
      turns.map(({ role, text }) => `${role}: ${text}`),
      ["caller: Go on", "agent: As I was saying,"]
    )
  })
})
