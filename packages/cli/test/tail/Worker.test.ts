import { Output } from "@agentos/node/command-line"
import { assert, describe, it } from "vitest"
import type { Acknowledged, TailEvent } from "../../src/tail/TailEvent.ts"
import { backoff } from "@agentos/client"
import type { Handled } from "../../src/tail/EventHandling.ts"
import { event as sample } from "../support/Samples.ts"
import { Worker, type WorkerOptions } from "../../src/tail/Worker.ts"

const event = (eventId: string): TailEvent => ({ ...sample, eventId })

/** A worker whose handlers end on demand. */
const rig = (more: Partial<WorkerOptions> = {}) => {
  const said: Array<string> = []
  const sink = {
    write: (data: string | Uint8Array) => void said.push(Buffer.from(data).toString()),
    isTerminal: false,
    columns: undefined,
    drained: () => Promise.resolve()
  }
  const running = new Map<string, (outcome: Handled) => void>()
  const begun: Array<string> = []
  const worker = new Worker(new Output({ stdout: sink, stderr: sink }, { json: false, quiet: false, color: false }), {
    handle: ({ eventId }) => {
      begun.push(eventId)
      return new Promise((resolve) => running.set(eventId, resolve))
    },
    acknowledge: "success",
    jobs: 1,
    max: undefined,
    ...more
  })
  const acknowledgements: Array<string> = []
  const deliver = (eventId: string, delivery: string, outcome: Acknowledged = "acknowledged") =>
    worker.take({
      event: event(eventId),
      acknowledge: () => {
        acknowledgements.push(delivery)
        return Promise.resolve(outcome)
      }
    })
  const end = async (eventId: string, outcome: Handled = { _tag: "Done" }) => {
    running.get(eventId)!(outcome)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { worker, deliver, end, begun, acknowledgements, said }
}

describe("Worker", () => {
  it("handles one event at a time, in order, and acknowledges its delivery", async () => {
    const { acknowledgements, begun, deliver, end, worker } = rig()
    for (const eventId of ["a", "b", "c"]) await deliver(eventId, `first of ${eventId}`)
    assert.deepStrictEqual(begun, ["a"])
    await end("a")
    await end("b")
    await end("c")
    await worker.idle()
    assert.deepStrictEqual(
      [begun, acknowledgements],
      [
        ["a", "b", "c"],
        ["first of a", "first of b", "first of c"]
      ]
    )
  })

  it("does not handle a redelivered event twice, and acknowledges the later delivery", async () => {
    const { acknowledgements, begun, deliver, end, worker } = rig()
    await deliver("a", "first")
    await deliver("b", "first of b")
    worker.leasesLost()
    await deliver("a", "second")
    await end("a")
    await worker.idle()
    // Events that had not started when the leases were lost are dropped.
    assert.deepStrictEqual([begun, acknowledgements], [["a"], ["second"]])
  })

  it("only acknowledges a handled event whose acknowledgement was lost", async () => {
    const { acknowledgements, begun, deliver, end } = rig()
    await deliver("a", "first", "unknown")
    await end("a")
    await deliver("a", "second")
    assert.deepStrictEqual([begun, acknowledgements], [["a"], ["first", "second"]])
  })

  it("acknowledges nothing after a lost lease", async () => {
    const { acknowledgements, deliver, end, said, worker } = rig()
    await deliver("a", "first")
    worker.leasesLost()
    await end("a")
    assert.deepStrictEqual(acknowledgements, [])
    await deliver("b", "first of b", "stale")
    await end("b")
    assert.include(said.join(""), "the lease was lost or the event has expired, so it was not acknowledged")
  })

  it("starts nothing and acknowledges no interrupted event after it is closed", async () => {
    const { acknowledgements, begun, deliver, end, worker } = rig()
    await deliver("a", "first")
    await deliver("b", "first of b")
    const closed = worker.close()
    await end("a", { _tag: "Interrupted" })
    await closed
    assert.deepStrictEqual([begun, acknowledgements], [["a"], []])
  })

  it("limits its queue and the number of concurrent jobs", async () => {
    const { begun, deliver, end } = rig({ jobs: 3 })
    for (let index = 0; index < 66; index++) await deliver(`event ${index}`, "first")
    let isTaken = false
    const last = deliver("the last", "first").then(() => (isTaken = true))
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepStrictEqual([begun.length, isTaken], [3, false])
    await end("event 0")
    await last
    assert.strictEqual(begun.length, 4)
  })
})

describe("backoff", () => {
  it("grows to half a minute, with jitter", () => {
    const none = (): number => 0
    const most = (limit: number): number => limit
    assert.deepStrictEqual(
      [0, 1, 2, 20].map((count) => backoff(count, none)),
      [250, 500, 1_000, 15_000]
    )
    assert.deepStrictEqual(
      [0, 1, 2, 20].map((count) => backoff(count, most)),
      [500, 1_000, 2_000, 30_000]
    )
  })
})
