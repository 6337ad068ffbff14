import { existsSync, readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"

const root = new URL("../../", import.meta.url)
const document = readFileSync(new URL("docs/conformance.md", root), "utf8")

/** The tests that the table names: `file`: title, several in one cell separated by `<br>`. */
const links = document
  .split("\n")
  .filter((line) => line.startsWith("| ") && !/^\| (sentence|---) \|/.test(line))
  .map((line) => {
    const [sentence = "", tests = ""] = line.slice(2, -2).split(" | ")
    return { sentence, tests: tests.split("<br>") }
  })

describe("the table of conformance", () => {
  it("has each sentence once, and a test for each", () => {
    expect(links.length).toBeGreaterThan(80)
    expect(new Set(links.map(({ sentence }) => sentence)).size).toBe(links.length)
    for (const { tests } of links) {
      for (const test of tests) expect(test).toMatch(/^`[\w/.-]+\.ts`: \S/)
    }
  })

  it("names tests that exist, by file and title", () => {
    const missing = links.flatMap(({ tests }) =>
      tests.filter((test) => {
        const [, file = "", title = ""] = /^`(.+?)`: (.+)$/.exec(test) ?? []
        const path = new URL(file, root)
        return !existsSync(path) || !hasLiteral(path, title)
      })
    )
    expect(missing).toEqual([])
  })
})

/** Returns whether a file has a string literal with this text. */
const hasLiteral = (path: URL, text: string): boolean => {
  const source = readFileSync(path, "utf8")
  return source.includes(`"${text.replaceAll('"', '\\"')}"`) || source.includes(`\`${text}\``)
}
