import { TenantErasure, walletAddress } from "@agentos/core"
import { Database, layerPGlite, Postgres } from "@agentos/postgres"
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TABLES } from "../src/Migrations.ts"
import { layerTestPostgres } from "./support/TestPostgres.ts"

const MARKER = "m4rk3r"
const TENANT = "0190aaaa-0000-7000-8000-000000000001"
const OTHER = "0190aaaa-0000-7000-8000-000000000002"
const ID = "0190aaaa-0000-7000-8000-0000000000aa"
const WALLET = `0x${"a1".repeat(20)}`
const ASSET = `0x${"b2".repeat(20)}`
const OLD = 1_700_000_000_000

/** The tables without a row of a tenant, and the reason why an erasure leaves them alone. */
const WITHOUT_TENANTS: Readonly<Record<string, string>> = {
  audit_records: "what operators did, in their words",
  operators: "operators",
  incidents: "name a tenant by its id, until its pause has ended",
  sales_stops: "in the operator's words",
  jobs: "of servers",
  gas_transactions: "of the operator's wallets",
  gas_wallets: "of the operator's wallets",
  rate_limits: "counters that expire within hours",
  server_messages: "expire within a minute",
  held_numbers: "of numbers that are not released, which prevent an erasure"
}

/** Columns that the ledger is compared with: references to the chain, and the wallet. They have no text of a tenant. */
const OF_THE_LEDGER = new Set(["claimed_transfers", "ledger_entries", "manual_refunds"])

/** Values of columns that can't have the marker: names of states, references, and what the chain shows. */
const VALUES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  tenants: { tenant_id: `'${TENANT}'`, wallet: `'${WALLET}'`, suspended_at: `${OLD}`, token_trust: "'proven'" },
  operations: {
    service_id: "'email.message.send'",
    network: "'eip155:1'",
    asset: `'${ASSET}'`,
    payer: `'${WALLET}'`,
    nonce: `'0x${"c3".repeat(32)}'`,
    state: "'fulfilled'",
    transaction: "'0x01'",
    refund_transaction: "null",
    refund_nonce: "null",
    proof: `'{"digest":"${MARKER}","payload":"${MARKER}","identifier":"${MARKER}"}'`,
    terms: `'{"payTo":"0xd4","asset":"${ASSET}","extra":{"challengeNonce":"${MARKER}"}}'`,
    failure: `'{"kind":"canceled","message":"${MARKER}"}'`,
    due_at: "null",
    leased_until: "null"
  },
  events: { status: "'failed'" },
  event_webhooks: { state: "'paused'", types: "null", retries: "'[]'", due_at: "null" },
  calls: { state: "'ended'", watch_at: "null" },
  phone_numbers: { state: "'released'", notice_days: "null", notice_at: "null" },
  inbound_mails: { completed: "true", counted_mailbox_ids: "'{}'" },
  agent_sessions: { expires_at: "9000000000000" }
}

/** The order in which rows can be inserted, for the tables that others refer to. */
const FIRST = [
  "tenants",
  "operations",
  "mailboxes",
  "inbound_mails",
  "messages",
  "phone_numbers",
  "calls",
  "event_webhooks",
  "sent_attachments"
]

interface Column {
  readonly name: string
  readonly type: string
  readonly generated: boolean
}

/** Returns a value of a type that has the marker if it is a text. */
const valueOf = ({ name, type }: Column): string => {
  if (type === "text") return `'${MARKER} ${name}'`
  if (type === "text[]") return `array['${MARKER}']`
  if (type === "bytea") return `convert_to('${MARKER}', 'UTF8')`
  if (type === "tsvector") return `to_tsvector('simple', '${MARKER}')`
  if (type === "boolean") return "false"
  if (type === "uuid") return name === "tenant_id" ? `'${TENANT}'` : `'${ID}'`
  if (type === "uuid[]") return "'{}'"
  return "1"
}

const columnsOf = (table: string) =>
  Effect.flatMap(
    Database,
    ({ sql }) => sql<Column>`
      select attname::text as name, format_type(atttypid, null) as type,
        attgenerated <> '' or attidentity <> '' as generated
      from pg_attribute where attrelid = ${table}::regclass and attnum > 0 and not attisdropped order by attnum`
  )

const plant = Effect.fnUntraced(function* (table: string) {
  const { sql } = yield* Database
  const columns = (yield* columnsOf(table)).filter(({ generated }) => !generated)
  const values = columns.map((column) => VALUES[table]?.[column.name] ?? valueOf(column))
  yield* sql.unsafe(
    `insert into ${table} (${columns.map(({ name }) => name).join(", ")}) values (${values.join(", ")})`
  )
})

/** Returns the tables in which a row has the marker, in any column. Bytes are searched as hexadecimal digits. */
const marked = Effect.fnUntraced(function* (text: string) {
  const { sql } = yield* Database
  const found: Array<string> = []
  for (const table of TABLES) {
    const rows = yield* sql.unsafe(
      `select 1 from ${table} where ${table}::text like '%${text}%'
        or ${table}::text like '%${Buffer.from(text).toString("hex")}%' limit 1`
    )
    if (rows.length > 0) found.push(table)
  }
  return found
})

for (const [name, database] of [
  ["PostgreSQL", layerTestPostgres()],
  ["PGlite", layerPGlite()]
] as const) {
  describe(`an erasure on ${name}`, () => {
    const erasure = TenantErasure.layer.pipe(Layer.provideMerge(Postgres.layer), Layer.provideMerge(database))
    layer(erasure, { excludeTestServices: true })((it) => {
      it.effect(
        "finds the marker in no field of any table afterwards, and the wallet in those of the ledger alone",
        () =>
          Effect.gen(function* () {
            const { sql } = yield* Database
            const owned = TABLES.filter((table) => !(table in WITHOUT_TENANTS) && !OF_THE_LEDGER.has(table))
            const planted = [...FIRST, ...owned.filter((table) => !FIRST.includes(table))]
            yield* Effect.forEach(planted, plant, { discard: true })
            yield* sql`
            insert into tenants (tenant_id, wallet, token_version, created_at) values (${OTHER}, ${`0x${"e5".repeat(20)}`}, 1, 1)`
            yield* sql`
            insert into ledger_entries (operation_id, account, network, asset, amount, created_at)
            values (${ID}, 'fulfilled', 'eip155:1', ${ASSET}, 1, 1)`
            const before = yield* marked(MARKER)
            assert.deepStrictEqual(
              before,
              owned.filter((table) => before.includes(table))
            )
            assert.deepStrictEqual(
              owned.filter((table) => !before.includes(table)),
              ["call_grants", "deleted_agents", "message_retries"].filter((table) => !before.includes(table)),
              "these have no text"
            )

            const { erase, preview } = yield* TenantErasure
            const previewed = yield* preview(WALLET)
            assert.deepInclude(previewed, { tenantId: TENANT, wallet: walletAddress(WALLET), erased: false })
            assert.deepStrictEqual(yield* marked(MARKER), before, "a preview changes nothing")
            const { contents } = yield* erase(TENANT)
            assert.deepStrictEqual(contents, {
              mailboxes: 1,
              messages: 1,
              events: 1,
              calls: 1,
              numbers: 1,
              operations: 1
            })
            assert.deepStrictEqual(yield* marked(MARKER), [])
            assert.deepStrictEqual(yield* marked(WALLET), ["operations", "tenants"])
            assert.deepStrictEqual(yield* marked(TENANT), ["local_parts", "operations", "tenants"])
            assert.isTrue((yield* erase(TENANT)).erased, "once more")
          })
      )
    })
  })
}
