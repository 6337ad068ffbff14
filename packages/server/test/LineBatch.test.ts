import { afterEach, assert, beforeEach, describe, it, vi } from "@effect/vitest"
import { LineBatch } from "../src/LineBatch.ts"

describe("LineBatch", () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  const batch = () => {
    const written: Array<string> = []
    return { written, lines: new LineBatch((text) => void written.push(text)) }
  }

  it("writes the lines of ten milliseconds at once, in order", () => {
    const { lines, written } = batch()
    lines.append("a")
    lines.append("b")
    vi.advanceTimersByTime(9)
    assert.deepStrictEqual(written, [])
    vi.advanceTimersByTime(1)
    assert.deepStrictEqual(written, ["a\nb\n"])
    lines.append("c")
    vi.advanceTimersByTime(10)
    assert.deepStrictEqual(written, ["a\nb\n", "c\n"])
  })

  it("writes at once when 64 Ki characters wait", () => {
    const { lines, written } = batch()
    lines.append("a")
    lines.append("b".repeat(64 * 1024))
    assert.strictEqual(written.length, 1)
    vi.advanceTimersByTime(10)
    assert.strictEqual(written.length, 1)
  })

  it("writes the lines that wait when it is flushed, and nothing twice", () => {
    const { lines, written } = batch()
    lines.append("a")
    lines.flush()
    lines.flush()
    vi.advanceTimersByTime(10)
    assert.deepStrictEqual(written, ["a\n"])
  })
})
