import { setTimeout as sleep } from "node:timers/promises"
import { describe, expect, it } from "vitest"
import { CALL_INVARIANTS, type CallObservations } from "../faults/verdict/CallInvariants.ts"
import { judge } from "../faults/verdict/Judge.ts"
import { linesOf } from "../faults/verdict/Report.ts"
import type { Behaviour } from "../support/PhoneCarrier.ts"
import { dataOf, EXTEND } from "../support/PhoneCustomer.ts"
import { type CallRig, startCallRig } from "./CallRig.ts"
import { type AgentCall, WORDS } from "./SlowAgent.ts"

/** The person says one line after each answer, and then listens until the call ends. */
const LINES = ["first", "second", "third", "fourth", "fifth", "sixth"]
const lineOf = (line: string, name: string) => `the ${line} line of ${name}`
const behaviourOf = (name: string): Omit<Behaviour, "behaviour"> => ({
  lines: [...LINES.map((line) => ({ text: lineOf(line, name), afterMillis: 200 })), { silence: 9_000 }]
})

const BOUGHT_SECONDS = 600
/** The rest of them, for the call under test. */
const LEFT_SECONDS = 60
const SPEED = 300
/** A server is killed after this many words of an answer. */
const SPOKEN_WORDS = 30
/** AGENTOS_LONG_CALLS=1 adds outbound calls of one and two minutes. */
const LONG = process.env["AGENTOS_LONG_CALLS"] === "1"

interface LiveCall {
  readonly name: string
  readonly sid: string
  readonly callId: string
}

const until = async (what: string, isTrue: () => boolean | Promise<boolean>, millisMax: number): Promise<void> => {
  const deadline = performance.now() + millisMax
  while (!(await isTrue())) {
    if (performance.now() > deadline) throw new Error(`timed out: ${what}`)
    await sleep(5)
  }
}

/** Buys a number, and uses up all but a few seconds of its minutes. */
const nearlyUsedUp = async ({ customer, testbed: { carrier } }: CallRig): Promise<string> => {
  const { number, phoneNumberId } = await customer.buy({ beginMessage: "Hello, who is there?" })
  await customer.addMinutes(phoneNumberId)
  await carrier.callIn(number, { seconds: BOUGHT_SECONDS - LEFT_SECONDS })
  await carrier.until(
    () => customer.number(phoneNumberId),
    ({ inboundAllowance }) => inboundAllowance.remainingSeconds === LEFT_SECONDS
  )
  return number
}

const stateOf = ({ agent }: CallRig, { callId }: Pick<LiveCall, "callId">): AgentCall => agent.calls.get(callId)!

const callIn = async (rig: CallRig, name: string, number: string): Promise<LiveCall> => {
  const sid = await rig.testbed.carrier.callIn(number, behaviourOf(name))
  const isOwn = ([, { asked }]: readonly [string, AgentCall]) => asked[0] === lineOf("first", name)
  await until(`${name} is answered`, () => [...rig.agent.calls].some(isOwn), 20_000)
  return { name, sid, callId: [...rig.agent.calls].find(isOwn)![0] }
}

const callOut = async (
  { customer, testbed: { carrier } }: CallRig,
  name: string,
  phoneNumberId: string
): Promise<LiveCall> => {
  const to = await carrier.person(behaviourOf(name))
  const { callId } = await customer.callOut(phoneNumberId, to, `Hello, ${name}.`)
  return { name, sid: (await carrier.playTo(to)).id, callId }
}

const isMidAnswer = (rig: CallRig, call: LiveCall): boolean => {
  const spoken = stateOf(rig, call).answers.at(-1)?.words.length ?? 0
  return spoken >= SPOKEN_WORDS && spoken < WORDS - 5
}

const observe = async (
  { agent, customer, testbed: { carrier } }: CallRig,
  { callId, sid }: LiveCall,
  breaks: ReadonlyArray<number>
): Promise<CallObservations> => {
  const { events } = await carrier.log()
  const timeOf = (wanted: string) =>
    Date.parse(events.find(({ callSid, event }) => callSid === sid && event === wanted)?.at ?? "")
  const { authorizedSeconds } = await customer.call(callId)
  return {
    ...(await carrier.play(sid)),
    answeredAt: timeOf("answered"),
    endedAt: timeOf("ended"),
    authorizedSeconds,
    answers: agent.calls.get(callId)!.answers,
    transcript: await customer.transcript(callId),
    breaks,
    lines: LINES.length
  }
}

/** Kills the server that leads the calls in the middle of an answer, and then stops the one that leads them next. */
const talkThroughBothEnds = async (rig: CallRig) => {
  const { customer, testbed } = rig
  const { carrier, cluster } = testbed
  await carrier.speed(SPEED)
  const numbers = [await nearlyUsedUp(rig), await nearlyUsedUp(rig)]
  await carrier.speed(1)
  await carrier.keepLimits(false)
  const calls: Array<LiveCall> = []
  if (LONG) {
    const [{ phoneNumberId } = { phoneNumberId: "" }] = await customer.numbers()
    calls.push(await callOut(rig, "Cleo", phoneNumberId), await callOut(rig, "Dora", phoneNumberId))
    await until("Dora answers", async () => (await customer.call(calls[1]!.callId)).status === "in_progress", 20_000)
    dataOf(await customer.agent.pay({ path: EXTEND, body: { callId: calls[1]!.callId } }))
  }
  const ada = await callIn(rig, "Ada", numbers[0]!)
  calls.push(ada)
  await until("Ada receives an answer", () => isMidAnswer(rig, ada), 20_000)
  const bea = await callIn(rig, "Bea", numbers[1]!)
  calls.push(bea)
  await until("Ada receives another answer", () => isMidAnswer(rig, ada), 20_000)
  const killedAt = Date.now()
  const restarted = testbed.killServer()
  const isTalkingAgain = async (call: LiveCall) => {
    const { reason, state } = await carrier.play(call.sid)
    if (state !== "in-progress") throw new Error(`${call.name}'s call ended: ${reason}`)
    return stateOf(rig, call).answers.some(({ words }) => (words[SPOKEN_WORDS]?.at ?? 0) > killedAt)
  }
  for (const call of calls) await until(`${call.name} talks again`, () => isTalkingAgain(call), 50_000)
  await restarted
  await until("the agent thinks", () => calls.some((call) => stateOf(rig, call).isThinking), 20_000)
  const stoppedAt = Date.now()
  const last = cluster.servers.at(-1)!
  await last.stop()
  await last.start()
  return { calls, breaks: [killedAt, stoppedAt] }
}

describe("calls continue to their limit with a complete transcript", { concurrent: true }, () => {
  it.for([
    ["restarts, with its database embedded", 1],
    ["is one of two on one PostgreSQL", 2]
  ] as const)("when the server that leads them ends and %s", { timeout: 300_000 }, async ([, servers], context) => {
    const rig = await startCallRig(servers)
    context.onTestFinished(rig.stop)
    const { carrier } = rig.testbed
    const { breaks, calls } = await talkThroughBothEnds(rig)
    const isOver = async ({ sid }: LiveCall) => (await carrier.play(sid)).state === "completed"
    for (const call of calls) await until(`${call.name}'s call ends`, () => isOver(call), 140_000)
    for (const call of calls) {
      const record = await carrier.until(
        () => rig.customer.call(call.callId),
        ({ status }) => status === "ended"
      )
      expect(record.endReason).toBe(["Ada", "Bea"].includes(call.name) ? "allowance_exhausted" : "time_limit")
      expect([call.name, ...linesOf(judge(CALL_INVARIANTS, await observe(rig, call, breaks)))]).toEqual([call.name])
      expect((await rig.customer.transcript(call.callId)).complete).toBe(true)
    }
    const { events } = await carrier.log()
    for (const { sid } of calls) {
      const relays = events.filter(({ callSid, event }) => callSid === sid && event === "relay opened")
      expect(relays.length, "one relay for each server").toBe(1 + breaks.length)
    }
  })
})
