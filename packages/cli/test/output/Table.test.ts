import { decimalOf, unitsOf } from "@agentos/client"
import {
  type Column,
  displayWidth,
  nearest,
  plain,
  plainJson,
  plainLine,
  table,
  tabSeparated,
  truncate
} from "@agentos/node/command-line"
import { assert, describe, it } from "vitest"
import { durationOf } from "../../src/output/Wording.ts"

interface Row {
  readonly id: string
  readonly text: string
}
const columns: ReadonlyArray<Column<Row>> = [
  { heading: "TEXT", value: ({ text }) => text },
  { heading: "ID", value: ({ id }) => id, id: true }
]
const draw = (rows: ReadonlyArray<Row>, width: number) =>
  table(rows, columns, { columns: width, heading: (text) => text })

const ID = "0190f3c2-0000-7000-8000-0000000c0de1"

describe("table", () => {
  it("cuts text to the width of the terminal, but no ids", () => {
    const lines = draw([{ id: ID, text: "a long text ".repeat(20) }], 80)
      .trimEnd()
      .split("\n")
    for (const line of lines) assert.isAtMost(displayWidth(line), 80)
    assert.include(lines[1], "…")
    assert.isTrue(lines[1]!.endsWith("  000c0de1"))
  })

  it("leaves out the columns that a narrow terminal can do without, and then cuts", () => {
    const shape: ReadonlyArray<Column<Row>> = [
      { heading: "TEXT", value: ({ text }) => text },
      { heading: "FIRST", value: () => "x".repeat(20), whole: true, drop: 2 },
      { heading: "NEXT", value: () => "y".repeat(20), whole: true, drop: 1 },
      { heading: "ID", value: ({ id }) => id, id: true }
    ]
    const headings = (width: number) =>
      table([{ id: ID, text: "a long text ".repeat(20) }], shape, { columns: width, heading: (text) => text })
        .split("\n")[0]!
        .split(/ +/)
    assert.deepStrictEqual(headings(80), ["TEXT", "FIRST", "NEXT", "ID"])
    assert.deepStrictEqual(headings(60), ["TEXT", "NEXT", "ID"])
    assert.deepStrictEqual(headings(30), ["TEXT", "ID"])
  })

  it("prints records if a line cannot fit", () => {
    const rows = [
      { id: ID, text: "a long text that goes on" },
      { id: ID, text: "" }
    ]
    assert.strictEqual(draw(rows, 15), "TEXT  a long text that goes on\nID    000c0de1\n\nID  000c0de1\n")
  })

  it("does not cut a column that wraps", () => {
    const text = "a long text ".repeat(20).trim()
    const shape: ReadonlyArray<Column<Row>> = [
      { heading: "ID", value: ({ id }) => id, whole: true },
      { heading: "FOUND", value: (row) => row.text, wraps: true }
    ]
    const drawn = table([{ id: "1", text }], shape, { columns: 40, heading: (heading) => heading })
    assert.strictEqual(drawn, `ID  FOUND\n1   ${text}\n`)
  })

  it("aligns wide characters and keeps each row on one line", () => {
    const text = draw(
      [
        { id: "1", text: "日本" },
        { id: "2", text: "ab\ncd" },
        { id: "3", text: "" }
      ],
      80
    )
    assert.strictEqual(text, "TEXT   ID\n日本   1\nab cd  2\n-      3\n")
  })

  it("gives programs whole values between tabs, without headings", () => {
    const rows = [
      { id: ID, text: "x".repeat(500) },
      { id: ID, text: "a\tb\nc" },
      { id: ID, text: "" }
    ]
    assert.strictEqual(tabSeparated(rows, columns), `${"x".repeat(500)}\t${ID}\na b c\t${ID}\n\t${ID}\n`)
  })
})

describe("plain", () => {
  it("replaces control characters except newline and tab", () => {
    for (let code = 0; code < 0xa0; code++) {
      const character = String.fromCharCode(code)
      const isControl = code < 0x20 || (code >= 0x7f && code < 0xa0)
      const isKept = !isControl || character === "\n" || character === "\t"
      assert.strictEqual(plain(character), isKept ? character : "\ufffd", `U+${code.toString(16)}`)
    }
  })

  it.each([
    ["turn the direction of text", "a\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069b"],
    ["take no room", "a\u00ad\u034f\u180e\u200b\u2060\u2061\u2064\ufeffb"],
    ["look empty and are letters", "a\u115f\u1160\u17b4\u3164\uffa0b"],
    ["spell text that is not seen", "a\u{e0001}\u{e0068}\u{e0069}\u{e007f}\u{e0101}\u{e01ef}b"],
    ["are deprecated or annotate", "a\u206a\u206f\ufff9\ufffbb"],
    ["select a variation of a letter", "a\ufe00\ufe01\ufe0fb"],
    ["join nothing", "a\u200d\u200c\u200d\u200cb"],
    ["join Latin letters", "a\u200cb\u200db"]
  ])("replaces characters that %s", (_what, text) => {
    assert.match(plain(text), /^a\ufffdb(?:\ufffdb)?$/)
    assert.match(plainLine(text), /^a\ufffdb(?:\ufffdb)?$/)
    const json = plainJson({ text })
    assert.match(json, /^[ -~]*$/)
    assert.deepStrictEqual(JSON.parse(json), { text })
  })

  it("keeps emoji and scripts with joiners", () => {
    for (const text of ["👩‍💻", "❤️", "🏳️‍🌈", "می‌خواهم", "क्‍ष", "日本", "עברית"]) {
      assert.strictEqual(plain(text), text)
      assert.include(plainJson({ text }), text)
    }
  })

  it("truncates between characters", () => {
    assert.strictEqual(truncate("日本語", 4), "日…")
    assert.strictEqual(truncate("abc", 3), "abc")
  })
})

describe("wording", () => {
  it("formats and parses amounts exactly", () => {
    for (const [units, text] of [
      [0n, "0.00"],
      [1n, "0.000001"],
      [250_000n, "0.25"],
      [5_000_000n, "5.00"],
      [10n ** 30n + 100_000n, `${10n ** 24n}.10`]
    ] as const) {
      assert.strictEqual(decimalOf(units), text)
      assert.strictEqual(unitsOf(text), units)
    }
    for (const wrong of ["", "1.", ".5", "-1", "1e3", "0.0000001", "1,5"]) assert.isUndefined(unitsOf(wrong))
  })

  it("formats durations in their two largest units", () => {
    assert.deepStrictEqual([0, 59, 60, 3_661, 2_588_400].map(durationOf), [
      "0 s",
      "59 s",
      "1 min",
      "1 h 1 min",
      "29 d 23 h"
    ])
  })

  it("suggests similar words only", () => {
    assert.strictEqual(nearest("lsit", ["list", "read"]), "list")
    assert.strictEqual(nearest("compl", ["config", "completion"]), "completion")
    assert.isUndefined(nearest("zebra", ["list", "read"]))
  })
})
