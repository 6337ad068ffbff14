import { StoreUnavailable } from "@agentos/core"
import { Cause, Effect, Logger } from "effect"
import { afterEach, beforeEach, expect, it, vi } from "vitest"
import { summingOutages } from "../../src/output/ProgramOutput.ts"

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const outage = Cause.die(
  new StoreUnavailable({ message: "the database can't be reached", isUndone: false, cause: new Error("x") })
)

it("one line for each second says how often an unavailable database was missed; other lines stay", () => {
  const lines: Array<string> = []
  const logger = Logger.make(summingOutages((entry) => lines.push(String(entry.message))))
  const log = (effect: Effect.Effect<void>) => Effect.runSync(Effect.provide(effect, Logger.layer([logger])))
  for (let time = 0; time < 40; time++) log(Effect.logError("request failed", outage))
  log(Effect.logWarning("something else"))
  // At once, since the program may end before the second is over.
  const reason = "the database can't be reached"
  expect(lines).toEqual([`${reason}; 1 attempt failed, the first: request failed`, "something else"])
  vi.advanceTimersByTime(1_000)
  expect(lines.slice(2)).toEqual([`${reason}; 39 attempts failed, the first: request failed`])
  vi.advanceTimersByTime(5_000)
  expect(lines).toHaveLength(3)
  log(Effect.logError("job failed", outage))
  expect(lines[3]).toBe(`${reason}; 1 attempt failed, the first: job failed`)
})
