import { createHash } from "node:crypto"
import { Database } from "@agentos/postgres"
import { Effect } from "effect"

/** Tenants, of which the first owns half of all rows. */
const TENANTS = 10_000
/** Rows of the first tenant that are open or due, in each table. */
const OPEN = 1_000

/** The id of the n-th row of a kind. */
export const idOf = (kind: string, n = 0): string =>
  createHash("md5")
    .update(`${kind}${n}`)
    .digest("hex")
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")

const id = (kind: string, n = "n") => `md5('${kind}' || ${n})::uuid`
/** The index of a row's tenant: the first one has every second row. */
const tenant = `case n % 2 when 0 then 0 else 1 + n % ${TENANTS - 1} end`

const events = (status: string, from: number, count: number) => `
  insert into events (
    event_id, tenant_id, type, source, service, resource_id, agent_id, payload, dedupe_key, status, created_at, expires_at
  )
  select
    (lpad(to_hex(at), 12, '0') || '7' || lpad(to_hex(n), 19, '0'))::uuid, ${id("tenant", `(${tenant})`)},
    'email.received', 'smtp', 'email', 'message ' || n, 'agent ' || n % 10, '{"subject":"${"x".repeat(100)}"}',
    '${status} ' || n, '${status}', at, at + 2592000000
  from (
    select n, epoch_millis() - ${from}::bigint + n as at from generate_series(1, ${count}) n
  ) moments`

const operations = (state: string, count: number, dueAt: string, transaction: string) => `
  insert into operations (
    operation_id, tenant_id, service_id, endpoint, idempotency_key, fingerprint, request_id, network, asset, payer, nonce,
    amount, proof, terms, input, plan, state, transaction, fence, due_at, created_at, updated_at
  )
  select
    ${id(state)}, ${id("tenant", `(${tenant})`)}, 'email.message.send', 'POST /api/v1/email/messages', '${state}' || n,
    'fingerprint', 'request', 'eip155:196', '0x0a', '0x' || lpad(to_hex(n % 1000), 40, '0'), '${state}' || n, 20000,
    '{"value":"1","payload":"${"x".repeat(500)}"}', '{"amount":"1","extra":{"keyId":1}}', '{}', '{}', '${state}',
    ${transaction}, 1, ${dueAt}, n, epoch_millis()
  from generate_series(0, ${count - 1}) n`

const messages = (count: number) => `
  insert into messages (
    message_id, tenant_id, mailbox_id, thread_id, message_id_digest, duplicate_key, inbound_mail_id, created_at, size_bytes,
    summary, body
  )
  select
    ${id("message")}, ${id("tenant", `(${tenant})`)}, ${id("mailbox", `(${tenant})`)}, ${id("thread")},
    sha256(('<' || n || '@else.test>')::bytea), sha256(('duplicate ' || n)::bytea),
    case when n % 2 = 0 then ${id("mail")} end, n, 1000,
    '{"subject":"${"x".repeat(200)}","authentication":null}', '{"text":"Hello","html":null}'
  from generate_series(0, ${count - 1}) n`

const mails = (state: "completed" | "waiting", count: number) => `
  insert into inbound_mails (inbound_mail_id, envelope, raw, size_bytes, received_at, attempts, completed)
  select ${id(state === "completed" ? "mail" : "waiting", "n * 2")}, '{}', 'x', 1, n, 1, ${state === "completed"}
  from generate_series(0, ${count - 1}) n`

const numbers = (state: string, count: number, expiresIn: string, noticeIn: string) => `
  insert into phone_numbers (
    phone_number_id, tenant_id, agent_id, number, country, provider_number_id, agent_name, agent_webhook_url, state,
    suspension, started_at, expires_at, notice_days, notice_at, purchased_seconds, used_seconds, callback_key_id,
    callback_version, created_at, released_at
  )
  select
    ${id(state)}, ${id("tenant", `(1 + n % ${TENANTS - 1})`)}, ${id("agent")}, '${state}' || n, 'US', 'number ' || n, 'Ada',
    'https://agents.example', '${state.replace(/_.*/, "")}', null, 0, epoch_millis() + ${expiresIn}, 5,
    epoch_millis() + ${noticeIn}, 0, 0, 1, 1, n, null
  from generate_series(0, ${count - 1}) n`

const calls = (state: string, count: number, watchAt: string) => `
  insert into calls (
    call_id, tenant_id, phone_number_id, agent_id, direction, from_number, to_number, state, provider_call_id,
    authorized_seconds, connected_seconds, watch_at, created_at, answered_at, ended_at, turn_count
  )
  select
    ${id(state)}, ${id("tenant", `(${tenant})`)}, ${id("active", "(n % 100)")}, ${id("agent")},
    case n % 4 when 1 then 'inbound' else 'outbound' end, '+1', '+2', '${state}', '${state}' || n, 60, 10, ${watchAt}, n, n,
    ${state === "ended" ? "n" : "null"}, 20
  from generate_series(0, ${count - 1}) n`

/** Few rows, almost all of them open or due: the tables of a deployment on its first day. */
export const FIRST_ROWS: ReadonlyArray<string> = [
  `insert into tenants (tenant_id, wallet, token_version, created_at)
   select ${id("tenant")}, '0x' || lpad(to_hex(n), 40, '0'), 1, n from generate_series(0, ${TENANTS - 1}) n`,
  `insert into local_parts (local_part, tenant_id, owned, mailbox_id)
   select 'box' || n, ${id("tenant")}, true, ${id("mailbox")} from generate_series(0, ${TENANTS - 1}) n`,
  `insert into mailboxes (mailbox_id, tenant_id, local_part, address, active, created_at, updated_at)
   select ${id("mailbox")}, ${id("tenant")}, 'box' || n, 'box' || n || '@agents.test', true, n, n
   from generate_series(0, ${TENANTS - 1}) n`,
  events("pending", OPEN * 2, OPEN * 2),
  operations("settling", OPEN / 10, "epoch_millis() - 1000 + n", "null"),
  operations("refused", OPEN, "epoch_millis() + 3600000 + n", "null"),
  mails("waiting", 20),
  numbers("active_due", OPEN / 10, "- 1000 - n", "- 1000 - n"),
  numbers("active", OPEN, "2592000000 + n", "864000000 + n"),
  calls("in_progress", OPEN / 10, "epoch_millis() - 1000 + n"),
  `insert into call_turns (call_id, turn_index, role, text, created_at)
   select ${id("in_progress", "(n / 20)")}, n % 20, 'agent', 'Hello', n from generate_series(0, ${OPEN * 2 - 1}) n`
]

/** The rows of the past, which hot statements should not visit: `count` events and messages, and half of the others. */
export const pastRows = (count: number): ReadonlyArray<string> => [
  events("acknowledged", 86_400_000, count),
  operations("fulfilled", count / 2, "null", "'0x01'"),
  messages(count),
  mails("completed", count / 2),
  numbers("released", count / 2, "0", "0"),
  calls("ended", count / 2, "null"),
  `insert into rate_limits (rule, subject, burst, per_second, missing, updated_at, full_at)
   select 'http.tenant', 'subject ' || n, 60, 1, 30, epoch_millis(), epoch_millis() + 30000 + n
   from generate_series(0, ${count / 4 - 1}) n`
]

/** Runs statements one after the other, without a time limit. */
export const execute = (statements: ReadonlyArray<string>) =>
  Effect.flatMap(Database, ({ sql }) => Effect.forEach(statements, (text) => sql.unsafe(text), { discard: true }))

/** As if no statistics had ever been gathered. */
export const FORGET_STATISTICS: ReadonlyArray<string> = [
  "delete from pg_statistic where starelid in (select oid from pg_class where relnamespace = 'public'::regnamespace)",
  "update pg_class set reltuples = -1, relpages = 0 where relnamespace = 'public'::regnamespace and relkind in ('r', 'i')"
]
