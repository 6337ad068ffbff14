import * as core from "@agentos/core"
import { EventType } from "@agentos/core"
import { at, document } from "../build/Contract.ts"
import { textFiles } from "../build/Files.ts"
import { groups } from "../build/Site.ts"
import { describe, expect, it } from "vitest"

const files = textFiles()
const read = (name: string): string => files.get(name) ?? ""

const pages = [...files].filter(([name]) => name.endsWith(".md"))

/** Returns the anchors of a page: its headings, as the site makes them, and explicit ids. */
const anchorsOf = (markdown: string): ReadonlySet<string> =>
  new Set(
    [...markdown.replaceAll(/^```[^]*?^```$/gm, "").matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
      heading
        .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-")
    )
  )

describe("the texts of the documentation", () => {
  it("name the contracts for programs where readers begin", () => {
    for (const name of ["llms.txt", "docs/index.md"]) {
      expect(read(name)).toContain("/openapi.json")
      expect(read(name)).toContain("/asyncapi.json")
    }
    expect(read("llms.txt")).toContain("/.well-known/agent-skills/index.json")
  })

  it("cover every operation, event, error code and protocol", () => {
    const whole = read("llms-full.txt")
    for (const { path } of core.CATALOG) expect(whole).toContain(path)
    for (const type of EventType.literals) expect(whole).toContain(`# ${type}\n`)
    for (const code of core.ErrorCode.literals) expect(whole).toContain(`# ${code}\n`)
    for (const word of [
      "PAYMENT-SIGNATURE",
      "Idempotency-Key",
      "PAYMENT_PENDING",
      "setSpendControls",
      "session.authenticate",
      "X-Service-Signature",
      "transcriptSoFar",
      "application/x-ndjson",
      "[pressed 12#]"
    ]) {
      expect(whole).toContain(word)
    }
    expect(whole.replaceAll(/^```[^]*?^```$/gm, "")).not.toMatch(/undefined|\[object Object\]|\{\{/)
  })

  it("have every move of every table of the code", () => {
    const tables: ReadonlyArray<unknown> = [
      ...Object.entries(core).flatMap(([name, value]) => (name.endsWith("_TRANSITIONS") ? [value] : [])),
      ...Object.values(core).flatMap((value: unknown) =>
        Object.entries(typeof value === "object" && value !== null ? value : {}).flatMap(([name, inner]) =>
          name.endsWith("_TRANSITIONS") ? [inner as unknown] : []
        )
      )
    ]
    expect(tables.length).toBeGreaterThan(4)
    const page = read("docs/reference/states.md")
    for (const table of tables as ReadonlyArray<Readonly<Record<string, Readonly<Record<string, string>>>>>) {
      for (const [from, moves] of Object.entries(table)) {
        for (const [move, to] of Object.entries(moves)) expect(page).toContain(`| \`${from}\` | ${move} | \`${to}\` |`)
      }
    }
  })

  it("have every field of the payload of every event type", () => {
    const page = read("docs/reference/events.md")
    for (const type of EventType.literals) {
      const [, section = ""] = page.split(`## ${type}\n`)
      const [own = ""] = section.split(/^## /m)
      for (const name of Object.keys(core.EVENT_RECORDS[type].fields.payload.fields)) {
        if (name !== "type" && name !== "eventId") expect(own).toContain(`| \`${name}\` |`)
      }
    }
  })

  it("say for every error code its status, what to do and whether money moved", () => {
    const page = read("docs/reference/errors.md")
    for (const code of core.ErrorCode.literals) {
      const [, section = ""] = new RegExp(`^## ${code}\n([^]*?)(?=^## |$(?![^]))`, "m").exec(page) ?? []
      expect([code, section]).toEqual([
        code,
        expect.stringMatching(/^\*\*\d{3}\.\*\* \S[^]*(?:^No money moved\.|says whether money moved: `)/m)
      ])
    }
  })

  it("say why an operation is not in the list of services", () => {
    const page = read("docs/reference/services.md")
    for (const { operationId, serviceId } of core.CATALOG)
      if (serviceId === null) expect(page).toContain(`[\`${operationId}\`](`)
  })

  it("install no package by a name that no registry has", () => {
    for (const [name, text] of [...pages, ["llms.txt", read("llms.txt")] as const]) {
      const commands = [...text.matchAll(/npm install[^\n`]* @agentos\/[^\n`]*|npx (?:-y )?@agentos\/[^\n`]*/g)].map(
        ([command]) => command
      )
      // The page about the packages says that this command fails.
      expect([name, commands.filter((command) => command !== "npm install @agentos/client")]).toEqual([name, []])
      expect(text).not.toContain("npmjs.com/package/@agentos")
    }
  })

  it("contain the shape of every record", () => {
    const whole = read("llms-full.txt")
    for (const name of Object.keys(at(document, "components", "schemas") as object)) {
      expect(whole).toContain(`# ${name}\n`)
    }
  })

  it("have a topic for each guide that a service record names", () => {
    const page = groups()[0]?.pages[0]?.markdown ?? ""
    for (const { guide } of core.CATALOG) {
      const [path, topic = ""] = guide.split("#")
      expect(path).toBe("/docs")
      expect(page).toContain(`<a id="${topic}" href="/docs/`)
    }
  })

  it("list every page in the index with its title and description", () => {
    const index = read("llms.txt")
    for (const [name, text] of pages.filter(([each]) => each !== "docs/api.md")) {
      const [, title = "", description = ""] = /^# (.+)\n\n> (.+)\n/.exec(text) ?? []
      expect(index).toContain(`- [${title}](https://agentos.example/${name}): ${description}`)
    }
    expect(index).toMatch(/^# AgentOS\n\n> \S/)
  })

  it("link to pages and headings that exist", () => {
    const broken = [...pages, ["llms.txt", read("llms.txt")] as const].flatMap(([name, text]) =>
      [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = ""]) => {
        if (target.startsWith("#")) return anchorsOf(text).has(target.slice(1)) ? [] : [`${name}: ${target}`]
        const [, path, anchor] = /^https:\/\/agentos\.example\/(docs\/[^#]*\.md)(?:#(.*))?$/.exec(target) ?? []
        if (path === undefined) return target.startsWith("http") ? [] : [`${name}: ${target}`]
        const found = files.get(path)
        const isAlive = found !== undefined && (anchor === undefined || anchorsOf(found).has(anchor))
        return isAlive ? [] : [`${name}: ${target}`]
      })
    )
    expect(broken).toEqual([])
  })
})
