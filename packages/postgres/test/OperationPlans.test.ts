import { type Operation, OperationStore } from "@agentos/core"
import { Database, Postgres } from "@agentos/postgres"
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { OPERATION_COLUMNS } from "../src/OperationRow.ts"
import { type Plan, plansOf } from "./support/Plans.ts"
import { claimed, LEASE, seeding } from "./support/Seeding.ts"
import { layerTestPGlite } from "./support/TestPGlite.ts"
import { layerTestPostgres } from "./support/TestPostgres.ts"

/**
 * Number of operations that are final, and of open ones that are due and not yet due. With fewer final ones, a
 * wrong index is as fast as the right one, and a plan that uses it is not wrong.
 */
const FINAL = 20_000
const DUE = 100
const LATER = 1_000
/**
 * Limit of rows that a statement may visit: several times its result, since each node of a plan counts its own
 * rows.
 */
const VISITED_MAX = 2_000
const SECONDS = 1_000

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
  const columns = `${OPERATION_COLUMNS}, network, asset, payer, nonce, amount`
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
const addFinal = (operation: Operation, count: number) =>
  Effect.andThen(
    copy(operation, { count: count / 2, state: "fulfilled", dueIn: null, transaction: "0x01" }),
    copy(operation, { count: count / 2, state: "unpaid", dueIn: null, transaction: null })
  )

const assertReads = (plans: ReadonlyArray<Plan>, indexes: ReadonlyArray<string>, name: string, most: number): void => {
  assert.isAbove(plans.length, 0, name)
  for (const plan of plans) {
    assert.deepStrictEqual(plan.wholeTables, [], `${name}: ${plan.text}`)
    assert.isAtMost(plan.rowsVisited, most, `${name}: ${plan.text}`)
    assert.sameMembers([...plan.indexes], [...indexes], `${name}: ${plan.text}`)
  }
}

/** Checks every statement on operations, each with the indexes that it must use. */
const assertPlans = Effect.fnUntraced(function* (operation: Operation) {
  const store = yield* OperationStore
  const { fence, operationId, proof } = Option.getOrThrow(yield* store.find(operation.operationId))
  const check = <A, E>(
    name: string,
    indexes: ReadonlyArray<string>,
    effect: Effect.Effect<A, E>,
    most = VISITED_MAX
  ): Effect.Effect<void, E, Database> => Effect.map(plansOf(effect), (plans) => assertReads(plans, indexes, name, most))

  const leased = { kind: "leased", millis: LEASE } as const
  yield* check("find", ["operations_key"], store.find(operationId))
  const byKeys = store.findByKeys({ proof, endpoint: operation.endpoint, idempotencyKey: operation.idempotencyKey })
  yield* check("findByKeys", ["operations_proof_key", "operations_idempotency_key"], byKeys)
  yield* check("setNextAttempt", ["operations_key"], store.setNextAttempt(operationId, fence, leased))
  yield* check("takeOver", ["operations_key"], store.takeOver(operationId, LEASE))
  const stay = { operationId, fence, from: "claimed", to: "claimed", change: {}, next: leased } as const
  yield* check("advance", ["operations_key"], store.advance(stay))

  yield* check("countOpen", ["operations_due"], store.countOpen(DUE / 2))
  yield* check("takeDue", ["operations_due", "operations_key"], store.takeDue(DUE / 2, LEASE))
  const rest = store.takeDue(1_000, LEASE)
  yield* check("takeDue, more than there is", ["operations_due", "operations_key"], rest)
  assert.deepStrictEqual(yield* store.takeDue(1_000, LEASE), [], "the rest is due later")
  yield* check("takeDue, of nothing", ["operations_due", "operations_key"], store.takeDue(1_000, LEASE))

  const page = 50
  yield* check("listPaid", ["operations_paid"], store.listPaid(null, page))
  const middle = store.listPaid("80000000-0000-0000-0000-000000000000", page)
  yield* check("listPaid from the middle", ["operations_paid"], middle)
  const [books] = yield* plansOf(store.books)
  assert.include([...(books?.indexes ?? [])], "operations_totals", books?.text)
})

describe("with 20,000 final operations, the open ones are found without visiting the final ones", () => {
  const onServer = () => Layer.provideMerge(Postgres.layer, layerTestPostgres({ settings: { autovacuum: "off" } }))

  layer(onServer(), { excludeTestServices: true })("on PostgreSQL", (it) => {
    it.effect(
      "with no statistics, and with current ones",
      () =>
        Effect.gen(function* () {
          const { sql } = yield* Database
          const operation = yield* claimed
          yield* addFinal(operation, FINAL)
          yield* addOpen(operation)
          yield* assertPlans(operation)
          yield* addOpen(operation)
          yield* sql`vacuum analyze operations`
          yield* assertPlans(operation)
        }),
      120 * SECONDS
    )
  })

  layer(onServer(), { excludeTestServices: true })("on PostgreSQL", (it) => {
    it.effect(
      "with statistics from when they were due, and from when there were none",
      () =>
        Effect.gen(function* () {
          const { sql } = yield* Database
          const operation = yield* claimed
          yield* copy(operation, { count: FINAL, state: "settling", dueIn: -FINAL, transaction: null })
          yield* sql`analyze operations`
          yield* seeding(sql`update operations set state = 'unpaid', due_at = null where state = 'settling'`)
          yield* addOpen(operation)
          yield* assertPlans(operation)
          yield* sql`delete from pg_statistic where starelid = 'operations'::regclass`
          yield* addOpen(operation)
          yield* sql`vacuum operations`
          yield* assertPlans(operation)
        }),
      120 * SECONDS
    )
  })

  layer(Layer.provideMerge(Postgres.layer, layerTestPGlite), { excludeTestServices: true })("on PGlite", (it) => {
    it.effect(
      "without any statistics",
      () =>
        Effect.gen(function* () {
          const operation = yield* claimed
          // PGlite has the planner of PostgreSQL: this only shows that the settings which it needs are set.
          yield* addFinal(operation, FINAL / 5)
          yield* addOpen(operation)
          yield* assertPlans(operation)
        }),
      120 * SECONDS
    )
  })
})
