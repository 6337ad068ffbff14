import {
  type MessageFilter,
  MessageRetryStore,
  MessageStore,
  TenantStore,
  term,
  type ThreadFilter,
  Timestamp,
  Uuid,
  walletAddress
} from "@agentos/core"
import { Database } from "@agentos/postgres"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { plansOf } from "../support/Plans.ts"
import { seeding } from "../support/Seeding.ts"

/** Messages of the tenant, of which each hundredth contains the word `rare` and the last one in order `once`. */
const MESSAGES = 25_000
const LIMIT = 51
/** Several times the messages with a rare word, since each node of a plan counts its own rows. */
const VISITED_MAX = 8_000

const seed = Effect.gen(function* () {
  const { sql } = yield* Database
  const tenants = yield* TenantStore
  const id = yield* Uuid.next
  const wallet = walletAddress(`0x${id.replaceAll("-", "").padStart(40, "0")}`)
  const { tenantId } = yield* tenants.ensure({ tenantId: id, wallet, tokenVersion: 1, createdAt: yield* Timestamp.now })
  yield* sql`
    insert into mailboxes (mailbox_id, tenant_id, local_part, address, active, created_at, updated_at)
    values (${id}, ${tenantId}, ${id}, 'ada@agents.test', true, 1, 1)`
  const summary = JSON.stringify({ direction: "inbound", from: "", to: [], cc: [], recipients: [], attachments: [] })
  yield* seeding(sql`
    insert into messages (message_id, tenant_id, mailbox_id, thread_id, created_at, summary, body, threaded, search)
    select message_id, ${tenantId}, ${id}, message_id, n, ${summary}, '{"text":"x","html":null}', true,
      array_to_tsvector(array[
        ${term.tenant(tenantId)}, ${term.mailbox(id)}, ${term.direction("inbound")}, 'thread:' || message_id,
        'from:a' || n % 5000 || '@example.org', 'common', 'word' || n % 777,
        case when n % 100 = 0 then 'rare' else 'usual' end, case when n = 1 then 'once' else 'often' end
      ])
    from (select gen_random_uuid() as message_id, n from generate_series(1, ${MESSAGES}::bigint) n) as made`)
  yield* seeding(sql`
    insert into message_labels (message_id, label, tenant_id, mailbox_id, created_at)
    select message_id, label, tenant_id, mailbox_id, created_at
    from messages
    cross join lateral (values ('common', 1), ('unread', 2), ('seldom', 400)) as given (label, each)
    where tenant_id = ${tenantId} and created_at % each = 0`)
  yield* seeding(sql`
    insert into threads (
      thread_id, mailbox_id, tenant_id, subject, snippet, participants, message_count, unread_count, has_attachments,
      labeled, first_at, last_at, last_message_id
    )
    select thread_id, mailbox_id, tenant_id, '', '', '{}', 1, case when created_at % 2 = 0 then 1 else 0 end, false, true,
      created_at, created_at, message_id
    from messages where tenant_id = ${tenantId}`)
  yield* seeding(sql`
    insert into thread_labels (thread_id, mailbox_id, label, tenant_id, message_count, last_at, last_message_id)
    select message_id, mailbox_id, label, tenant_id, 1, created_at, message_id from message_labels
    where tenant_id = ${tenantId} and label <> 'unread'`)
  yield* seeding(sql`
    insert into message_retries (message_id, tenant_id, attempts, due_at)
    select message_id, tenant_id, 1, created_at from messages where tenant_id = ${tenantId}`)
  return { tenantId, mailboxId: id }
})

/** Checks that a statement finds this many rows, visits at most `visited`, and reads no table from end to end. */
const assertVisits = Effect.fnUntraced(function* <R>(
  name: string,
  list: Effect.Effect<{ readonly length: number }, never, R>,
  count: number,
  visited: number
) {
  let found = 0
  const plans = yield* plansOf(Effect.map(list, ({ length }) => (found = length)))
  assert.strictEqual(found, count, name)
  assert.deepStrictEqual(
    plans.flatMap(({ wholeTables }) => wholeTables),
    [],
    name
  )
  assert.isAtMost(
    plans.reduce((sum, { rowsVisited }) => sum + rowsVisited, 0),
    visited,
    name
  )
})

/** Checks that a page of 25,000 messages is found without visiting the others, with and without statistics. */
export const assertMessagePlans = Effect.gen(function* () {
  const store = yield* MessageStore
  const { sql } = yield* Database
  const { mailboxId, tenantId } = yield* seed
  const waiting = (yield* MessageRetryStore).countWaiting(LIMIT)
  const analyze = sql`analyze messages, message_labels, threads, thread_labels, message_retries`
  for (const statistics of [Effect.void, analyze]) {
    yield* statistics
    const cases: ReadonlyArray<readonly [MessageFilter, number, number]> = [
      [{}, LIMIT, 200],
      [{ words: ["common"] }, LIMIT, 2_000],
      [{ words: ["rare"] }, LIMIT, VISITED_MAX],
      [{ words: ["once"] }, 1, 2_000],
      [{ words: ["absent"] }, 0, 2_000],
      [{ words: ["rare", "once"] }, 0, 2_000],
      [{ direction: "inbound" }, LIMIT, 2_000],
      [{ direction: "outbound" }, 0, 2_000],
      [{ from: "A17@example.org" }, MESSAGES / 5_000, 2_000],
      [{ mailboxId, words: ["once"] }, 1, 2_000],
      [{ since: Timestamp.Timestamp.make(MESSAGES - 9) }, 10, 200],
      [{ words: ["rare"], until: Timestamp.Timestamp.make(1_000) }, 9, VISITED_MAX],
      [{ unread: true }, LIMIT, 2_000],
      [{ unread: false }, LIMIT, 2_000],
      [{ label: "seldom" }, LIMIT, 2_000],
      [{ label: "common", mailboxId }, LIMIT, 2_000],
      [{ label: "absent" }, 0, 200],
      [{ label: "seldom", unread: true }, LIMIT, 2_000],
      [{ label: "common", unread: true }, LIMIT, 2_000],
      [{ label: "seldom", words: ["rare"] }, LIMIT, 4_000],
      [{ label: "common", words: ["rare"] }, LIMIT, VISITED_MAX],
      [{ label: "seldom", until: Timestamp.Timestamp.make(801) }, 2, 200]
    ]
    const threadCases: ReadonlyArray<readonly [ThreadFilter, number, number]> = [
      [{}, LIMIT, 1_000],
      [{ mailboxId }, LIMIT, 1_000],
      [{ unread: true }, LIMIT, 1_000],
      [{ unread: true, mailboxId }, LIMIT, 1_000],
      [{ unread: false, mailboxId }, LIMIT, 1_000],
      [{ label: "seldom" }, LIMIT, 1_000],
      [{ label: "seldom", mailboxId, unread: true }, LIMIT, 1_000],
      [{ label: "common", unread: true }, LIMIT, 1_000],
      [{ label: "absent" }, 0, 200]
    ]
    const [newest] = yield* store.listThreads(tenantId, {}, undefined, 1)
    const { lastMessageId } = newest!
    const mark = (labels: ReadonlyArray<string>) =>
      store.setMarks(tenantId, new Map([[lastMessageId, { labels, unread: false }]]))
    const lists: ReadonlyArray<
      readonly [name: string, list: Effect.Effect<ReadonlyArray<unknown>>, count: number, visited: number]
    > = [
      ...cases.map(
        ([filter, ...expected]) =>
          [`messages ${JSON.stringify(filter)}`, store.list(tenantId, filter, undefined, LIMIT), ...expected] as const
      ),
      ...threadCases.map(
        ([filter, ...expected]) =>
          [
            `threads ${JSON.stringify(filter)}`,
            store.listThreads(tenantId, filter, undefined, LIMIT),
            ...expected
          ] as const
      ),
      ["a thread", store.listThread(tenantId, newest!, undefined, LIMIT), 1, 200],
      ["labels of a message", Effect.as(mark(["new", "seldom"]), []), 0, 500],
      ["no labels of a message", Effect.as(mark([]), []), 0, 500],
      ["messages in no thread", Effect.as(store.addToThreads(10), []), 0, 200],
      ["paused tenants", store.listPaused(LIMIT), 0, 10],
      ["waiting messages", Effect.map(waiting, ({ deferred }) => Array.from({ length: deferred })), LIMIT, 500]
    ]
    for (const list of lists) yield* assertVisits(...list)
  }

  yield* seeding(sql`delete from message_retries where tenant_id = ${tenantId} and due_at > 3`)
  for (const statistics of [Effect.void, analyze]) {
    yield* statistics
    const old = yield* store.findOld({ age: Timestamp.DAY, limit: LIMIT })
    const ids = old.map(({ messageId }) => messageId)
    yield* assertVisits("old messages", store.findOld({ age: Timestamp.DAY, limit: LIMIT }), LIMIT, 500)
    yield* assertVisits(
      "removal",
      Effect.map(store.remove(tenantId, ids), (length) => ({ length })),
      LIMIT,
      2_000
    )
  }
})
