import { describe, expect, it } from "vitest"
import { bodyText, headerText } from "../../src/parser/TextLimits.ts"

describe("headerText", () => {
  it("headerText", () => {
    expect(headerText(" a\r\n\tb\u0000c\u0085d ", 100)).toBe("a b c d")
  })

  it("is well-formed and no longer than the limit", () => {
    expect(headerText("\ud800x", 100)).toBe("\ufffdx")
    expect(headerText("ab😀", 3)).toBe("ab")
    expect(headerText("ab😀", 4)).toBe("ab😀")
    expect(headerText("x".repeat(1_000_000), 998)).toHaveLength(998)
  })
})

describe("bodyText", () => {
  it("keeps lines, drops U+0000, replaces lone surrogates", () => {
    expect(bodyText("a\r\n\u0000b\n\udfff", 100)).toBe("a\r\nb\n\ufffd")
  })

  it("is cut at the limit in bytes, between characters", () => {
    for (const character of ["a", "é", "€", "😀"]) {
      for (let limit = 0; limit < 12; limit++) {
        const cut = bodyText(character.repeat(20), limit)
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(limit)
        expect(cut).toBe(character.repeat(Math.floor(limit / Buffer.byteLength(character))))
      }
    }
  })

  it("is complete if it just fits", () => {
    expect(bodyText("ééé", 6)).toBe("ééé")
  })
})
