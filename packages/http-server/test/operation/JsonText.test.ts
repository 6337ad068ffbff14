import { assert, describe, it } from "@effect/vitest"
import { findFlaw } from "../../src/operation/JsonText.ts"

const flawOf = (text: string) => {
  const flaw = findFlaw(text)
  return flaw === undefined ? undefined : `${flaw.path}: ${flaw.message}`
}

describe("findFlaw", () => {
  it("passes over texts in which each object has each key once", () => {
    const texts = [
      "{}",
      '{"a":1,"b":{"a":1},"c":[{"a":1},{"a":1}]}',
      '{"":"a","a":""}',
      '["a","a"]',
      '{"a":"a","b":"a"}',
      '{"__proto__":1,"constructor":2}',
      "null",
      ""
    ]
    for (const text of texts) assert.isUndefined(flawOf(text), text)
  })

  it("finds a key that is there twice, however it is spelled", () => {
    assert.strictEqual(flawOf('{"a":1,"a":1}'), "a: the same property twice")
    assert.strictEqual(flawOf('{"a":1,"\\u0061":2}'), "a: the same property twice")
    assert.strictEqual(flawOf('{"x":[{"a":1},{"b":1,"a":2,"b":3}]}'), "x.1.b: the same property twice")
    assert.strictEqual(flawOf('{"a":{"b":1},"a":{"b":1}}'), "a: the same property twice")
    assert.strictEqual(flawOf('{"":1,"":2}'), ": the same property twice")
  })

  it("goes no deeper than any body does", () => {
    assert.isUndefined(flawOf("[".repeat(32) + "]".repeat(32)))
    assert.match(flawOf("[".repeat(33)) ?? "", /nested too deeply$/)
    assert.match(flawOf('{"a":'.repeat(1_000_000)) ?? "", /nested too deeply$/)
  })
})
