import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Table, UndoLog } from "../src/Table.ts"

interface Row {
  readonly key: string
  readonly colour: string | null
}

const KEYS = ["a", "b", "c"]
const COLOURS = ["red", "blue", null]

const upTo = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))

const Step = Schema.Union([
  Schema.TaggedStruct("Set", { key: upTo(2), colour: upTo(2) }),
  Schema.TaggedStruct("Delete", { key: upTo(2) }),
  Schema.TaggedStruct("Commit", {}),
  Schema.TaggedStruct("Rollback", {})
])

const byKey = (a: Row, b: Row) => (a.key < b.key ? -1 : 1)

describe("Table", () => {
  it.prop(
    "contains rows that were set and not undone, under their key and index",
    [Schema.Array(Step).check(Schema.isMaxLength(40))],
    ([steps]) => {
      const undoLog = new UndoLog()
      const table = new Table<Row, "colour">(undoLog, { colour: (row) => row.colour })
      let committed = new Map<string, Row>()
      let rows = new Map<string, Row>()
      for (const step of steps) {
        switch (step._tag) {
          case "Set": {
            const row = { key: KEYS[step.key]!, colour: COLOURS[step.colour]! }
            table.set(row.key, row)
            rows.set(row.key, row)
            break
          }
          case "Delete":
            table.delete(KEYS[step.key]!)
            rows.delete(KEYS[step.key]!)
            break
          case "Commit":
            undoLog.commit()
            committed = new Map(rows)
            break
          case "Rollback":
            undoLog.rollback()
            rows = new Map(committed)
            break
        }
        const expected = [...rows.values()].toSorted(byKey)
        assert.deepStrictEqual(table.rows().toSorted(byKey), expected)
        for (const key of KEYS) {
          assert.strictEqual(table.get(key), rows.get(key))
          assert.strictEqual(table.has(key), rows.has(key))
        }
        for (const colour of ["red", "blue"]) {
          assert.deepStrictEqual(
            table.where("colour", colour).toSorted(byKey),
            expected.filter((row) => row.colour === colour)
          )
        }
      }
    },
    { arbitrary: { runs: 300 } }
  )

  it("returns rows that a later change does not modify", () => {
    const table = new Table<Row, "colour">(new UndoLog(), { colour: (row) => row.colour })
    table.set("a", { key: "a", colour: "red" })
    const before = table.where("colour", "red")
    table.delete("a")
    assert.deepStrictEqual(before, [{ key: "a", colour: "red" }])
    assert.deepStrictEqual(table.where("colour", "red"), [])
  })
})
