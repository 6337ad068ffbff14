import { afterEach, assert, beforeEach, describe, it, vi } from "@effect/vitest"
import { WorkerGroup } from "../../src/worker/WorkerGroup.ts"
import {
  ALIVE_EVERY,
  type FromWorker,
  type Listening,
  type ToWorker,
  type WorkerExit,
  type WorkerProcess
} from "../../src/worker/WorkerProcess.ts"

const LISTENING: Listening = { http: { host: "127.0.0.1", port: 8080 }, smtp: null, operator: null }
const CRASH: WorkerExit = { status: null, signal: "SIGKILL" }

class FakeWorker implements WorkerProcess {
  static count = 0
  readonly pid = ++FakeWorker.count
  readonly sent: Array<ToWorker> = []
  readonly number: number
  readonly onMessage: (worker: WorkerProcess, message: FromWorker) => void
  #serve: (listening: Listening | undefined) => void = () => undefined
  #exit: (exit: WorkerExit) => void = () => undefined
  readonly ready = new Promise<Listening | undefined>((resolve) => (this.#serve = resolve))
  readonly exited = new Promise<WorkerExit>((resolve) => (this.#exit = resolve))
  isKilled = false
  isSilent = false

  constructor(number: number, onMessage: FakeWorker["onMessage"]) {
    this.number = number
    this.onMessage = onMessage
  }

  readonly send = (message: ToWorker): void => void this.sent.push(message)
  readonly kill = (): void => {
    this.isKilled = true
    void this.end(CRASH)
  }

  get drains(): boolean {
    return this.sent.some(({ type }) => type === "drain")
  }

  async serve(): Promise<void> {
    this.#serve(LISTENING)
    const signs = setInterval(() => this.isSilent || this.onMessage(this, { type: "alive" }), ALIVE_EVERY)
    void this.exited.then(() => clearInterval(signs))
    await settled()
  }

  async end(exit: WorkerExit): Promise<void> {
    this.#exit(exit)
    this.#serve(undefined)
    await settled()
  }
}

/** Lets every promise that is resolved continue. */
const settled = async (): Promise<void> => void (await vi.advanceTimersByTimeAsync(0))

const setUp = (count: number) => {
  const workers: Array<FakeWorker> = []
  const lines: Array<string> = []
  let ready = 0
  const group = new WorkerGroup(count, {
    fork: (number, onMessage) => {
      const worker = new FakeWorker(number, onMessage)
      workers.push(worker)
      return worker
    },
    log: (level, message) => void lines.push(`${level}: ${message}`),
    now: () => Date.now(),
    onReady: () => void ready++
  })
  let status: number | undefined
  void group.run().then((ended) => (status = ended))
  return { group, workers, lines, ready: () => ready, status: () => status }
}

/** Starts a server whose workers all serve. */
const serving = async (count: number) => {
  const server = setUp(count)
  await server.workers[0]!.serve()
  for (const worker of server.workers.slice(1)) await worker.serve()
  assert.strictEqual(server.ready(), 1)
  return server
}

describe("WorkerGroup", () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it("starts the other workers once the first one serves, and is ready once all do", async () => {
    const { ready, workers } = setUp(3)
    await settled()
    assert.strictEqual(workers.length, 1)
    await workers[0]!.serve()
    assert.deepStrictEqual(
      workers.map(({ number }) => number),
      [1, 2, 3]
    )
    await workers[2]!.serve()
    assert.strictEqual(ready(), 0)
    await workers[1]!.serve()
    assert.strictEqual(ready(), 1)
  })

  it.each([
    [3, 3],
    [1, 1],
    [130, 130]
  ])("ends when a first worker ends with %i before it serves, with %i", async (workerStatus, expected) => {
    const { status, workers } = setUp(2)
    await workers[0]!.serve()
    await workers[1]!.end({ status: workerStatus, signal: null })
    assert.isTrue(workers[0]!.drains)
    assert.isUndefined(status())
    await workers[0]!.end({ status: 0, signal: null })
    assert.strictEqual(status(), expected)
  })

  it("replaces a worker at once, and after a longer delay each time its successor ends early", async () => {
    const { workers } = await serving(2)
    await workers[0]!.end(CRASH)
    assert.strictEqual(workers.length, 3)
    for (const delay of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
      const before = workers.length
      await workers.at(-1)!.serve()
      await workers.at(-1)!.end(CRASH)
      await vi.advanceTimersByTimeAsync(delay - 1)
      assert.strictEqual(workers.length, before)
      await vi.advanceTimersByTimeAsync(1)
      assert.strictEqual(workers.length, before + 1)
    }
    await workers.at(-1)!.serve()
    await vi.advanceTimersByTimeAsync(60_000)
    const before = workers.length
    await workers.at(-1)!.end(CRASH)
    assert.strictEqual(workers.length, before + 1, "a worker that served for a minute is replaced at once")
    assert.isTrue(workers.every(({ number }, index) => (index === 1 ? number === 2 : number === 1)))
  })

  it("kills and replaces a worker that gives no sign of life for 40 s", async () => {
    const { lines, workers } = await serving(2)
    await vi.advanceTimersByTimeAsync(60_000)
    workers[0]!.isSilent = true
    await vi.advanceTimersByTimeAsync(35_000)
    workers[0]!.isSilent = false
    await vi.advanceTimersByTimeAsync(5_000)
    workers[0]!.isSilent = true
    await vi.advanceTimersByTimeAsync(39_999)
    assert.deepStrictEqual(lines, [])
    await vi.advanceTimersByTimeAsync(1)
    assert.deepStrictEqual(lines, [
      "Error: a worker gave no sign of life for 40 s and is killed",
      "Error: a worker ended; starting another one"
    ])
    assert.deepStrictEqual(
      workers.map(({ isKilled, number }) => [number, isKilled]),
      [
        [1, true],
        [2, false],
        [1, false]
      ]
    )
  })

  it("retries a worker that cannot start, but not with a configuration that cannot work", async () => {
    const { lines, status, workers } = await serving(2)
    await workers[0]!.end(CRASH)
    await workers[2]!.end({ status: 1, signal: null })
    await vi.advanceTimersByTimeAsync(1_000)
    assert.strictEqual(workers.length, 4)
    await workers[3]!.end({ status: 3, signal: null })
    await vi.advanceTimersByTimeAsync(600_000)
    assert.strictEqual(workers.length, 4)
    assert.include(lines.at(-1), "cannot start with this configuration")
    assert.isUndefined(status(), "the other worker serves")
    await workers[1]!.end(CRASH)
    await workers[4]!.end({ status: 3, signal: null })
    assert.strictEqual(status(), 1)
  })

  it("replaces the workers one after the other, each once its successor serves", async () => {
    const { group, workers } = await serving(2)
    void group.roll()
    assert.strictEqual(workers.length, 3)
    assert.isFalse(workers[0]!.drains)
    await workers[2]!.serve()
    assert.isTrue(workers[0]!.drains)
    assert.strictEqual(workers.length, 3)
    await workers[0]!.end({ status: 0, signal: null })
    assert.strictEqual(workers.length, 4)
    assert.isFalse(workers[1]!.drains)
    // A signal during the replacement begins another one after it.
    void group.roll()
    await workers[3]!.serve()
    await workers[1]!.end({ status: 0, signal: null })
    assert.strictEqual(workers.length, 5)
    assert.isFalse(workers[2]!.drains)
    await workers[4]!.serve()
    assert.isTrue(workers[2]!.drains)
  })

  it("keeps the workers whose successors do not serve, and fills empty places", async () => {
    const { status, group, workers } = await serving(2)
    void group.roll()
    await workers[2]!.end({ status: 3, signal: null })
    assert.strictEqual(workers.length, 3)
    assert.isFalse(workers[0]!.drains || workers[1]!.drains)
    await workers[0]!.end(CRASH)
    await workers[3]!.end({ status: 3, signal: null })
    void group.roll()
    await workers[4]!.serve()
    await workers[5]!.serve()
    assert.isTrue(workers[1]!.drains)
    assert.isUndefined(status())
  })

  it("drains the workers one after the other, and kills those that do not end", async () => {
    const { lines, status, group, workers } = await serving(3)
    group.stop()
    await settled()
    assert.deepStrictEqual(
      workers.map(({ drains }) => drains),
      [true, false, false]
    )
    await workers[0]!.end({ status: 0, signal: null })
    assert.isTrue(workers[1]!.drains)
    assert.isFalse(workers[2]!.drains)
    // A worker with long requests does not delay the others for long.
    await vi.advanceTimersByTimeAsync(400)
    assert.isTrue(workers[2]!.drains)
    await workers[2]!.end({ status: 0, signal: null })
    await vi.advanceTimersByTimeAsync(11_000)
    assert.isFalse(workers[1]!.isKilled)
    await vi.advanceTimersByTimeAsync(1_000)
    assert.isTrue(workers[1]!.isKilled)
    assert.include(lines, "Error: a worker did not end within 12 s and is killed")
    assert.strictEqual(status(), 1)
    assert.strictEqual(workers.length, 3, "no worker is replaced")
  })

  it.each([
    [0, 0],
    [1, 1]
  ])("ends with the status of workers that end with %i when they are told to", async (workerStatus, expected) => {
    const { status, group, workers } = await serving(2)
    group.stop()
    await settled()
    await workers[0]!.end({ status: workerStatus, signal: null })
    assert.isUndefined(status())
    await workers[1]!.end({ status: 0, signal: null })
    assert.strictEqual(status(), expected)
  })

  it("collects the metrics of all workers, without those that do not answer within a second", async () => {
    const { workers } = await serving(3)
    const [first, second] = workers as [FakeWorker, FakeWorker, FakeWorker]
    first.onMessage(first, { type: "collect", request: 7 })
    const [report] = first.sent
    assert.strictEqual(report?.type, "report")
    const { request } = report as { readonly request: number }
    second.onMessage(second, { type: "metrics", request, text: "second" })
    first.onMessage(first, { type: "metrics", request, text: "first" })
    await vi.advanceTimersByTimeAsync(999)
    assert.strictEqual(first.sent.length, 1)
    await vi.advanceTimersByTimeAsync(1)
    assert.deepStrictEqual(first.sent.at(-1), {
      type: "collected",
      request: 7,
      metrics: [
        { worker: 1, text: "first" },
        { worker: 2, text: "second" }
      ]
    })
  })
})
