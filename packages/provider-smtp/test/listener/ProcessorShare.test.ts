import { describe, expect, it } from "vitest"
import { ProcessorShare } from "../../src/listener/ProcessorShare.ts"

/** A share whose clock advances by this many milliseconds in each task, and the order in which its tasks have run. */
const sharing = (taskMillis: number) => {
  let now = 0
  const share = new ProcessorShare(() => now)
  const order: Array<string> = []
  const run = (peer: string, ...names: ReadonlyArray<string>) =>
    Promise.all(
      names.map(
        (name) =>
          new Promise<void>((resolve) =>
            share.run(peer, () => {
              now += taskMillis
              order.push(name)
              resolve()
            })
          )
      )
    )
  return { order, run, setTime: (millis: number) => (now = millis) }
}

describe("a share of the processor", () => {
  it("gives each peer one task in turn, even if one came first with many", async () => {
    const { order, run } = sharing(0)
    await Promise.all([run("a", "a1", "a2", "a3"), run("b", "b1"), run("c", "c1", "c2")])
    expect(order).toEqual(["a1", "b1", "c1", "a2", "c2", "a3"])
  })

  it("yields to the event loop after each turn", async () => {
    const { order, run } = sharing(4)
    const tasks = run("a", "a1", "a2", "a3")
    setImmediate(() => order.push("others"))
    await tasks
    expect(order).toEqual(["a1", "others", "a2", "a3"])
  })

  it("is not used up because the clock was set back", async () => {
    const { order, run, setTime } = sharing(0)
    setTime(3_600_000)
    await run("a", "a1")
    setTime(0)
    void run("a", "a2", "a3")
    await new Promise(setImmediate)
    expect(order).toEqual(["a1", "a2", "a3"])
  })
})
