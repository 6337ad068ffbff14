import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { TABLES } from "../src/Migrations.ts"

const PAGE = new URL("../../../docs/retention.md", import.meta.url)
const MIGRATIONS = "agentos_migrations"

describe("docs/retention.md", () => {
  it("says what bounds each table of the schema, in alphabetical order", () => {
    const rows = [...readFileSync(PAGE, "utf8").matchAll(/^\| `(?<table>\w+)` \| (?<bound>.+) \|$/gm)]
    const named = rows.map(({ groups }) => groups?.["table"])
    assert.deepStrictEqual(named, [...TABLES, MIGRATIONS].toSorted())
  })
})
