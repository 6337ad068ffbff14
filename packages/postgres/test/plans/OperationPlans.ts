import { type Operation, OperationStore, walletAddress } from "@agentos/core"
import { Database } from "@agentos/postgres"
import { assert } from "@effect/vitest"
import { Effect, Option } from "effect"
import { OPERATIONS } from "../../src/OperationRow.ts"
import { plansOf } from "../support/Plans.ts"
import { claimed, LEASE, seeding } from "../support/Seeding.ts"
import { checkIndexes, planTests } from "./PlanSubject.ts"

/**
 * Number of operations that are final, and of open ones that are due and not yet due. With fewer final ones, a
 * wrong index is as fast as the right one, and a plan that uses it is not wrong.
 */
const FINAL = 20_000
const DUE = 100
const LATER = 1_000
/** The differences between copies and the operation that they are made from. */
interface Copies {
  readonly count: number
  readonly state: string
  /** Milliseconds until the first copy is due, each further one a millisecond later; null if they are final. */
  readonly dueIn: number | null
  readonly transaction: string | null
}

const copy = Effect.fnUntraced(function* ({ operationId }: Operation, { count, dueIn, state, transaction }: Copies) {
  const { sql } = yield* Database
  const columns = `${OPERATIONS.columns}, network, asset, payer, nonce, amount`
  const values = columns
    .replace("operation_id", "gen_random_uuid()")
    .replace("idempotency_key", "$2 || n || epoch_millis()")
    .replace("nonce, amount", "$2 || n || epoch_millis(), amount")
    .replace("state", "$2::text")
    .replace(/\btransaction\b/, "$3::text")
    .replace("leased_until", "null")
    .replace("due_at", "epoch_millis() + $4::bigint + n")
  const statement = `insert into operations (${columns}) select ${values}
    from operations, generate_series(1, $5::integer) n where operation_id = $1::uuid`
  yield* seeding(sql.unsafe(statement, [operationId, state, transaction, dueIn, count]))
})

const addOpen = (operation: Operation) =>
  Effect.andThen(
    copy(operation, { count: DUE, state: "settling", dueIn: -10_000, transaction: null }),
    copy(operation, { count: LATER, state: "refused", dueIn: 3_600_000, transaction: null })
  )
const addFinal = (operation: Operation, share: number) =>
  Effect.andThen(
    copy(operation, { count: FINAL / share / 2, state: "fulfilled", dueIn: null, transaction: "0x01" }),
    copy(operation, { count: FINAL / share / 2, state: "unpaid", dueIn: null, transaction: null })
  )

const assertPlans = Effect.fnUntraced(function* (operation: Operation) {
  const store = yield* OperationStore
  const stored = Option.getOrThrow(yield* store.find(operation.operationId))
  const { fence, operationId, proof } = stored

  const leased = { kind: "leased", millis: LEASE } as const
  yield* checkIndexes("find", ["operations_key"], store.find(operationId))
  yield* checkIndexes("findStatus", ["operations_key"], store.findStatus(operationId))
  yield* checkIndexes("isUnchanged", ["operations_key"], store.isUnchanged({ operationId, fence, state: "claimed" }))
  const byKeys = store.findByKeys({ proof, endpoint: operation.endpoint, idempotencyKey: operation.idempotencyKey })
  yield* checkIndexes("findByKeys", ["operations_proof_key", "operations_idempotency_key"], byKeys)
  yield* checkIndexes("setNextAttempt", ["operations_key"], store.setNextAttempt(operationId, fence, leased))
  yield* checkIndexes("takeOver", ["operations_key"], store.takeOver(operationId, LEASE))
  const stay = { to: "claimed", change: {}, next: leased } as const
  yield* checkIndexes("advance", ["operations_key"], store.advance({ ...stored, state: "claimed" }, stay))

  yield* checkIndexes("countOpen", ["operations_due"], store.countOpen(DUE / 2))
  yield* checkIndexes("takeDue", ["operations_due", "operations_key"], store.takeDue(DUE / 2, LEASE))
  const rest = store.takeDue(1_000, LEASE)
  yield* checkIndexes("takeDue, more than there is", ["operations_due", "operations_key"], rest)
  assert.deepStrictEqual(yield* store.takeDue(1_000, LEASE), [], "the rest is due later")
  yield* checkIndexes("takeDue, of nothing", ["operations_due", "operations_key"], store.takeDue(1_000, LEASE))

  yield* checkIndexes("makeDue", ["operations_key"], store.makeDue(operationId))

  const page = 50
  yield* checkIndexes("list", ["operations_key"], store.list({ limit: page }))
  yield* checkIndexes("list of a later page", ["operations_key"], store.list({ before: operationId, limit: page }))
  const stranger = walletAddress(`0x${"e".repeat(40)}`)
  const ofPayer = store.list({ payer: stranger, limit: page })
  yield* checkIndexes("list of a payer", ["operations_idempotency_key"], ofPayer)
  for (const query of [{ state: "open" }, { state: "settling" }, { state: "open", payer: stranger }] as const) {
    // It visits all open operations, which are more than other statements may visit.
    const [plan] = yield* plansOf(store.list({ ...query, limit: page }))
    assert.deepStrictEqual([...(plan?.indexes ?? [])], ["operations_due"], plan?.text)
    assert.deepStrictEqual(plan?.wholeTables, [], plan?.text)
  }
  const answers = { age: 30 * 86_400_000, limit: page }
  const answered = ["operations_answered", "operations_key"]
  yield* checkIndexes("removeAnswers, of nothing", answered, store.removeAnswers(answers))
  const others = store.removeAnswers({ ...answers, except: [operation.tenantId] })
  yield* checkIndexes("removeAnswers, of others", answered, others)
  yield* checkIndexes("removeAnswers", answered, store.removeAnswers({ ...answers, age: 0 }))
  yield* checkIndexes("listPaid", ["operations_paid"], store.listPaid(null, page))
  const middle = store.listPaid("80000000-0000-0000-0000-000000000000", page)
  yield* checkIndexes("listPaid from the middle", ["operations_paid"], middle)
  const [books] = yield* plansOf(store.books)
  assert.include([...(books?.indexes ?? [])], "operations_totals", books?.text)
})

export const operationPlans = planTests({
  title: "open operations among 20,000 final ones",
  sample: claimed,
  addIdle: addFinal,
  embeddedShare: 5,
  addDue: addOpen,
  analyze: Effect.flatMap(Database, ({ sql }) => sql`vacuum analyze operations`),
  addOutdated: (operation) =>
    Effect.gen(function* () {
      const { sql } = yield* Database
      yield* copy(operation, { count: FINAL, state: "settling", dueIn: -FINAL, transaction: null })
      yield* sql`analyze operations`
      yield* seeding(sql`update operations set state = 'unpaid', due_at = null where state = 'settling'`)
    }),
  loseStatistics: Effect.flatMap(Database, ({ sql }) =>
    Effect.andThen(sql`delete from pg_statistic where starelid = 'operations'::regclass`, sql`vacuum operations`)
  ),
  assertPlans
})
