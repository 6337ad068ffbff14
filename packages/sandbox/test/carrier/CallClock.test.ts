import { describe, expect, it, onTestFinished } from "vitest"
import { type CallClock, makeCallClock } from "../../src/carrier/CallClock.ts"

const start = (speed: number): CallClock => {
  const clock = makeCallClock(speed)
  onTestFinished(clock.stop)
  return clock
}

/** The moment at which something came, and the one at which it was due. */
const after = (clock: CallClock, seconds: number) =>
  new Promise<{ readonly due: number; readonly now: number }>((resolve) => {
    clock.after(seconds, (due) => resolve({ due, now: clock.now() }))
  })

describe("the calls' clock", () => {
  it("runs faster when told, and nothing comes early", async () => {
    const clock = start(1_000)
    const came = await Promise.all([1, 5, 2, 20, 0].map((seconds) => after(clock, seconds)))
    for (const { due, now } of came) expect(now).toBeGreaterThanOrEqual(due)
    expect(came[3]!.due - came[4]!.due).toBeGreaterThanOrEqual(20_000 - 1_000)
  })

  it("lets what waits already come faster, in the order in which it is due", async () => {
    const clock = start(1)
    const order: Array<number> = []
    const all = [300, 100, 200].map((seconds) => after(clock, seconds).then(() => order.push(seconds)))
    clock.setSpeed(5_000)
    expect(clock.speed()).toBe(5_000)
    await Promise.all(all)
    expect(order).toEqual([100, 200, 300])
  })

  it("takes moments that are past", async () => {
    const clock = start(1)
    const due = await new Promise((resolve) => clock.at(clock.now() - 1_000, resolve))
    expect(due).toBeLessThan(clock.now())
  })

  it("forgets what is called off, and wakes sleepers who are called", async () => {
    const clock = start(1_000)
    const came: Array<string> = []
    clock.after(1, () => came.push("called off"))()
    const controller = new AbortController()
    const asleep = clock.sleep(100_000, controller.signal)
    controller.abort()
    await asleep
    await clock.sleep(100_000, controller.signal)
    await clock.sleep(5, new AbortController().signal)
    expect(came).toEqual([])
  })
})
