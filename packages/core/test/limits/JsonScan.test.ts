import { type JsonBudget, JsonScanner, scanJson } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

const ample: JsonBudget = {
  depth: 1_000,
  elements: 10_000,
  keys: 10_000,
  keyBytes: 100_000,
  stringBytes: 100_000,
  plainBytes: 100_000
}
const small: JsonBudget = { depth: 3, elements: 4, keys: 3, keyBytes: 8, stringBytes: 8, plainBytes: 100_000 }

const encoder = new TextEncoder()

const scan = (text: string, budget = ample): string | undefined => {
  const flaw = scanJson(encoder.encode(text), budget)
  return flaw === undefined ? undefined : `${flaw.path}: ${flaw.message}`
}

/** The share of a budget that a value uses, measured by walking the value. */
interface Size {
  readonly depth: number
  readonly elements: number
  readonly keys: number
}

const NOTHING: Size = { depth: 0, elements: 0, keys: 0 }

const sum = (sizes: ReadonlyArray<Size>): Size =>
  sizes.reduce(
    (left, right) => ({
      depth: Math.max(left.depth, right.depth),
      elements: left.elements + right.elements,
      keys: left.keys + right.keys
    }),
    NOTHING
  )

const sizeOf = (value: Schema.Json): Size => {
  if (typeof value !== "object" || value === null) return NOTHING
  const inner = sum(Object.values(value).map(sizeOf))
  const count = Object.keys(value).length
  return Array.isArray(value)
    ? { ...inner, depth: inner.depth + 1, elements: inner.elements + Math.max(count, 1) }
    : { ...inner, depth: inner.depth + 1, keys: inner.keys + Math.max(count, 1) }
}

const keysOf = (value: Schema.Json): number =>
  typeof value !== "object" || value === null
    ? 0
    : Object.values(value).reduce<number>(
        (sum, inner) => sum + keysOf(inner),
        Array.isArray(value) ? 0 : Object.keys(value).length
      )

const fits = ({ depth, elements, keys }: Size, budget: JsonBudget): boolean =>
  depth <= budget.depth && elements <= budget.elements && keys <= budget.keys

const parse = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Json))

const STRING = /"(?:[^"\\]|\\.)*"/g

/** Fragments of JSON. Most sequences of them are not JSON; some are. */
const Piece = Schema.Literals(["{", "}", "[", "]", ",", ":", '"', "\\", '"a"', '"\\u0061"', '"a":', "0", " ", "null"])

describe("scanJson", () => {
  it("accepts texts whose objects have no repeated key", () => {
    const texts = [
      "{}",
      '{"a":1,"b":{"a":1},"c":[{"a":1},{"a":1}]}',
      '{"":"a","a":""}',
      '["a","a"]',
      '{"a":"a","b":"a"}',
      '{"a":"{[,\\"","b":"}]"}',
      '{"__proto__":1,"constructor":2}',
      "null",
      ""
    ]
    for (const text of texts) assert.isUndefined(scan(text), text)
  })

  it("reports a repeated key of an object in any spelling", () => {
    assert.strictEqual(scan('{"a":1,"a":1}'), "a: appears twice in one object")
    assert.strictEqual(scan('{"a":1,"\\u0061":2}'), "a: appears twice in one object")
    assert.strictEqual(scan('{"x":[{"a":1},{"b":1,"a":2,"b":3}]}'), "x.1.b: appears twice in one object")
    assert.strictEqual(scan('{"a":{"b":1},"a":{"b":1}}'), "a: appears twice in one object")
    assert.strictEqual(scan('{"":1,"":2}'), ": appears twice in one object")
    assert.isUndefined(scan('{"a":1,"\uFEFFa":2}'))
  })

  it("stops at the first place that exceeds the budget, and reports it", () => {
    assert.strictEqual(scan('{"a":[0,[0]]}', small), undefined)
    assert.strictEqual(scan('{"a":[0,[[0]]]}', small), "a.1.0: is nested more than 3 levels deep")
    assert.strictEqual(scan('{"a":[0,0,0,0,0]}', small), "a: has more than 4 array elements")
    assert.strictEqual(scan('{"a":[[],[],[]]}', small), "a: has more than 4 array elements")
    assert.strictEqual(scan('[{"a":0,"b":0,"c":0,"d":0}]', small), "0: has more than 3 properties")
    assert.strictEqual(scan("[{},{},{},{}]", small), "3: has more than 3 properties")
    assert.strictEqual(scan('{"a":"123456789"}', small), "a: must have at most 8 bytes")
    assert.strictEqual(scan('{"a":[0,"\\u0001\\u0001"]}', small), "a.1: must have at most 8 bytes")
    assert.strictEqual(scan('{"a":{"123456789":0}}', small), "a: has a property name longer than 8 bytes")
    assert.isUndefined(scan('{"12345678":"1234567\\""}', { ...small, stringBytes: 9 }))
    assert.isDefined(scan('{"12345678":"12345678\\""}', { ...small, stringBytes: 9 }))
  })

  it.prop("refuses a value exactly if it exceeds the budget", [Schema.Json], ([value]) => {
    const lengths = { keyBytes: 100_000, stringBytes: 100_000 }
    const budget = { ...small, ...lengths }
    for (const text of [JSON.stringify(value), JSON.stringify(value, null, 2)]) {
      assert.isUndefined(scan(text))
      assert.strictEqual(scan(text, budget) === undefined, fits(sizeOf(value), budget), text)
    }
  })

  it.prop("accepts no text whose parsed value exceeds the budget", [Schema.Array(Piece)], ([pieces]) => {
    const text = pieces.join("")
    const value = parse(text)
    if (scan(text, small) !== undefined || value._tag === "None") return
    assert.isTrue(fits(sizeOf(value.value), small), text)
    // A parsed value would have lost a key that the text repeats.
    assert.strictEqual(keysOf(value.value), text.replaceAll(STRING, "").split(":").length - 1, text)
  })

  it.prop(
    "scans any bytes to their end",
    [Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 })))],
    ([bytes]) => {
      assert.doesNotThrow(() => scanJson(Uint8Array.from(bytes), small))
      assert.doesNotThrow(() => scanJson(Uint8Array.from([BRACE_AND_QUOTE, bytes].flat()), ample))
    }
  )

  it.prop(
    "finds the end of a text of any length, with quotes and backslashes",
    [
      Schema.Array(Schema.Literals(["a".repeat(61), "a", '"', "\\", "\\\\", "é"])),
      Schema.Literals(["", "b".repeat(63)])
    ],
    ([parts, last]) => {
      const text = JSON.stringify([parts.join("") + last, 0])
      assert.isUndefined(scan(text, { ...ample, elements: 2 }))
      assert.strictEqual(scan(text, { ...ample, elements: 1 }), ": has more than 1 array elements")
    }
  )

  it("counts every byte outside of strings, and the quotes", () => {
    const budget = { ...ample, plainBytes: 10 }
    for (const text of [
      "[1,2,3,4]",
      "1234567890",
      "          ",
      ",,,,,,,,,,",
      '""""""""""',
      '"[1,2,3,4,5,6]"       '
    ]) {
      assert.isUndefined(scan(text, budget), text)
    }
    const more = ["[1,2,3,4] ", "1234567890", "          ", ",,,,,,,,,,", '""""""""""', '{"a":"b"}123', "{}        "]
    for (const text of more) {
      assert.strictEqual(scan(`${text}1`, budget), ": must have at most 10 bytes outside of strings", text)
    }
  })

  it("refuses a key that is not a JSON string", () => {
    assert.strictEqual(scan('{"\\x":1}'), ": must be JSON in UTF-8")
  })

  it.prop(
    "finds the same in a text that arrives in parts",
    [Schema.Array(Piece), Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 9 })), Schema.Json],
    ([pieces, partBytes, value]) => {
      for (const text of [
        pieces.join(""),
        JSON.stringify(value),
        '{"\u00e9\u20ac\ud83d\ude00":"\\"",""',
        '{"\\\"":"\\\\"}'
      ]) {
        const bytes = encoder.encode(text)
        for (const budget of [ample, small, { ...small, keyBytes: 1, plainBytes: 5 }]) {
          const scanner = new JsonScanner(budget)
          let flaw
          for (let start = 0; start < bytes.length && flaw === undefined; start += partBytes) {
            flaw = scanner.scan(bytes.subarray(start, start + partBytes))
          }
          assert.deepStrictEqual(flaw, scanJson(bytes, budget), text)
        }
      }
    }
  )

  it("scans 12 MB of any text in one pass", () => {
    const megabytes = 12 * 1024 * 1024
    const texts = [
      " ",
      "[",
      "{",
      "{}",
      "[{}{}",
      '"a""a"',
      '{"a","a"',
      '"',
      "\\",
      '"a"',
      '{"a":',
      "0,",
      "[],",
      '"",',
      '{"a":"\\"',
      "\u00e9"
    ]
    const bytes = texts.map((text) => encoder.encode(text.repeat(megabytes / text.length)))
    const start = process.cpuUsage()
    for (const text of bytes) scanJson(text, { ...small, stringBytes: megabytes, plainBytes: 64 * 1024 })
    const { system, user } = process.cpuUsage(start)
    // About 20 ms for each text that is scanned to its end.
    assert.isBelow((user + system) / 1_000, 2_000)
  })
})

/** `{"` */
const BRACE_AND_QUOTE = [0x7b, 0x22]
