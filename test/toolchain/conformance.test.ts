import { existsSync, readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"

const root = new URL("../../", import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), "utf8")

/** The tests that the table names: `file`: title, several in one cell separated by `<br>`. */
const links = read("docs/conformance.md")
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
    expect(missing(links.flatMap(({ tests }) => tests))).toEqual([])
  })
})

describe("the tables of attacks", () => {
  const rows = read("docs/attacks.md")
    .split("\n")
    .filter((line) => line.includes(".ts`: "))
    .map((line) => {
      const named = line.split(/ \| |<br>/).filter((part) => /^`[\w/.-]+\.ts`: /.test(part))
      return { code: named.filter((part) => part.endsWith("`")), tests: named.filter((part) => !part.endsWith("`")) }
    })

  it("name the code of each defense, and the tests that attack it", () => {
    expect(rows.length).toBeGreaterThan(10)
    for (const { code, tests } of rows) expect([code.length > 0, tests.length > 0]).toEqual([true, true])
    expect(missing(rows.flatMap(({ tests }) => tests))).toEqual([])
    const unknown = rows
      .flatMap(({ code }) => code)
      .filter((part) => {
        const [, file = "", name = ""] = /^`(.+?)`: `(\w+)`$/.exec(part) ?? []
        return !existsSync(new URL(file, root)) || !new RegExp(`\\b${name}\\b`).test(read(file))
      })
    expect(unknown).toEqual([])
  })

  it("name every test of the attacks", () => {
    const titles = [...read("test/e2e/attacks.test.ts").matchAll(/^ {4}(?:it\(|\]\)\()"(.+?)", async/gm)].map(
      ([, title]) => title
    )
    const named = new Set(rows.flatMap(({ tests }) => tests).map((test) => test.replace(/^`.+?`: /, "")))
    expect(titles.length).toBeGreaterThan(10)
    expect(titles.filter((title) => !named.has(title!))).toEqual([])
  })
})

/** Returns the tests, as `file`: title, that do not exist. */
const missing = (tests: ReadonlyArray<string>): ReadonlyArray<string> =>
  tests.filter((test) => {
    const [, file = "", title = ""] = /^`(.+?)`: (.+)$/.exec(test) ?? []
    const path = new URL(file, root)
    return !existsSync(path) || !hasLiteral(path, title)
  })

/** Returns whether a file has a string literal with this text. */
const hasLiteral = (path: URL, text: string): boolean => {
  const source = readFileSync(path, "utf8")
  return source.includes(`"${text.replaceAll('"', '\\"')}"`) || source.includes(`\`${text}\``)
}
