import { type NumberKey, type NumberReservation, type PhoneNumber, PhoneNumberStore } from "@agentos/core"
import type { PgTypes } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { Database } from "./Database.ts"
import { orDie } from "./DatabaseFailure.ts"
import * as Parameter from "./Parameter.ts"
import * as Row from "./Row.ts"

interface PhoneNumberRow extends Record<"phone_number_id" | "tenant_id" | "agent_id" | "number", string> {
  readonly country: PhoneNumber["country"]
  readonly provider_number_id: string
  readonly agent_name: string
  readonly agent_webhook_url: string
  readonly description: string | null
  readonly begin_message: string | null
  readonly voice: string | null
  readonly language: string | null
  readonly state: PhoneNumber["state"]
  readonly suspension: PhoneNumber["suspension"]
  readonly started_at: bigint
  readonly expires_at: bigint
  readonly notice_days: NonNullable<PhoneNumber["nextNotice"]>["daysBefore"] | null
  readonly notice_at: bigint | null
  readonly purchased_seconds: number
  readonly used_seconds: number
  readonly callback_key_id: number
  readonly callback_version: number
  readonly created_at: bigint
  readonly released_at: bigint | null
}

interface ReservationRow {
  readonly number: string
  readonly operation_id: string
}

const reservationsIn = (rows: ReadonlyArray<ReservationRow>): ReadonlyArray<NumberReservation> =>
  rows.map(({ number, operation_id: operationId }) => ({ number, operationId }))

const toPhoneNumber = (row: PhoneNumberRow): PhoneNumber => ({
  phoneNumberId: row.phone_number_id,
  tenantId: row.tenant_id,
  agentId: row.agent_id,
  number: row.number,
  country: row.country,
  providerNumberId: row.provider_number_id,
  agentName: row.agent_name,
  agentWebhookUrl: row.agent_webhook_url,
  description: row.description,
  beginMessage: row.begin_message,
  voice: row.voice,
  language: row.language,
  state: row.state,
  suspension: row.suspension,
  startedAt: Row.toMoment(row.started_at),
  expiresAt: Row.toMoment(row.expires_at),
  nextNotice:
    row.notice_days === null || row.notice_at === null
      ? null
      : { daysBefore: row.notice_days, at: Row.toMoment(row.notice_at) },
  allowance: { purchasedSeconds: row.purchased_seconds, usedSeconds: row.used_seconds },
  callbackKeyId: row.callback_key_id,
  callbackVersion: row.callback_version,
  createdAt: Row.toMoment(row.created_at),
  releasedAt: row.released_at === null ? null : Row.toMoment(row.released_at)
})

type Columns = Readonly<Record<string, PgTypes.Parameter>>

/** The columns that can change, as arrays with one element per number. */
const changing = (numbers: ReadonlyArray<PhoneNumber>): Columns => {
  const texts = (of: (number: PhoneNumber) => string | null) => Parameter.texts(numbers.map(of))
  const integers = (of: (number: PhoneNumber) => number | null) => Parameter.integers(numbers.map(of))
  return {
    provider_number_id: texts((number) => number.providerNumberId),
    agent_name: texts((number) => number.agentName),
    agent_webhook_url: texts((number) => number.agentWebhookUrl),
    description: texts((number) => number.description),
    begin_message: texts((number) => number.beginMessage),
    voice: texts((number) => number.voice),
    language: texts((number) => number.language),
    state: texts((number) => number.state),
    suspension: texts((number) => number.suspension),
    started_at: integers((number) => number.startedAt),
    expires_at: integers((number) => number.expiresAt),
    notice_days: integers((number) => number.nextNotice?.daysBefore ?? null),
    notice_at: integers((number) => number.nextNotice?.at ?? null),
    purchased_seconds: integers((number) => number.allowance.purchasedSeconds),
    used_seconds: integers((number) => number.allowance.usedSeconds),
    callback_key_id: integers((number) => number.callbackKeyId),
    callback_version: integers((number) => number.callbackVersion),
    released_at: integers((number) => number.releasedAt)
  }
}

/** The columns that identify the numbers and their tenants. */
const keys = (numbers: ReadonlyArray<NumberKey>): Columns => ({
  phone_number_id: Parameter.uuids(numbers.map((number) => number.phoneNumberId)),
  tenant_id: Parameter.uuids(numbers.map((number) => number.tenantId))
})

/** The columns that never change. */
const fixed = (numbers: ReadonlyArray<PhoneNumber>): Columns => ({
  ...keys(numbers),
  agent_id: Parameter.uuids(numbers.map((number) => number.agentId)),
  number: Parameter.texts(numbers.map((number) => number.number)),
  country: Parameter.texts(numbers.map((number) => number.country)),
  created_at: Parameter.integers(numbers.map((number) => number.createdAt))
})

const COLUMNS = `phone_number_id, tenant_id, agent_id, number, country, provider_number_id, agent_name, agent_webhook_url,
  description, begin_message, voice, language, state, suspension, started_at, expires_at, notice_days, notice_at,
  purchased_seconds, used_seconds, callback_key_id, callback_version, created_at, released_at`

export const layer: Layer.Layer<PhoneNumberStore, never, Database> = Layer.effect(
  PhoneNumberStore,
  Effect.gen(function* () {
    const { sql, transact } = yield* Database
    const columns = sql.literal(COLUMNS)
    const ofNumbers = sql.literal(Row.qualified("phone_numbers", COLUMNS))
    const namesOf = (given: Columns) => sql.csv(Object.keys(given).map((column) => sql.literal(column)))
    const valuesOf = (given: Columns) => sql.csv(Object.values(given).map((values) => sql`${values}`))
    const many = (rows: ReadonlyArray<PhoneNumberRow>) => rows.map(toPhoneNumber)

    const reservation = (operationId: string) => sql<{ readonly number: string }>`
      select number from held_numbers where operation_id = ${Parameter.uuid(operationId)}`

    /**
     * Reserves the new number before it releases the one reserved earlier. If two operations want each other's
     * number, each finds it taken, and neither waits for the other.
     */
    const reserve = Effect.fnUntraced(function* (number: string, operationId: string) {
      const [held] = yield* reservation(operationId)
      if (held?.number === number) return "reserved" as const
      const taken = yield* sql`
        insert into held_numbers (number) values (${Parameter.text(number)}) on conflict do nothing returning number`
      if (taken.length === 0) return "taken" as const
      yield* release(operationId)
      yield* sql`
        update held_numbers set operation_id = ${Parameter.uuid(operationId)} where number = ${Parameter.text(number)}`
      return "reserved" as const
    })

    const release = (operationId: string) =>
      sql`delete from held_numbers where operation_id = ${Parameter.uuid(operationId)}`

    const create = Effect.fnUntraced(function* (number: PhoneNumber, operationId: string) {
      const rows = yield* sql`
        update held_numbers set operation_id = null
        where number = ${Parameter.text(number.number)} and operation_id = ${Parameter.uuid(operationId)}
        returning number`
      if (rows.length === 0) {
        return yield* Effect.die(new Error(`operation ${operationId} has not reserved ${number.number}`))
      }
      const row = { ...fixed([number]), ...changing([number]) }
      yield* sql`insert into phone_numbers (${namesOf(row)}) select * from unnest(${valuesOf(row)})`
    })

    const givenOf = (given: Columns) => sql`
      given as materialized (
        select * from unnest(${valuesOf(given)}) with ordinality as given (${namesOf(given)}, place)
      )`

    /** The condition is stated twice: the array shows the planner that the rows are few and found by their ids. */
    const areGiven = sql.literal(`
      phone_numbers.phone_number_id = any(array(select phone_number_id from given))
      and phone_numbers.phone_number_id = given.phone_number_id
      and phone_numbers.tenant_id is not distinct from given.tenant_id`)

    const findEach = (wanted: ReadonlyArray<NumberKey>) => sql<PhoneNumberRow>`
      with ${givenOf(keys(wanted))}
      select distinct on (phone_numbers.phone_number_id) ${ofNumbers} from phone_numbers, given where ${areGiven}`

    const updateEach = Effect.fnUntraced(function* (numbers: ReadonlyArray<PhoneNumber>) {
      if (new Set(numbers.map(({ phoneNumberId }) => phoneNumberId)).size < numbers.length) {
        return yield* Effect.die(new Error("a number occurs twice in one update"))
      }
      const changes = changing(numbers)
      const given = { ...keys(numbers), ...changes }
      const set = sql.csv(Object.keys(changes).map((column) => sql.literal(`${column} = given.${column}`)))
      const freed = sql`, freed as (
        delete from held_numbers where number = any(array(select number from updated where state = 'released'))
      )`
      const rows = yield* sql<{ readonly place: bigint }>`
        with ${givenOf(given)}, updated as (
          update phone_numbers set ${set} from given where ${areGiven} and phone_numbers.state <> 'released'
          returning phone_numbers.number, phone_numbers.state, place
        )${numbers.some(({ state }) => state === "released") ? freed : sql``}
        select place from updated`
      const updated = new Set(rows.map(({ place }) => Number(place)))
      return numbers.map((_, index) => updated.has(index + 1))
    })

    return PhoneNumberStore.of({
      find: (tenantId, phoneNumberId) =>
        Effect.map(
          orDie(sql<PhoneNumberRow>`
            select ${columns} from phone_numbers where phone_number_id = ${Parameter.uuid(phoneNumberId)}`),
          Row.lookup(tenantId, toPhoneNumber)
        ),
      findEach: (wanted) => Effect.map(orDie(findEach(wanted)), many),
      list: (tenantId) =>
        Effect.map(
          orDie(sql<PhoneNumberRow>`
            select ${columns} from phone_numbers where tenant_id = ${Parameter.uuid(tenantId)}
            order by created_at, phone_number_id`),
          many
        ),
      findByNumber: (number) =>
        Effect.map(
          orDie(sql<PhoneNumberRow>`
            select ${columns} from phone_numbers where unreleased_number = ${Parameter.text(number)}`),
          Row.first(toPhoneNumber)
        ),
      findByNumbers: (numbers) =>
        Effect.map(
          orDie(sql<PhoneNumberRow>`
            select ${columns} from phone_numbers where unreleased_number = any(${Parameter.texts(numbers)})`),
          many
        ),
      reserve: (number, operationId) => transact(orDie(reserve(number, operationId))),
      reservation: (operationId) =>
        Effect.map(
          orDie(reservation(operationId)),
          Row.first(({ number }) => number)
        ),
      findReserved: (numbers) =>
        Effect.map(
          orDie(sql<ReservationRow>`
            select number, operation_id from held_numbers
            where number = any(${Parameter.texts(numbers)}) and operation_id is not null`),
          reservationsIn
        ),
      reservations: (after, limit) =>
        Effect.map(
          orDie(sql<ReservationRow>`
            select number, operation_id from held_numbers where operation_id > ${Parameter.uuid(after ?? Row.NIL)}
            order by operation_id limit ${Parameter.integer(limit)}`),
          reservationsIn
        ),
      release: (operationId) => orDie(Effect.asVoid(release(operationId))),
      create: (number, operationId) => transact(orDie(create(number, operationId))),
      update: (number) => Effect.map(orDie(updateEach([number])), ([isUpdated]) => isUpdated === true),
      updateEach: (numbers) => (numbers.length === 0 ? Effect.succeed([]) : orDie(updateEach(numbers))),
      dueForNotice: (now, limit) =>
        Effect.map(
          orDie(sql<PhoneNumberRow>`
            select ${columns} from phone_numbers where notice_due_at <= ${Parameter.integer(now)}
            order by notice_due_at, phone_number_id limit ${Parameter.integer(limit)}`),
          many
        ),
      expired: (now, limit) =>
        Effect.map(
          orDie(sql<PhoneNumberRow>`
            select ${columns} from phone_numbers where expiry_due_at <= ${Parameter.integer(now)}
            order by expiry_due_at, phone_number_id limit ${Parameter.integer(limit)}`),
          many
        ),
      suspended: (after, limit) =>
        Effect.map(
          orDie(sql<PhoneNumberRow>`
            select ${columns} from phone_numbers where suspended_id > ${Parameter.uuid(after ?? Row.NIL)}
            order by suspended_id limit ${Parameter.integer(limit)}`),
          many
        ),
      unreleased: (after, limit) =>
        Effect.map(
          orDie(sql<PhoneNumberRow>`
            select ${columns} from phone_numbers where unreleased_id > ${Parameter.uuid(after ?? Row.NIL)}
            order by unreleased_id limit ${Parameter.integer(limit)}`),
          many
        )
    })
  })
)
