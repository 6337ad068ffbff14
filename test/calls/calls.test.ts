import { setTimeout as sleep } from "node:timers/promises"
import { describe, expect, it } from "vitest"
import type { Behaviour } from "../support/PhoneCarrier.ts"
import { dataOf, EXTEND } from "../support/PhoneCustomer.ts"
import { judge, type SeenCall } from "./CallJudge.ts"
import { type CallRig, startCallRig } from "./CallRig.ts"
import { type AgentCall, WORDS } from "./SlowAgent.ts"

/** What she says, one line after each answer; then she listens for as long as the call lasts. */
const LINES = ["first", "second", "third", "fourth", "fifth", "sixth"]
const lineOf = (line: string, name: string) => `the ${line} line of ${name}`
const part = (name: string): Omit<Behaviour, "behaviour"> => ({
  lines: [...LINES.map((line) => ({ text: lineOf(line, name), afterMillis: 200 })), { silence: 9_000 }]
})

const BOUGHT_SECONDS = 600
/** What is left of them for the call that is looked at. */
const LEFT_SECONDS = 60
const SPEED = 300
/** Of an answer that is being given when a server is killed. */
const SPOKEN_WORDS = 30
/** Calls of a minute, and of two, are looked at besides where AGENTOS_LONG_CALLS is 1: they take as long. */
const LONG = process.env["AGENTOS_LONG_CALLS"] === "1"

interface LiveCall {
  readonly name: string
  readonly sid: string
  readonly callId: string
}

/** Polls until it is so; fails when that takes too long. */
const until = async (what: string, isSo: () => boolean | Promise<boolean>, millis: number): Promise<void> => {
  const deadline = performance.now() + millis
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`not in time: ${what}`)
    await sleep(5)
  }
}

/** A number whose minutes are used up but for a few seconds. */
const nearlyUsedUp = async ({ carrier, customer }: CallRig): Promise<string> => {
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

/** Somebody calls, and is answered by the agent. */
const callIn = async (rig: CallRig, name: string, number: string): Promise<LiveCall> => {
  const sid = await rig.carrier.callIn(number, part(name))
  const isHers = ([, { asked }]: readonly [string, AgentCall]) => asked[0] === lineOf("first", name)
  await until(`${name} is answered`, () => [...rig.agent.calls].some(isHers), 20_000)
  return { name, sid, callId: [...rig.agent.calls].find(isHers)![0] }
}

/** The agent calls somebody for a minute. */
const callOut = async ({ carrier, customer }: CallRig, name: string, phoneNumberId: string): Promise<LiveCall> => {
  const to = await carrier.person(part(name))
  const { callId } = await customer.callOut(phoneNumberId, to, `Hello, ${name}.`)
  return { name, sid: (await carrier.playTo(to)).id, callId }
}

const spokenNow = (rig: CallRig, call: LiveCall): number => stateOf(rig, call).answers.at(-1)?.words.length ?? 0
const isInTheMiddle = (rig: CallRig, call: LiveCall): boolean =>
  spokenNow(rig, call) >= SPOKEN_WORDS && spokenNow(rig, call) < WORDS - 5

/** Whatever is heard or said after a moment is over another relay. */
const isTalkingSince = (rig: CallRig, call: LiveCall, at: number): boolean =>
  stateOf(rig, call).answers.some(({ words }) => (words[SPOKEN_WORDS]?.at ?? 0) > at)

const seen = async ({ agent, carrier, customer }: CallRig, { callId, name, sid }: LiveCall): Promise<SeenCall> => {
  const play = await carrier.play(sid)
  const { events } = await carrier.log()
  const momentOf = (wanted: string) =>
    Date.parse(events.find(({ callSid, event }) => callSid === sid && event === wanted)?.at ?? "")
  const { authorizedSeconds } = await customer.call(callId)
  const { answers } = agent.calls.get(callId)!
  const [answeredAt, endedAt] = [momentOf("answered"), momentOf("ended")]
  return {
    name,
    ...play,
    answeredAt,
    endedAt,
    authorizedSeconds,
    answers,
    transcript: await customer.transcript(callId)
  }
}

/** Calls are led by the first server; it is killed in the middle of an answer, and who leads them then is told to end. */
const talkThroughBothEnds = async (rig: CallRig, servers: number) => {
  const { carrier, customer } = rig
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
  await until("Ada is being answered", () => isInTheMiddle(rig, ada), 20_000)
  const bea = await callIn(rig, "Bea", numbers[1]!)
  calls.push(bea)

  await until("Ada is being answered again, and Bea is not yet", () => isInTheMiddle(rig, ada), 20_000)
  const killedAt = await rig.end(0, "SIGKILL")
  const isTalkingAgain = async (call: LiveCall) => {
    const { reason, state } = await carrier.play(call.sid)
    if (state !== "in-progress") throw new Error(`${call.name}'s call did not go on: ${reason}`)
    return isTalkingSince(rig, call, killedAt)
  }
  for (const call of calls) await until(`${call.name} talks again`, () => isTalkingAgain(call), 50_000)
  await until("the agent thinks", () => calls.some((call) => stateOf(rig, call).isThinking), 20_000)
  const endedAt = await rig.end(servers - 1, "SIGTERM")
  return { calls, breaks: [killedAt, endedAt] }
}

describe("calls whose server ends", { concurrent: true }, () => {
  it.for([
    ["comes back, with its database in it", 1],
    ["has another beside it, on one PostgreSQL", 2]
  ] as const)(
    "go on when it %s, with a whole transcript and to their time",
    { timeout: 300_000 },
    async ([, servers], { onTestFinished }) => {
      const rig = await startCallRig(servers)
      onTestFinished(rig.stop)
      const { breaks, calls } = await talkThroughBothEnds(rig, servers)
      const isOver = async ({ sid }: LiveCall) => (await rig.carrier.play(sid)).state === "completed"
      for (const call of calls) await until(`${call.name}'s call ends`, () => isOver(call), 140_000)
      for (const call of calls) {
        const record = await rig.carrier.until(
          () => rig.customer.call(call.callId),
          ({ status }) => status === "ended"
        )
        expect(record.endReason).toBe(["Ada", "Bea"].includes(call.name) ? "allowance_exhausted" : "time_limit")
        const one = await seen(rig, call)
        expect(judge(one, breaks, LINES.length)).toEqual([])
        expect(one.transcript.complete).toBe(true)
      }
      const { events } = await rig.carrier.log()
      for (const { sid } of calls) {
        const relays = events.filter(({ callSid, event }) => callSid === sid && event === "relay opened")
        expect(relays.length, "a relay for each server").toBe(1 + breaks.length)
      }
    }
  )
})
