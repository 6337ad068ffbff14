import { scanJson } from "@agentos/core"
import { assert, describe, it } from "vitest"
import { parseHeaderJson } from "../../src/header/HeaderJson.ts"

const BUDGET = { depth: 3, elements: 4, keys: 4, keyBytes: 100, stringBytes: 100, plainBytes: 100 }

const parse = (text: string) => parseHeaderJson(Buffer.from(text), BUDGET)

describe("The JSON of a header", () => {
  for (const text of ["null", "[]", "[[[]]]", '{"a":{"b":{}}}', "[1,2,3,4]", '{"a":1,"b":[1,[2]],"c":{"d":"[]"}}'])
    it(`is read if it is within its budget: ${text}`, () => {
      assert.deepInclude(parse(text), { json: JSON.parse(text), text })
      assert.isUndefined(scanJson(Buffer.from(text), BUDGET))
    })

  for (const text of [
    "[[[[]]]]",
    '{"a":{"b":{"c":{}}}}',
    "[1,2,3,4,5]",
    "[[],[],[]]",
    '{"a":1,"b":1,"c":1,"d":1,"e":1}',
    '{"a":{},"b":{},"c":{}}',
    '{"a":1,"a":2}',
    '{"a":1,"\\u0061":2}',
    '[1, 2, {"a": 1, "a": 2}]'
  ])
    it(`is refused with the flaw that a scan finds: ${text}`, () => {
      const flaw = scanJson(Buffer.from(text), BUDGET)
      assert.isDefined(flaw)
      assert.deepStrictEqual(parse(text), flaw)
    })

  it("is read if it is written in another way than JSON.stringify does", () => {
    assert.deepInclude(parse('{ "b": 1.0, "1": 2 }'), { json: { 1: 2, b: 1 }, text: '{"1":2,"b":1}' })
  })

  it("is neither a value nor a flaw if it is not JSON", () => {
    for (const text of ["", "{", "[1,]", "\ufeff{}"]) assert.isUndefined(parse(text), text)
  })
})
