import {
  type Call,
  CallProgress,
  CallStore,
  Allowance,
  type PhoneNumber,
  PhoneNumberStore,
  TenantStore,
  Timestamp,
  Transactor,
  Uuid,
  walletAddress
} from "@agentos/core"
import { Database, Postgres } from "@agentos/postgres"
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { type Plan, plansOf } from "./support/Plans.ts"
import { seeding } from "./support/Seeding.ts"
import { layerTestPGlite } from "./support/TestPGlite.ts"
import { layerTestPostgres } from "./support/TestPostgres.ts"

/** Numbers of phone numbers that are in use with nothing due, of released ones, and of ended calls. */
const IN_USE = 25_000
const RELEASED = 10_000
const ENDED = 20_000
/**
 * Numbers of phone numbers that are due for a notice, expired, and suspended, and of live calls that are due to
 * be polled.
 */
const DUE = 100
const PAGE = 50
/**
 * Limit of rows that a statement may visit: several times its result, since each node of a plan counts its own
 * rows.
 */
const VISITED_MAX = 2_000
const SECONDS = 1_000

/** A phone number with an answered call, from which copies are made. */
const samples = Effect.gen(function* () {
  const numbers = yield* PhoneNumberStore
  const calls = yield* CallStore
  const tenants = yield* TenantStore
  const [tenantId, operationId] = [yield* Uuid.next, yield* Uuid.next]
  const now = yield* Timestamp.now
  const wallet = walletAddress(`0x${tenantId.replaceAll("-", "").padStart(40, "0")}`)
  yield* tenants.ensure({ tenantId, wallet, tokenVersion: 1, createdAt: now })
  const expiresAt = Timestamp.add(now, Allowance.ENTITLEMENT)
  const number: PhoneNumber = {
    phoneNumberId: yield* Uuid.next,
    tenantId,
    agentId: yield* Uuid.next,
    number: "+14155550100",
    country: "US",
    providerNumberId: "a number",
    agentName: "Ada",
    agentWebhookUrl: "https://agents.example/ada",
    description: null,
    beginMessage: null,
    voice: null,
    language: null,
    state: "active",
    suspension: null,
    startedAt: now,
    expiresAt,
    nextNotice: Allowance.firstNotice(expiresAt),
    allowance: Allowance.NO_INBOUND,
    callbackKeyId: 1,
    callbackVersion: 1,
    createdAt: now,
    releasedAt: null
  }
  assert.strictEqual(yield* numbers.reserve(number.number, operationId), "reserved")
  yield* numbers.create(number, operationId)
  const call: Call = {
    callId: yield* Uuid.next,
    tenantId,
    phoneNumberId: number.phoneNumberId,
    agentId: number.agentId,
    direction: "inbound",
    fromNumber: "+14155550150",
    toNumber: number.number,
    state: "in_progress",
    providerCallId: "a call",
    greeting: null,
    authorizedSeconds: 300,
    extendedSeconds: 0,
    hangUpReason: null,
    endReason: null,
    connectedSeconds: 0,
    watchAt: CallProgress.firstWatch(now),
    createdAt: now,
    answeredAt: now,
    endedAt: null
  }
  assert.isTrue(yield* calls.create(call))
  return { number, call }
})

type Samples = Effect.Success<typeof samples>

/** The columns in which copies differ from the original row, with their values; `n` is the index of the copy. */
type Change = Readonly<Record<string, string>>

/** Copies a table's row `count` times, with new ids. */
const copy = Effect.fnUntraced(function* (table: string, id: string, of: string, count: number, change: Change) {
  const { sql } = yield* Database
  const columns = yield* sql<{ readonly name: string }>`
    select column_name as name from information_schema.columns
    where table_name = ${table} and is_generated = 'NEVER' order by ordinal_position`
  const names = columns.map(({ name }) => name)
  const values = names.map((name) => (name === id ? "gen_random_uuid()" : (change[name] ?? name)))
  const statement = `insert into ${table} (${names.join()}) select ${values.join()}
    from ${table}, generate_series(1, $2::integer) n where ${id} = $1::uuid`
  yield* seeding(sql.unsafe(statement, [of, count]))
})

const copyNumber = (number: PhoneNumber, count: number, change: Change) =>
  copy("phone_numbers", "phone_number_id", number.phoneNumberId, count, {
    number: `'+1' || floor(random() * 1e13)::bigint || n`,
    ...change
  })
const copyCall = (call: Call, count: number, change: Change) =>
  copy("calls", "call_id", call.callId, count, { provider_call_id: "gen_random_uuid()::text", ...change })

/** Adds phone numbers and calls that are due. */
const addDue = ({ call, number }: Samples) =>
  Effect.all([
    copyNumber(number, DUE, { notice_at: "epoch_millis() - 1000 - n" }),
    copyNumber(number, DUE, { notice_days: "null", notice_at: "null", expires_at: "epoch_millis() - 1000 - n" }),
    copyNumber(number, DUE, { state: "'suspended'", suspension: "'expired'" }),
    copyCall(call, DUE, { watch_at: "epoch_millis() - 1000 - n" })
  ])

const addIdle = ({ call, number }: Samples, share = 1) =>
  Effect.all([
    copyNumber(number, IN_USE / share, { expires_at: "expires_at + n", notice_at: "notice_at + n" }),
    copyNumber(number, RELEASED / share, { state: "'released'", released_at: "created_at" }),
    copyCall(call, ENDED / share, { state: "'ended'", watch_at: "null", ended_at: "created_at" })
  ])

const check = <A, E>(
  name: string,
  indexes: ReadonlyArray<string>,
  effect: Effect.Effect<A, E>
): Effect.Effect<void, E, Database> =>
  Effect.map(plansOf(effect), (plans: ReadonlyArray<Plan>) => {
    assert.isAbove(plans.length, 0, name)
    for (const plan of plans) {
      assert.deepStrictEqual(plan.wholeTables, [], `${name}: ${plan.text}`)
      assert.isAtMost(plan.rowsVisited, VISITED_MAX, `${name}: ${plan.text}`)
    }
    assert.sameMembers([...new Set(plans.flatMap((plan) => [...plan.indexes]))], [...indexes], name)
  })

const assertNumberPlans = Effect.fnUntraced(function* ({ number }: Samples) {
  const store = yield* PhoneNumberStore
  const { transact } = yield* Transactor
  const now = yield* Timestamp.now
  const middle = "80000000-0000-4000-8000-000000000000"
  for (const limit of [PAGE, 1_000]) {
    yield* check("dueForNotice", ["phone_numbers_notice_due"], store.dueForNotice(now, limit))
    yield* check("expired", ["phone_numbers_expiry_due"], store.expired(now, limit))
    yield* check("suspended", ["phone_numbers_suspended"], store.suspended(undefined, limit))
  }
  assert.strictEqual((yield* store.dueForNotice(now, PAGE)).length, PAGE)
  assert.strictEqual((yield* store.expired(now, PAGE)).length, PAGE)
  assert.strictEqual((yield* store.suspended(undefined, PAGE)).length, PAGE)
  const early = Timestamp.add(now, -Timestamp.DAY)
  yield* check("dueForNotice, of nothing", ["phone_numbers_notice_due"], store.dueForNotice(early, 1_000))
  yield* check("expired, of nothing", ["phone_numbers_expiry_due"], store.expired(early, 1_000))
  yield* check("unreleased", ["phone_numbers_unreleased"], store.unreleased(undefined, PAGE))
  yield* check("unreleased from the middle", ["phone_numbers_unreleased"], store.unreleased(middle, PAGE))

  const byNumber = ["phone_numbers_unreleased_number"]
  yield* check("findByNumber", byNumber, store.findByNumber(number.number))
  yield* check("findByNumbers", byNumber, store.findByNumbers([number.number, "+14155550101", "+14155550102"]))
  yield* check("find", ["phone_numbers_key"], store.find(number.tenantId, number.phoneNumberId))
  yield* check("list", ["phone_numbers_order"], store.list(yield* Uuid.next))
  yield* check("update", ["phone_numbers_key"], store.update(number))
  for (const due of [yield* store.dueForNotice(now, PAGE), yield* store.expired(now, 1_000)]) {
    yield* check("findEach", ["phone_numbers_key"], store.findEach(due))
    yield* check("updateEach", ["phone_numbers_key"], store.updateEach(due))
    const released = due.map((one): PhoneNumber => ({ ...one, state: "released", suspension: "expired" }))
    const undone = Effect.flip(transact(Effect.andThen(store.updateEach(released), Effect.fail("undone"))))
    yield* check("updateEach, at their end", ["phone_numbers_key", "held_numbers_key"], undone)
  }
  const operationId = yield* Uuid.next
  const reserve = store.reserve("+14155550103", operationId)
  yield* check("reserve", ["held_numbers_key", "held_numbers_operation_key"], reserve)
  yield* check("reservation", ["held_numbers_operation_key"], store.reservation(operationId))
  yield* check("findReserved", ["held_numbers_key"], store.findReserved(["+14155550103", "+14155550104"]))
  yield* check("release", ["held_numbers_operation_key"], store.release(operationId))
})

const assertCallPlans = Effect.fnUntraced(function* ({ call, number }: Samples) {
  const store = yield* CallStore
  const operationId = yield* Uuid.next
  yield* check("takeWatched", ["calls_watched", "calls_key"], store.takeWatched(PAGE, Timestamp.DAY))
  yield* check(
    "takeWatched, more than there is",
    ["calls_watched", "calls_key"],
    store.takeWatched(1_000, Timestamp.DAY)
  )
  yield* check(
    "postponeWatch",
    ["calls_watched"],
    store.postponeWatch(call.callId, yield* Timestamp.now, Timestamp.DAY)
  )
  yield* check("takeWatched, of nothing", ["calls_watched", "calls_key"], store.takeWatched(1_000, Timestamp.DAY))
  const { phoneNumberId, tenantId } = number
  const now = yield* Timestamp.now
  for (const filter of [{}, { after: Timestamp.add(now, -Timestamp.DAY), before: Timestamp.add(now, Timestamp.DAY) }]) {
    yield* check("list", ["calls_listed"], store.list(tenantId, filter, undefined, PAGE))
    const byNumber = ["calls_of_number", "phone_numbers_key"]
    yield* check("list of a number", byNumber, store.list(tenantId, { ...filter, phoneNumberId }, undefined, PAGE))
  }
  yield* check("recent", ["calls_outbound"], store.recent(tenantId, Timestamp.add(now, -Timestamp.HOUR), PAGE))
  yield* check("dueDeclined", ["declined_calls_due"], store.dueDeclined(now, PAGE))
  yield* check("declinedOf", ["declined_calls_key"], store.declinedOf(phoneNumberId))
  yield* check("live", ["calls_live"], store.live(number.phoneNumberId))
  const numbers = yield* Effect.replicateEffect(Uuid.next, 100)
  yield* check("liveEach", ["calls_live"], store.liveEach([...numbers, number.phoneNumberId]))
  yield* check("findByProvider", ["calls_provider_key"], store.findByProvider("a call"))
  yield* check("get", ["calls_key"], store.get(call.callId))
  yield* check("update", ["calls_key"], store.update(call))
  yield* check("extend", ["calls_key", "call_grants_key"], store.extend(call.callId, operationId, 60))
  yield* check("revokeExtension", ["calls_key", "call_grants_key"], store.revokeExtension(operationId))
  yield* check("issueRelay", ["calls_key"], store.issueRelay(call.callId, operationId))
  yield* check("redeemRelay", ["calls_relay"], store.redeemRelay(operationId))
  yield* check("addTurn", ["calls_key"], store.addTurn(call.callId, { role: "caller", text: "Hi", at: call.createdAt }))
  yield* check("setTurnText", ["call_turns_key"], store.setTurnText(call.callId, 0, "Hello"))
  yield* check("turns", ["call_turns_key"], store.turns(call.callId))
  yield* check("the last turns", ["call_turns_key"], store.turns(call.callId, 20))
})

const assertPlans = (rows: Samples) => Effect.andThen(assertNumberPlans(rows), assertCallPlans(rows))

describe("with 25,000 numbers and 20,000 calls that are not due, due ones are found without visiting them", () => {
  const onServer = () => Layer.provideMerge(Postgres.layer, layerTestPostgres({ settings: { autovacuum: "off" } }))

  layer(onServer(), { excludeTestServices: true })("on PostgreSQL", (it) => {
    it.effect(
      "with no statistics, and with current ones",
      () =>
        Effect.gen(function* () {
          const { sql } = yield* Database
          const rows = yield* samples
          yield* addIdle(rows)
          yield* addDue(rows)
          yield* assertPlans(rows)
          yield* addDue(rows)
          yield* sql`vacuum analyze phone_numbers, calls, held_numbers, call_grants, call_turns`
          yield* assertPlans(rows)
        }),
      240 * SECONDS
    )
  })

  layer(onServer(), { excludeTestServices: true })("on PostgreSQL", (it) => {
    it.effect(
      "with statistics from when all were due, and from when there were none",
      () =>
        Effect.gen(function* () {
          const { sql } = yield* Database
          const rows = yield* samples
          yield* copyNumber(rows.number, IN_USE / 5, { expires_at: "0", notice_at: "0" })
          yield* copyCall(rows.call, ENDED / 5, { watch_at: "0" })
          yield* sql`analyze phone_numbers, calls, held_numbers, call_grants, call_turns`
          yield* seeding(sql`update phone_numbers set expires_at = epoch_millis() * 2, notice_at = epoch_millis() * 2`)
          yield* seeding(sql`
            update calls set state = 'ended', watch_at = null where call_id <> ${rows.call.callId}::uuid`)
          yield* sql`vacuum phone_numbers, calls`
          yield* addDue(rows)
          yield* assertPlans(rows)
          yield* sql`
            delete from pg_statistic where starelid in ('phone_numbers'::regclass, 'calls'::regclass)`
          yield* addDue(rows)
          yield* assertPlans(rows)
        }),
      240 * SECONDS
    )
  })

  layer(Layer.provideMerge(Postgres.layer, layerTestPGlite), { excludeTestServices: true })("on PGlite", (it) => {
    it.effect(
      "without any statistics",
      () =>
        Effect.gen(function* () {
          const rows = yield* samples
          // PGlite has the planner of PostgreSQL: this only shows that the settings which it needs are set.
          yield* addIdle(rows, 10)
          yield* addDue(rows)
          yield* assertPlans(rows)
        }),
      240 * SECONDS
    )
  })
})
