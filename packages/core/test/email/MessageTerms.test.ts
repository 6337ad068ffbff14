import { searchWords } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

const AsciiCode = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 127 }))

describe("searchWords", () => {
  it.prop("finds the same words whether a text is ASCII or not", [Schema.Array(AsciiCode)], ([codes]) => {
    const text = String.fromCharCode(...codes)
    assert.deepStrictEqual([...searchWords(text), "é"], searchWords(`${text} é`))
  })

  it("cuts long words and stops at 5,000 of them", () => {
    const words = Array.from({ length: 6_000 }, (_, index) => `w${index}`)
    for (const more of ["", " é"]) {
      assert.deepStrictEqual(searchWords(`${"x".repeat(100)} ${words.join(",")}${more}`), [
        "x".repeat(64),
        ...words.slice(0, 4_999)
      ])
    }
  })
})
