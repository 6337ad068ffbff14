import { describe, expect, it } from "vitest"
import { BufferBudget } from "../../src/listener/MessageBuffer.ts"

const MIB = 1024 * 1024

describe("a mail as it arrives", () => {
  it("comes out as it went in, whatever its pieces", () => {
    for (const piece of [1, 7, 4_096, 16_384, 100_000, 3_000_000]) {
      const whole = Buffer.alloc(300_003, "0123456789")
      const buffer = new BufferBudget(64 * MIB, 1).open()!
      for (let at = 0; at < whole.length; at += piece) expect(buffer.append(whole.subarray(at, at + piece))).toBe(true)
      expect(buffer.size).toBe(whole.length)
      expect(whole.equals(buffer.take())).toBe(true)
    }
  })

  it("takes little more memory than its size, however small its pieces", () => {
    const budget = new BufferBudget(64 * MIB, 1)
    const buffer = budget.open()!
    for (let i = 0; i < 2_000_000; i++) buffer.append(Buffer.from("x\r\n"))
    expect(budget.bytes).toBeGreaterThanOrEqual(6_000_000)
    expect(budget.bytes).toBeLessThan(6_000_000 + 2 * MIB)
  })
})

describe("the memory of all mails", () => {
  it("is bounded, and given back", () => {
    const budget = new BufferBudget(MIB, 10)
    const first = budget.open()!
    const second = budget.open()!
    expect(first.append(Buffer.alloc(700_000))).toBe(true)
    expect(second.append(Buffer.alloc(700_000))).toBe(false)
    second.release()
    second.release()
    expect(second.append(Buffer.alloc(1))).toBe(false)
    first.release()
    expect(budget.bytes).toBe(0)
    expect(budget.open()!.append(Buffer.alloc(700_000))).toBe(true)
  })

  it("is for so many mails at a time", () => {
    const budget = new BufferBudget(MIB, 2)
    const held = [budget.open(), budget.open()]
    expect(budget.open()).toBeUndefined()
    expect(budget.admits(1)).toBe(false)
    held[0]?.release()
    expect(budget.admits(1)).toBe(true)
    expect(budget.admits(2 * MIB)).toBe(false)
  })
})
