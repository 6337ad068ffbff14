import { afterEach, assert, beforeEach, describe, it, vi } from "@effect/vitest"
import { type ByteSink, LineWriter } from "../../src/output/LineWriter.ts"

type Done = Parameters<ByteSink["write"]>[2]

/** A reader that takes bytes when it is told to. */
class Reader implements ByteSink {
  readonly written: Array<string> = []
  #pending: { readonly bytes: Uint8Array; readonly offset: number; readonly done: Done } | undefined

  write(bytes: Uint8Array, offset: number, done: Done): void {
    assert.isUndefined(this.#pending, "two writes at the same time")
    this.#pending = { bytes, offset, done }
  }

  writeSync(bytes: Uint8Array, offset: number): number {
    this.written.push(Buffer.from(bytes.subarray(offset)).toString())
    return bytes.length - offset
  }

  /** Takes the pending write, or its first bytes. */
  take(limit = Number.POSITIVE_INFINITY): void {
    const { bytes, done, offset } = this.#finish()
    const end = Math.min(bytes.length, offset + limit)
    this.written.push(Buffer.from(bytes.subarray(offset, end)).toString())
    done(null, end - offset)
  }

  fail(code: string): void {
    this.#finish().done(Object.assign(new Error(code), { code }), 0)
  }

  get isWaiting(): boolean {
    return this.#pending === undefined
  }

  #finish() {
    const pending = this.#pending
    assert.isDefined(pending, "nothing is written")
    this.#pending = undefined
    return pending!
  }
}

describe("LineWriter", () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  const setUp = (room?: { readonly droppable: number; readonly all: number }) => {
    const reader = new Reader()
    const dropped: Array<number> = []
    return { reader, dropped, lines: new LineWriter(reader, (count) => void dropped.push(count), room) }
  }

  it("writes the lines of ten milliseconds at once, in order", () => {
    const { lines, reader } = setUp()
    lines.append("a")
    lines.append("b")
    vi.advanceTimersByTime(9)
    assert.isTrue(reader.isWaiting)
    vi.advanceTimersByTime(1)
    reader.take()
    lines.append("c")
    vi.advanceTimersByTime(10)
    reader.take()
    assert.deepStrictEqual(reader.written, ["a\nb\n", "c\n"])
  })

  it("writes nothing before the reader has taken the last bytes, and all that came meanwhile at once", () => {
    const { lines, reader } = setUp()
    lines.append("abc")
    lines.flush()
    lines.append("d")
    lines.append("e")
    lines.flush()
    vi.advanceTimersByTime(1_000)
    reader.take(2)
    reader.take()
    reader.take()
    assert.deepStrictEqual(reader.written, ["ab", "c\n", "d\ne\n"])
  })

  it("lets the lines that came during a write wait for others", () => {
    const { lines, reader } = setUp()
    lines.append("a")
    vi.advanceTimersByTime(10)
    lines.append("b")
    reader.take()
    lines.append("c")
    vi.advanceTimersByTime(9)
    assert.isTrue(reader.isWaiting)
    vi.advanceTimersByTime(1)
    reader.take()
    assert.deepStrictEqual(reader.written, ["a\n", "b\nc\n"])
  })

  it("drops lines beyond the room for them, keeps the others, and reports the number once a second", () => {
    const { dropped, lines, reader } = setUp({ droppable: 10, all: 20 })
    lines.append("first")
    lines.flush()
    for (let count = 0; count < 5; count++) lines.append("1234", true)
    lines.append("important")
    lines.append("important too")
    vi.advanceTimersByTime(999)
    assert.deepStrictEqual(dropped, [])
    vi.advanceTimersByTime(1)
    assert.deepStrictEqual(dropped, [4])
    reader.take()
    vi.advanceTimersByTime(10)
    reader.take()
    assert.deepStrictEqual(reader.written, ["first\n", "1234\n1234\nimportant\n"])
    lines.append("1234", true)
    vi.advanceTimersByTime(10_000)
    reader.take()
    assert.deepStrictEqual(reader.written.at(-1), "1234\n")
    assert.strictEqual(dropped.length, 1)
  })

  it("tries again when a pipe is full, and drops the lines that a closed reader did not take", () => {
    const { dropped, lines, reader } = setUp()
    lines.append("a")
    lines.flush()
    reader.fail("EAGAIN")
    assert.isTrue(reader.isWaiting)
    vi.advanceTimersByTime(10)
    reader.take()
    assert.deepStrictEqual(reader.written, ["a\n"])
    lines.append("b")
    lines.append("c")
    lines.flush()
    lines.append("d")
    reader.fail("EPIPE")
    vi.advanceTimersByTime(10)
    reader.take()
    vi.advanceTimersByTime(1_000)
    assert.deepStrictEqual(reader.written, ["a\n", "d\n"])
    assert.deepStrictEqual(dropped, [2])
  })

  it("writes each line once at the exit, whether it waits, is being written or is tried again", () => {
    const { lines, reader } = setUp()
    lines.append("a")
    lines.flush()
    lines.append("b")
    lines.writeRest()
    assert.deepStrictEqual(reader.written, ["b\n"], "the bytes that a thread writes are not written twice")

    const second = setUp()
    second.lines.append("a")
    second.lines.flush()
    second.reader.fail("EAGAIN")
    second.lines.append("b")
    second.lines.writeRest()
    assert.deepStrictEqual(second.reader.written, ["a\n", "b\n"])
    second.lines.writeRest()
    assert.strictEqual(second.reader.written.length, 2)
  })

  it("is drained once the reader has taken everything", async () => {
    const { lines, reader } = setUp()
    await lines.drained()
    lines.append("a")
    let isDrained = false
    const drained = lines.drained().then(() => (isDrained = true))
    lines.append("b")
    reader.take()
    await Promise.resolve()
    assert.isFalse(isDrained)
    reader.take()
    await drained
    assert.deepStrictEqual(reader.written, ["a\n", "b\n"])
  })
})
