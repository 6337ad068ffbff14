import { maintainPostgres } from "@agentos/postgres"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { readFileSync } from "node:fs"

const PAGE = new URL("../../../site/content/database.md", import.meta.url)

/** Returns the fenced texts of a language in the section of the page on databases with this heading. */
export const databasePage = (heading: string, language: string): ReadonlyArray<string> => {
  const [, section = ""] = readFileSync(PAGE, "utf8").split(`\n## ${heading}\n`)
  const [own = ""] = section.split("\n## ")
  const found = [...own.matchAll(/^```(\w*)\n([^]*?)^```$/gm)].filter(([, name]) => name === language)
  if (found.length === 0) throw new Error(`the page has no ${language || "plain"} text in ${heading}`)
  return found.map(([, , text]) => text!)
}

/** Returns the URL of the database that the page creates, for a role. */
export const urlOfRole = (serverUrl: string, role: "agentos" | "agentos_owner" | "postgres"): string => {
  const url = new URL(serverUrl)
  url.pathname = "/agentos"
  url.username = role
  url.password = { agentos: "secret-2", agentos_owner: "secret-1", postgres: "" }[role]
  return url.href
}

const run = (url: string, statements: string) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.make({ url: Redacted.make(url), maxConnections: 1 })
    for (const statement of statements.split(/;\n/)) if (statement.trim() !== "") yield* sql.unsafe(statement)
  }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))

/** Creates the roles and the database of the page on a server, and migrates the database as its owner. */
export const createRoles = (serverUrl: string, ownerUrl: string = urlOfRole(serverUrl, "agentos_owner")) =>
  Effect.gen(function* () {
    const [creation = "", grants = ""] = databasePage("Roles", "sql")
    yield* run(serverUrl, creation)
    yield* run(urlOfRole(serverUrl, "postgres"), grants)
    yield* maintainPostgres({ url: Redacted.make(ownerUrl) }).migrate
  })
