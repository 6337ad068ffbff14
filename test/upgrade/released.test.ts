import { readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { changedSince, readRelease, RELEASES, schemaDigests } from "./Release.ts"

const ROOT = fileURLToPath(new URL("../../", import.meta.url))

describe("the table of versions that run side by side", () => {
  it("has each recorded release", async () => {
    const page = await readFile(`${ROOT}packages/site/content/deploy.md`, "utf8")
    const [, section = ""] = page.split("\n### Versions side by side\n")
    const rows = section.split("\n## ")[0]!.matchAll(/^\| (\d\S*) \|/gm)
    expect([...rows].map(([, version]) => version)).toEqual(RELEASES)
  })
})

describe("the schema of a release", () => {
  it.each(RELEASES)("%s is unchanged", async (version) => {
    expect(changedSince(await readRelease(version), await schemaDigests(ROOT))).toEqual([])
  })

  it("may be followed by other migrations, but not changed", () => {
    const released = { version: "1.2.0", schema: { "0001_one": "a", "0002_two": "b", "index three": "c" } }
    expect(changedSince(released, { ...released.schema, "0003_four": "d" })).toEqual([])
    expect(changedSince(released, { "0001_one": "a", "0002_two": "other" })).toEqual([
      "0002_two was released with 1.2.0 and is changed. Restore it, and add another migration after the last one.",
      "index three was released with 1.2.0 and is removed. Restore it, and add another migration after the last one."
    ])
  })
})
