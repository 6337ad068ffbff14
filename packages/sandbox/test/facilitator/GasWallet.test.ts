import { describe, expect, it } from "vitest"
import { makeSerialQueue } from "../../src/facilitator/GasWallet.ts"

describe("SerialQueue", () => {
  it("runs the tasks of one key in arrival order, one at a time", async () => {
    const queue = makeSerialQueue()
    const events: Array<string> = []
    const task = (name: string) => async () => {
      events.push(`${name} begins`)
      await new Promise(setImmediate)
      events.push(`${name} ends`)
      return name
    }
    const answers = await Promise.all(["a", "b", "c"].map((name) => queue.run("key", task(name))))
    expect(answers).toEqual(["a", "b", "c"])
    expect(events).toEqual(["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"])
  })

  it("runs the tasks of different keys concurrently", async () => {
    const queue = makeSerialQueue()
    const gate = Promise.withResolvers<string>()
    const waiting = queue.run("one", () => gate.promise)
    expect(await queue.run("other", async () => "done")).toBe("done")
    gate.resolve("done as well")
    expect(await waiting).toBe("done as well")
  })

  it("continues after a failed task, and reports the failure to its caller", async () => {
    const queue = makeSerialQueue()
    const failing = queue.run("key", () => Promise.reject(new Error("no")))
    const next = queue.run("key", async () => "yes")
    await expect(failing).rejects.toThrow("no")
    expect(await next).toBe("yes")
  })
})
