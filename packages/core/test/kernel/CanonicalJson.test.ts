import { assert, describe, it } from "@effect/vitest"
import * as CanonicalJson from "../../src/kernel/CanonicalJson.ts"

describe("CanonicalJson", () => {
  it("does not depend on the order of members", () => {
    const one = { b: [1, { d: null, c: "é\n" }], a: 1.5, "10": true }
    const other = { a: 1.5, "10": true, b: [1, { c: "é\n", d: null }] }
    assert.strictEqual(CanonicalJson.encode(one), '{"10":true,"a":1.5,"b":[1,{"c":"é\\n","d":null}]}')
    assert.strictEqual(CanonicalJson.encode(other), CanonicalJson.encode(one))
  })

  it("distinguishes values that differ", () => {
    const texts = [{ a: "1" }, { a: 1 }, { a: null }, {}, [], ["a"], "a"].map((value) => CanonicalJson.encode(value))
    assert.lengthOf(new Set(texts), texts.length)
  })

  it("refuses values that are not JSON, or are nested in more than 16 levels", () => {
    for (const value of [undefined, 1n, Number.NaN, { a: undefined }, [() => 1]]) {
      assert.isUndefined(CanonicalJson.encode(value))
    }
    const nested = (levels: number): unknown => (levels === 0 ? "" : [nested(levels - 1)])
    assert.isString(CanonicalJson.encode(nested(16)))
    assert.isUndefined(CanonicalJson.encode(nested(17)))
  })
})
