import { describe, expect, it } from "vitest"
import { expectLinear } from "../support/Growth.ts"

const letters = (size: number): string => "a".repeat(size)

describe("expectLinear", () => {
  it("accepts work that grows with the size", () => {
    expectLinear({ make: letters, read: (text) => text.split("").join("-").length, sizeMaxBytes: 1 << 20 })
  })

  it("fails for work that grows with the square of the size", () => {
    const read = (text: string): number => {
      let pairs = 0
      for (let one = 0; one < text.length; one++) for (let other = 0; other < text.length; other++) pairs += other & one
      return pairs
    }
    expect(() => expectLinear({ make: letters, read, sizeMaxBytes: 1 << 15 })).toThrow(/growth by doubling/)
  })
})
