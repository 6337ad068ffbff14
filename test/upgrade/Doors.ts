import { plainSql } from "@agentos/postgres/testing"
import { Agent, type Request } from "../support/Agent.ts"
import type { ClusterServer } from "../support/Cluster.ts"
import { runServerCommand } from "../support/ServerCommand.ts"
import type { OpenRelease } from "./Release.ts"

/** A list of a tenant: its path, the table that it shows, and the id of each item with the paths that read it. */
interface Door {
  readonly path: string
  readonly table: string
  readonly id: string
  readonly each: (id: string) => ReadonlyArray<string>
}

const EMAIL = "/api/v1/email"
const PHONE = "/api/v1/phone"
const MAILBOXES = `${EMAIL}/mailboxes/query`
const EVENTS = "/api/v1/events/list"
const DOORS: ReadonlyArray<Door> = [
  { path: MAILBOXES, table: "mailboxes", id: "mailboxId", each: () => [] },
  {
    path: `${EMAIL}/messages/query?limit=100`,
    table: "messages",
    id: "messageId",
    each: (id) => [`${EMAIL}/messages/query?messageId=${id}`]
  },
  {
    path: `${EMAIL}/threads/query?limit=100`,
    table: "threads",
    id: "threadId",
    each: (id) => [`${EMAIL}/threads/query?threadId=${id}`]
  },
  { path: `${EMAIL}/suppressions/query?limit=100`, table: "suppressions", id: "address", each: () => [] },
  { path: `${PHONE}/numbers`, table: "phone_numbers", id: "phoneNumberId", each: () => [] },
  {
    path: `${PHONE}/calls?limit=100`,
    table: "calls",
    id: "callId",
    each: (id) => [`${PHONE}/calls/${id}`, `${PHONE}/calls/${id}/transcript`]
  },
  { path: EVENTS, table: "events", id: "eventId", each: () => [] }
]
/** What has no list. */
const OTHERS = ["/api/v1/events/webhook", "/api/v1/events/webhook/deliveries", "/api/v1/limits"]
/** The commands of operators that read every row of their tables. */
const COMMANDS = [
  ["ledger"],
  ["operations", "list", "--limit", "100"],
  ["jobs", "list"],
  ["tenants", "list"],
  ["sell", "status"],
  ["numbers", "list"]
]

interface Page {
  readonly items: ReadonlyArray<Record<string, string>>
  readonly nextCursor?: string | null
}

/**
 * Reads every recorded row of the customers through the doors of a server, and lists all. Returns a line for each answer that is
 * missing or an error.
 */
export const readEverything = async (
  { baseUrl, environment }: Pick<ClusterServer, "baseUrl" | "environment">,
  databaseUrl: string,
  { customers, rows }: Pick<OpenRelease, "customers" | "rows">
): Promise<ReadonlyArray<string>> => {
  const problems: Array<string> = []
  const recorded = Object.values(rows).join("\n")
  const isRecorded = (id: string) => recorded.includes(id)
  for (const { accessToken, privateKey } of customers) {
    const agent = new Agent({ baseUrl }, privateKey)
    agent.token = accessToken
    const rowsOf = (table: string, columns: string) =>
      plainSql(
        databaseUrl,
        `select ${columns} from ${table} join tenants using (tenant_id) where wallet = lower('${agent.account.address}')`
      )
    const ask = async (request: Request): Promise<Page> => {
      const reply = await agent.send(request)
      if (reply.status !== 200) problems.push(`${request.path}: ${reply.status} ${reply.text}`)
      return { items: [], ...reply.body.data }
    }
    for (const { each, id, path, table } of DOORS) {
      const found = new Set<string>()
      for (let cursor: string | null | undefined; cursor !== null;) {
        const url = new URL(path, "http://any.example")
        if (cursor) url.searchParams.set("cursor", cursor)
        const { items, nextCursor = null } = await ask(
          path === EVENTS
            ? { path, body: { limit: 100, ...(cursor && { cursor }) } }
            : { path: url.pathname + url.search }
        )
        for (const item of items) found.add(item[id]!)
        cursor = nextCursor
      }
      const [stored] = await rowsOf(table, "count(*)::integer as count")
      if (found.size !== stored?.["count"]) problems.push(`${path}: ${found.size} of ${String(stored?.["count"])} rows`)
      for (const one of [...found].filter(isRecorded).flatMap(each)) await ask({ path: one })
    }
    const operations = await rowsOf("operations", "operation_id as id")
    for (const path of [...OTHERS, ...operations.map((row) => `/api/v1/payments/${String(row["id"])}`)])
      await ask({ path })
  }
  for (const command of COMMANDS) {
    const { errors, output, status } = await runServerCommand([...command, "--json"], environment())
    if (status !== 0) problems.push(`${command.join(" ")}: ${status} ${errors}${output}`)
  }
  return problems
}
