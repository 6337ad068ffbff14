import { type NumberKey, type NumberReservation, type PhoneNumber, PhoneNumberStore } from "@agentos/core"
import { Effect, Layer } from "effect"
import { Database } from "./Database.ts"
import { orDie } from "./DatabaseFailure.ts"
import * as Parameter from "./Parameter.ts"
import * as Row from "./Row.ts"
import * as Table from "./Table.ts"

interface ReservationRow {
  readonly number: string
  readonly operation_id: string
}

const manyReservations = Row.all(({ number, operation_id: operationId }: ReservationRow): NumberReservation => ({
  number,
  operationId
}))

/** The columns that identify the numbers and their tenants. */
const KEY = { phoneNumberId: Table.uuid("phone_number_id"), tenantId: Table.uuid("tenant_id") }

/** The fields that never change. */
const FIXED = {
  ...KEY,
  agentId: Table.uuid("agent_id"),
  number: Table.text("number"),
  country: Table.textOf<PhoneNumber["country"]>().column("country"),
  createdAt: Table.moment("created_at")
}

const CHANGING = {
  providerNumberId: Table.text("provider_number_id"),
  agentName: Table.text("agent_name"),
  agentWebhookUrl: Table.text("agent_webhook_url"),
  description: Table.textOrNull("description"),
  beginMessage: Table.textOrNull("begin_message"),
  voice: Table.textOrNull("voice"),
  language: Table.textOrNull("language"),
  state: Table.textOf<PhoneNumber["state"]>().column("state"),
  suspension: Table.textOf<NonNullable<PhoneNumber["suspension"]>>().orNull("suspension"),
  startedAt: Table.moment("started_at"),
  expiresAt: Table.moment("expires_at"),
  nextNotice: Table.groupOrNull({
    daysBefore: Table.integerOf<NonNullable<PhoneNumber["nextNotice"]>["daysBefore"]>().column("notice_days"),
    at: Table.moment("notice_at")
  }),
  allowance: Table.group({
    purchasedSeconds: Table.integer("purchased_seconds"),
    usedSeconds: Table.integer("used_seconds")
  }),
  callbackKeyId: Table.integer("callback_key_id"),
  callbackVersion: Table.integer("callback_version"),
  releasedAt: Table.momentOrNull("released_at")
}

const NUMBERS = Table.table("phone_numbers", { ...FIXED, ...CHANGING })

type PhoneNumberRow = Table.Stored<typeof NUMBERS>

const toPhoneNumber: (row: PhoneNumberRow) => PhoneNumber = NUMBERS.toRecord
const many = Row.all(toPhoneNumber)

export const layer: Layer.Layer<PhoneNumberStore, never, Database> = Layer.effect(
  PhoneNumberStore,
  Effect.gen(function* () {
    const { sql, transact } = yield* Database
    const columns = sql.literal(NUMBERS.columns)
    const ofNumbers = sql.literal(NUMBERS.qualified)
    const namesOf = (given: Table.Values) => sql.csv(Object.keys(given).map((column) => sql.literal(column)))
    const valuesOf = (given: Table.Values) => sql.csv(Object.values(given).map((values) => sql`${values}`))

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
      yield* sql`insert into phone_numbers ${Table.insert(sql, Table.valuesOf(NUMBERS.fields, number))}`
    })

    const givenOf = (given: Table.Values) => sql`
      given as materialized (
        select * from unnest(${valuesOf(given)}) with ordinality as given (${namesOf(given)}, place)
      )`

    /** The condition is stated twice: the array shows the planner that the rows are few and found by their ids. */
    const areGiven = sql.literal(`
      phone_numbers.phone_number_id = any(array(select phone_number_id from given))
      and phone_numbers.phone_number_id = given.phone_number_id
      and phone_numbers.tenant_id is not distinct from given.tenant_id`)

    const findEach = (wanted: ReadonlyArray<NumberKey>) => sql<PhoneNumberRow>`
      with ${givenOf(Table.arraysOf(KEY, wanted))}
      select distinct on (phone_numbers.phone_number_id) ${ofNumbers} from phone_numbers, given where ${areGiven}`

    const updateEach = Effect.fnUntraced(function* (numbers: ReadonlyArray<PhoneNumber>) {
      if (new Set(numbers.map(({ phoneNumberId }) => phoneNumberId)).size < numbers.length) {
        return yield* Effect.die(new Error("a number occurs twice in one update"))
      }
      const changes = Table.arraysOf(CHANGING, numbers)
      const given = { ...Table.arraysOf(KEY, numbers), ...changes }
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
        Row.lookup(
          tenantId,
          toPhoneNumber
        )(sql<PhoneNumberRow>`
            select ${columns} from phone_numbers where phone_number_id = ${Parameter.uuid(phoneNumberId)}`),
      findEach: (wanted) => many(findEach(wanted)),
      list: (tenantId) =>
        many(sql<PhoneNumberRow>`
          select ${columns} from phone_numbers where tenant_id = ${Parameter.uuid(tenantId)}
          order by created_at, phone_number_id`),
      findByNumber: (number) =>
        Row.first(toPhoneNumber)(sql<PhoneNumberRow>`
          select ${columns} from phone_numbers where unreleased_number = ${Parameter.text(number)}`),
      findByNumbers: (numbers) =>
        many(sql<PhoneNumberRow>`
          select ${columns} from phone_numbers where unreleased_number = any(${Parameter.texts(numbers)})`),
      reserve: (number, operationId) => transact(orDie(reserve(number, operationId))),
      reservation: (operationId) =>
        Row.first(({ number }: { readonly number: string }) => number)(reservation(operationId)),
      findReserved: (numbers) =>
        manyReservations(sql<ReservationRow>`
          select number, operation_id from held_numbers
          where number = any(${Parameter.texts(numbers)}) and operation_id is not null`),
      reservations: (after, limit) =>
        manyReservations(sql<ReservationRow>`
          select number, operation_id from held_numbers where operation_id > ${Parameter.uuid(after ?? Row.NIL)}
          order by operation_id limit ${Parameter.integer(limit)}`),
      release: (operationId) => Row.run(release(operationId)),
      create: (number, operationId) => transact(orDie(create(number, operationId))),
      update: (number) => Effect.map(orDie(updateEach([number])), ([isUpdated]) => isUpdated === true),
      updateEach: (numbers) => (numbers.length === 0 ? Effect.succeed([]) : orDie(updateEach(numbers))),
      dueForNotice: (now, limit) =>
        many(sql<PhoneNumberRow>`
          select ${columns} from phone_numbers where notice_due_at <= ${Parameter.integer(now)}
          order by notice_due_at, phone_number_id limit ${Parameter.integer(limit)}`),
      expired: (now, limit) =>
        many(sql<PhoneNumberRow>`
          select ${columns} from phone_numbers where expiry_due_at <= ${Parameter.integer(now)}
          order by expiry_due_at, phone_number_id limit ${Parameter.integer(limit)}`),
      suspended: (after, limit) =>
        many(sql<PhoneNumberRow>`
          select ${columns} from phone_numbers where suspended_id > ${Parameter.uuid(after ?? Row.NIL)}
          order by suspended_id limit ${Parameter.integer(limit)}`),
      unreleased: (after, limit) =>
        many(sql<PhoneNumberRow>`
          select ${columns} from phone_numbers where unreleased_id > ${Parameter.uuid(after ?? Row.NIL)}
          order by unreleased_id limit ${Parameter.integer(limit)}`)
    })
  })
)
