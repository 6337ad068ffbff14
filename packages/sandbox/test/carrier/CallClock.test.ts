import { describe, expect, it, onTestFinished } from "vitest"
import { type CallClock, makeCallClock } from "../../src/carrier/CallClock.ts"

const start = (speed: number): CallClock => {
  const clock = makeCallClock(speed)
  onTestFinished(clock.stop)
  return clock
}

/** Sets a timer. Returns the earliest time at which it may be due, the time at which it was due, and that at which it fired. */
const after = (clock: CallClock, seconds: number) =>
  new Promise<{ readonly earliest: number; readonly due: number; readonly now: number }>((resolve) => {
    const earliest = clock.now() + seconds * 1_000
    clock.after(seconds, (due) => resolve({ earliest, due, now: clock.now() }))
  })

describe("the calls' clock", () => {
  it("runs at its speed, and no timer fires early", async () => {
    const clock = start(1_000)
    const fired = await Promise.all([1, 5, 2, 20, 0].map((seconds) => after(clock, seconds)))
    for (const { due, earliest, now } of fired) {
      expect(due).toBeGreaterThanOrEqual(earliest)
      expect(now).toBeGreaterThanOrEqual(due)
    }
  })

  it("applies a new speed to timers that are already set", async () => {
    const clock = start(1)
    const order: Array<number> = []
    const all = [300, 100, 200].map((seconds) => after(clock, seconds).then(() => order.push(seconds)))
    clock.setSpeed(5_000)
    expect(clock.speed()).toBe(5_000)
    await Promise.all(all)
    expect(order).toEqual([100, 200, 300])
  })

  it("accepts times in the past", async () => {
    const clock = start(1)
    const due = await new Promise((resolve) => clock.at(clock.now() - 1_000, resolve))
    expect(due).toBeLessThan(clock.now())
  })

  it("cancels timers, and ends a sleep on abort", async () => {
    const clock = start(1_000)
    const fired: Array<string> = []
    clock.after(1, () => fired.push("canceled"))()
    const controller = new AbortController()
    const sleeping = clock.sleep(100_000, controller.signal)
    controller.abort()
    await sleeping
    await clock.sleep(100_000, controller.signal)
    await clock.sleep(5, new AbortController().signal)
    expect(fired).toEqual([])
  })
})
