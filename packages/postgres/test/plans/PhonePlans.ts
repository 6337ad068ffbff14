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
import { Database } from "@agentos/postgres"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { seeding } from "../support/Seeding.ts"
import { checkIndexes, planTests } from "./PlanSubject.ts"

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
    answeredBy: null,
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

const addIdle = ({ call, number }: Samples, share: number) =>
  Effect.all([
    copyNumber(number, IN_USE / share, { expires_at: "expires_at + n", notice_at: "notice_at + n" }),
    copyNumber(number, RELEASED / share, { state: "'released'", released_at: "created_at" }),
    copyCall(call, ENDED / share, { state: "'ended'", watch_at: "null", ended_at: "created_at" })
  ])

const assertNumberPlans = Effect.fnUntraced(function* ({ number }: Samples) {
  const store = yield* PhoneNumberStore
  const { transact } = yield* Transactor
  const now = yield* Timestamp.now
  const middle = "80000000-0000-4000-8000-000000000000"
  for (const limit of [PAGE, 1_000]) {
    yield* checkIndexes("dueForNotice", ["phone_numbers_notice_due"], store.dueForNotice(now, limit))
    yield* checkIndexes("expired", ["phone_numbers_expiry_due"], store.expired(now, limit))
    yield* checkIndexes("suspended", ["phone_numbers_suspended"], store.suspended(undefined, limit))
  }
  assert.strictEqual((yield* store.dueForNotice(now, PAGE)).length, PAGE)
  assert.strictEqual((yield* store.expired(now, PAGE)).length, PAGE)
  assert.strictEqual((yield* store.suspended(undefined, PAGE)).length, PAGE)
  const early = Timestamp.add(now, -Timestamp.DAY)
  yield* checkIndexes("dueForNotice, of nothing", ["phone_numbers_notice_due"], store.dueForNotice(early, 1_000))
  yield* checkIndexes("expired, of nothing", ["phone_numbers_expiry_due"], store.expired(early, 1_000))
  yield* checkIndexes("unreleased", ["phone_numbers_unreleased"], store.unreleased(undefined, PAGE))
  yield* checkIndexes("unreleased from the middle", ["phone_numbers_unreleased"], store.unreleased(middle, PAGE))

  const byNumber = ["phone_numbers_unreleased_number"]
  yield* checkIndexes("findByNumber", byNumber, store.findByNumber(number.number))
  yield* checkIndexes("findByNumbers", byNumber, store.findByNumbers([number.number, "+14155550101", "+14155550102"]))
  yield* checkIndexes("find", ["phone_numbers_key"], store.find(number.tenantId, number.phoneNumberId))
  yield* checkIndexes("list", ["phone_numbers_order"], store.list(yield* Uuid.next))
  yield* checkIndexes("update", ["phone_numbers_key"], store.update(number))
  for (const due of [yield* store.dueForNotice(now, PAGE), yield* store.expired(now, 1_000)]) {
    yield* checkIndexes("findEach", ["phone_numbers_key"], store.findEach(due))
    yield* checkIndexes("updateEach", ["phone_numbers_key"], store.updateEach(due))
    const released = due.map((one): PhoneNumber => ({ ...one, state: "released", suspension: "expired" }))
    const undone = Effect.flip(transact(Effect.andThen(store.updateEach(released), Effect.fail("undone"))))
    yield* checkIndexes("updateEach, at their end", ["phone_numbers_key", "held_numbers_key"], undone)
  }
  const operationId = yield* Uuid.next
  const reserve = store.reserve("+14155550103", operationId)
  yield* checkIndexes("reserve", ["held_numbers_key", "held_numbers_operation_key"], reserve)
  yield* checkIndexes("reservation", ["held_numbers_operation_key"], store.reservation(operationId))
  yield* checkIndexes("findReserved", ["held_numbers_key"], store.findReserved(["+14155550103", "+14155550104"]))
  yield* checkIndexes("release", ["held_numbers_operation_key"], store.release(operationId))
  yield* checkIndexes("reservations", ["held_numbers_operation_key"], store.reservations(undefined, PAGE))
  yield* checkIndexes("reservations from the middle", ["held_numbers_operation_key"], store.reservations(middle, PAGE))
})

const assertCallPlans = Effect.fnUntraced(function* ({ call, number }: Samples) {
  const store = yield* CallStore
  const operationId = yield* Uuid.next
  yield* checkIndexes("takeWatched", ["calls_watched", "calls_key"], store.takeWatched(PAGE, Timestamp.DAY))
  yield* checkIndexes(
    "takeWatched, more than there is",
    ["calls_watched", "calls_key"],
    store.takeWatched(1_000, Timestamp.DAY)
  )
  yield* checkIndexes(
    "postponeWatch",
    ["calls_watched"],
    store.postponeWatch(call.callId, yield* Timestamp.now, Timestamp.DAY)
  )
  yield* checkIndexes(
    "takeWatched, of nothing",
    ["calls_watched", "calls_key"],
    store.takeWatched(1_000, Timestamp.DAY)
  )
  const { phoneNumberId, tenantId } = number
  const now = yield* Timestamp.now
  for (const filter of [{}, { after: Timestamp.add(now, -Timestamp.DAY), before: Timestamp.add(now, Timestamp.DAY) }]) {
    yield* checkIndexes("list", ["calls_listed"], store.list(tenantId, filter, undefined, PAGE))
    const byNumber = ["calls_of_number", "phone_numbers_key"]
    yield* checkIndexes(
      "list of a number",
      byNumber,
      store.list(tenantId, { ...filter, phoneNumberId }, undefined, PAGE)
    )
  }
  yield* checkIndexes("recent", ["calls_outbound"], store.recent(tenantId, Timestamp.add(now, -Timestamp.HOUR), PAGE))
  yield* checkIndexes("dueDeclined", ["declined_calls_due"], store.dueDeclined(now, PAGE))
  yield* checkIndexes("declinedOf", ["declined_calls_key"], store.declinedOf(phoneNumberId))
  yield* checkIndexes("live", ["calls_live"], store.live(number.phoneNumberId))
  const numbers = yield* Effect.replicateEffect(Uuid.next, 100)
  yield* checkIndexes("liveEach", ["calls_live"], store.liveEach([...numbers, number.phoneNumberId]))
  yield* checkIndexes("findByProvider", ["calls_provider_key"], store.findByProvider("a call"))
  yield* checkIndexes("get", ["calls_key"], store.get(call.callId))
  yield* checkIndexes("update", ["calls_key"], store.update(call))
  yield* checkIndexes("extend", ["calls_key", "call_grants_key"], store.extend(call.callId, operationId, 60))
  yield* checkIndexes("revokeExtension", ["calls_key", "call_grants_key"], store.revokeExtension(operationId))
  yield* checkIndexes("issueRelay", ["calls_key"], store.issueRelay(call.callId, operationId))
  yield* checkIndexes("redeemRelay", ["calls_relay"], store.redeemRelay(operationId))
  yield* checkIndexes(
    "addTurn",
    ["calls_key"],
    store.addTurn(call.callId, { role: "caller", text: "Hi", at: call.createdAt })
  )
  yield* checkIndexes("setTurnText", ["call_turns_key"], store.setTurnText(call.callId, 0, "Hello"))
  yield* checkIndexes("turns", ["call_turns_key"], store.turns(call.callId))
  yield* checkIndexes("the last turns", ["call_turns_key"], store.turns(call.callId, 20))
  const none = { age: Timestamp.DAY, limit: PAGE }
  yield* checkIndexes("removeTurns, of nothing", ["calls_transcribed"], store.removeTurns(none))
  yield* checkIndexes("remove, of nothing", ["calls_ended"], store.remove(none))
  const ended = { age: 0, limit: PAGE }
  const transcribed = ["calls_transcribed", "calls_key", "call_turns_key"]
  yield* checkIndexes("removeTurns", transcribed, store.removeTurns(ended))
  const { length } = yield* store.list(tenantId, {}, undefined, 100_000)
  yield* checkIndexes("remove", ["calls_ended", "calls_key", "call_turns_key", "call_grants_call"], store.remove(ended))
  assert.lengthOf(yield* store.list(tenantId, {}, undefined, 100_000), length - PAGE)
})

export const phonePlans = planTests({
  title: "due numbers and calls among 25,000 numbers and 20,000 calls that are not due",
  sample: samples,
  addIdle,
  embeddedShare: 10,
  addDue,
  analyze: Effect.flatMap(
    Database,
    ({ sql }) => sql`vacuum analyze phone_numbers, calls, held_numbers, call_grants, call_turns`
  ),
  addOutdated: (rows) =>
    Effect.gen(function* () {
      const { sql } = yield* Database
      yield* copyNumber(rows.number, IN_USE / 5, { expires_at: "0", notice_at: "0" })
      yield* copyCall(rows.call, ENDED / 5, { watch_at: "0" })
      yield* sql`analyze phone_numbers, calls, held_numbers, call_grants, call_turns`
      yield* seeding(sql`update phone_numbers set expires_at = epoch_millis() * 2, notice_at = epoch_millis() * 2`)
      yield* seeding(sql`
        update calls set state = 'ended', watch_at = null, ended_at = created_at where call_id <> ${rows.call.callId}::uuid`)
      yield* sql`vacuum phone_numbers, calls`
    }),
  loseStatistics: Effect.flatMap(
    Database,
    ({ sql }) => sql`delete from pg_statistic where starelid in ('phone_numbers'::regclass, 'calls'::regclass)`
  ),
  assertPlans: (rows) => Effect.andThen(assertNumberPlans(rows), assertCallPlans(rows))
})
