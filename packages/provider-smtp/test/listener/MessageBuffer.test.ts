import { ByteBudget } from "@agentos/core"
import { describe, expect, it } from "vitest"
import { BufferBudget } from "../../src/listener/MessageBuffer.ts"

const MIB = 1024 * 1024

const memory = () => new ByteBudget(64 * MIB)

describe("a mail while it arrives", () => {
  it("is returned unchanged, whatever its pieces", () => {
    for (const piece of [1, 7, 4_096, 16_384, 100_000, 3_000_000]) {
      const whole = Buffer.alloc(300_003, "0123456789")
      const buffer = new BufferBudget(64 * MIB, 1, memory()).open()!
      for (let at = 0; at < whole.length; at += piece) expect(buffer.append(whole.subarray(at, at + piece))).toBe(true)
      expect(buffer.size).toBe(whole.length)
      expect(whole.equals(buffer.take())).toBe(true)
    }
  })

  it("has memory of its own while it arrives, which later ones use again", () => {
    const budget = new BufferBudget(64 * MIB, 3, memory())
    const mailOf = (name: string) =>
      Array.from({ length: 16 }, (_, piece) => Buffer.alloc(MIB / 16, `${name}${piece} `))
    const [one, two, three] = [mailOf("one"), mailOf("two"), mailOf("three")]
    const first = budget.open()!
    for (const piece of one) first.append(piece)
    const taken = first.take()
    first.release()
    const [second, third] = [budget.open()!, budget.open()!]
    for (const [index, piece] of two.entries()) {
      second.append(piece)
      third.append(three[index]!)
    }
    const received = [taken, second.take(), third.take()]
    expect(received.map((whole, index) => Buffer.concat([one, two, three][index]!).equals(whole))).toEqual([
      true,
      true,
      true
    ])
  })

  it("takes little more memory than its size, however small its pieces", () => {
    const budget = new BufferBudget(64 * MIB, 1, memory())
    const buffer = budget.open()!
    for (let i = 0; i < 2_000_000; i++) buffer.append(Buffer.from("x\r\n"))
    expect(budget.bytes).toBeGreaterThanOrEqual(6_000_000)
    expect(budget.bytes).toBeLessThan(6_000_000 + 2 * MIB)
  })
})

describe("the memory of all messages", () => {
  it("is limited, and can be reused after its release", () => {
    const budget = new BufferBudget(2 * MIB, 10, memory())
    const first = budget.open()!
    const second = budget.open()!
    expect(first.append(Buffer.alloc(900_000))).toBe(true)
    expect(second.append(Buffer.alloc(900_000))).toBe(false)
    second.release()
    second.release()
    expect(second.append(Buffer.alloc(1))).toBe(false)
    first.release()
    expect(budget.bytes).toBe(0)
    expect(budget.open()!.append(Buffer.alloc(900_000))).toBe(true)
  })

  it("reserves its last eighth for small messages", () => {
    const budget = new BufferBudget(4 * MIB, 10, memory())
    const large = budget.open()!
    while (large.append(Buffer.alloc(MIB / 4)));
    expect(budget.bytes).toBeLessThanOrEqual(3.5 * MIB)
    for (let index = 0; index < 4; index++) expect(budget.open()!.append(Buffer.alloc(60_000))).toBe(true)
  })

  it("is part of the budgets around it, down to a sender's share", () => {
    const transit = new ByteBudget(MIB)
    const whole = new BufferBudget(4 * MIB, 10, transit)
    const share = new BufferBudget(3 * MIB, 10, whole)
    const buffer = share.open()!
    expect(buffer.append(Buffer.alloc(100_000))).toBe(true)
    expect(transit.usedBytes).toBe(whole.bytes)
    transit.reserve(MIB - transit.usedBytes)
    expect(buffer.append(Buffer.alloc(100_000))).toBe(false)
    const used = transit.usedBytes
    buffer.release()
    expect(used - transit.usedBytes).toBeGreaterThanOrEqual(100_000)
    expect([share.bytes, whole.bytes]).toEqual([0, 0])
  })

  it("is for a limited number of messages at the same time", () => {
    const budget = new BufferBudget(MIB, 2, memory())
    const held = [budget.open(), budget.open()]
    expect(budget.open()).toBeUndefined()
    expect(budget.admits(1)).toBe(false)
    held[0]?.release()
    expect(budget.admits(1)).toBe(true)
    expect(budget.admits(2 * MIB)).toBe(false)
  })
})
