import { type MessageFilter, MessageStore, TenantStore, term, Timestamp, Uuid, walletAddress } from "@agentos/core"
import { Database } from "@agentos/postgres"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { plansOf } from "../support/Plans.ts"
import { seeding } from "../support/Seeding.ts"

/** Messages of the tenant, of which each hundredth contains the word `rare` and the last one in order `once`. */
const MESSAGES = 100_000
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
    insert into messages (message_id, tenant_id, mailbox_id, thread_id, created_at, summary, body, search)
    select message_id, ${tenantId}, ${id}, message_id, n, ${summary}, '{"text":"x","html":null}',
      array_to_tsvector(array[
        ${term.tenant(tenantId)}, ${term.mailbox(id)}, ${term.direction("inbound")}, 'thread:' || message_id,
        'from:a' || n % 5000 || '@example.org', 'common', 'word' || n % 777,
        case when n % 100 = 0 then 'rare' else 'usual' end, case when n = 1 then 'once' else 'often' end
      ])
    from (select gen_random_uuid() as message_id, n from generate_series(1, ${MESSAGES}::bigint) n) as made`)
  return { tenantId, mailboxId: id }
})

/** Checks that a page of 100,000 messages is found without visiting the others, with and without statistics. */
export const assertMessagePlans = Effect.gen(function* () {
  const store = yield* MessageStore
  const { sql } = yield* Database
  const { mailboxId, tenantId } = yield* seed
  for (const statistics of [Effect.void, sql`analyze messages`]) {
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
      [{ words: ["rare"], until: Timestamp.Timestamp.make(1_000) }, 9, VISITED_MAX]
    ]
    for (const [filter, count, visited] of cases) {
      let found = 0
      const plans = yield* plansOf(
        Effect.map(store.list(tenantId, filter, undefined, LIMIT), ({ length }) => (found = length))
      )
      const name = JSON.stringify(filter)
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
    }
  }
})
