import { Lookup, type PhoneNumber, PhoneNumberStore, Timestamp } from "@agentos/core"
import { Array, Effect, Layer, Option } from "effect"
import { Database } from "./Database.ts"
import { orDie } from "./DatabaseFailure.ts"
import * as Parameter from "./Parameter.ts"

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

const toMoment = (millis: bigint): Timestamp.Timestamp => Timestamp.Timestamp.make(Number(millis))

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
  startedAt: toMoment(row.started_at),
  expiresAt: toMoment(row.expires_at),
  nextNotice:
    row.notice_days === null || row.notice_at === null
      ? null
      : { daysBefore: row.notice_days, at: toMoment(row.notice_at) },
  allowance: { purchasedSeconds: row.purchased_seconds, usedSeconds: row.used_seconds },
  callbackKeyId: row.callback_key_id,
  callbackVersion: row.callback_version,
  createdAt: toMoment(row.created_at),
  releasedAt: row.released_at === null ? null : toMoment(row.released_at)
})

/** The columns that can change, with their values. */
const changing = (number: PhoneNumber) => ({
  provider_number_id: Parameter.text(number.providerNumberId),
  agent_name: Parameter.text(number.agentName),
  agent_webhook_url: Parameter.text(number.agentWebhookUrl),
  description: Parameter.text(number.description),
  begin_message: Parameter.text(number.beginMessage),
  voice: Parameter.text(number.voice),
  language: Parameter.text(number.language),
  state: Parameter.text(number.state),
  suspension: Parameter.text(number.suspension),
  started_at: Parameter.integer(number.startedAt),
  expires_at: Parameter.integer(number.expiresAt),
  notice_days: Parameter.integer(number.nextNotice?.daysBefore ?? null),
  notice_at: Parameter.integer(number.nextNotice?.at ?? null),
  purchased_seconds: Parameter.integer(number.allowance.purchasedSeconds),
  used_seconds: Parameter.integer(number.allowance.usedSeconds),
  callback_key_id: Parameter.integer(number.callbackKeyId),
  callback_version: Parameter.integer(number.callbackVersion),
  released_at: Parameter.integer(number.releasedAt)
})

/** Which number it is, and whose. */
const fixed = (number: PhoneNumber) => ({
  phone_number_id: Parameter.uuid(number.phoneNumberId),
  tenant_id: Parameter.uuid(number.tenantId),
  agent_id: Parameter.uuid(number.agentId),
  number: Parameter.text(number.number),
  country: Parameter.text(number.country),
  created_at: Parameter.integer(number.createdAt)
})

/** Before all others, which no number has (RFC 9562, section 5.9). */
const NIL = "00000000-0000-0000-0000-000000000000"

export const layer: Layer.Layer<PhoneNumberStore, never, Database> = Layer.effect(
  PhoneNumberStore,
  Effect.gen(function* () {
    const { sql, transact } = yield* Database
    const columns = sql.literal(`phone_number_id, tenant_id, agent_id, number, country, provider_number_id, agent_name,
      agent_webhook_url, description, begin_message, voice, language, state, suspension, started_at, expires_at,
      notice_days, notice_at, purchased_seconds, used_seconds, callback_key_id, callback_version, created_at,
      released_at`)
    const many = (rows: ReadonlyArray<PhoneNumberRow>) => rows.map(toPhoneNumber)

    const chosen = (operationId: string) => sql<{ readonly number: string }>`
      select number from held_numbers where operation_id = ${Parameter.uuid(operationId)}`

    /**
     * The number is taken before the one chosen earlier is given up: two operations that want each other's number
     * each find it taken, and neither waits for the other.
     */
    const choose = Effect.fnUntraced(function* (number: string, operationId: string) {
      const [held] = yield* chosen(operationId)
      if (held?.number === number) return "chosen" as const
      const taken = yield* sql`
        insert into held_numbers (number) values (${Parameter.text(number)}) on conflict do nothing returning number`
      if (taken.length === 0) return "taken" as const
      yield* unchoose(operationId)
      yield* sql`
        update held_numbers set operation_id = ${Parameter.uuid(operationId)} where number = ${Parameter.text(number)}`
      return "chosen" as const
    })

    const unchoose = (operationId: string) =>
      sql`delete from held_numbers where operation_id = ${Parameter.uuid(operationId)}`

    const create = Effect.fnUntraced(function* (number: PhoneNumber, operationId: string) {
      const rows = yield* sql`
        update held_numbers set operation_id = null
        where number = ${Parameter.text(number.number)} and operation_id = ${Parameter.uuid(operationId)}
        returning number`
      if (rows.length === 0) {
        return yield* Effect.die(new Error(`operation ${operationId} has not chosen ${number.number}`))
      }
      yield* sql`insert into phone_numbers ${sql.insert({ ...fixed(number), ...changing(number) })}`
    })

    const update = (number: PhoneNumber) => {
      const freed = sql`, freed as (delete from held_numbers where number = (select number from updated))`
      return sql`
        with updated as (
          update phone_numbers set ${sql.update(changing(number))}
          where phone_number_id = ${Parameter.uuid(number.phoneNumberId)}
            and tenant_id = ${Parameter.uuid(number.tenantId)} and state <> 'released'
          returning number
        )${number.state === "released" ? freed : sql``}
        select number from updated`
    }

    return PhoneNumberStore.of({
      find: (tenantId, phoneNumberId) =>
        Effect.map(
          orDie(sql<PhoneNumberRow>`
            select ${columns} from phone_numbers where phone_number_id = ${Parameter.uuid(phoneNumberId)}`),
          ([row]) => {
            if (row === undefined) return Lookup.missing
            return row.tenant_id === tenantId ? Lookup.owned(toPhoneNumber(row)) : Lookup.foreign
          }
        ),
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
          (rows) => Option.map(Array.head(rows), toPhoneNumber)
        ),
      findByNumbers: (numbers) =>
        Effect.map(
          orDie(sql<PhoneNumberRow>`
            select ${columns} from phone_numbers where unreleased_number = any(${Parameter.texts(numbers)})`),
          many
        ),
      choose: (number, operationId) => transact(orDie(choose(number, operationId))),
      chosen: (operationId) =>
        Effect.map(orDie(chosen(operationId)), (rows) => Option.map(Array.head(rows), ({ number }) => number)),
      findChosen: (numbers) =>
        Effect.map(
          orDie(sql<{ readonly number: string }>`
            select number from held_numbers
            where number = any(${Parameter.texts(numbers)}) and operation_id is not null`),
          (rows) => new Set(rows.map(({ number }) => number))
        ),
      unchoose: (operationId) => orDie(Effect.asVoid(unchoose(operationId))),
      create: (number, operationId) => transact(orDie(create(number, operationId))),
      update: (number) => Effect.map(orDie(update(number)), (rows) => rows.length > 0),
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
            select ${columns} from phone_numbers where suspended_id > ${Parameter.uuid(after ?? NIL)}
            order by suspended_id limit ${Parameter.integer(limit)}`),
          many
        ),
      unreleased: (after, limit) =>
        Effect.map(
          orDie(sql<PhoneNumberRow>`
            select ${columns} from phone_numbers where unreleased_id > ${Parameter.uuid(after ?? NIL)}
            order by unreleased_id limit ${Parameter.integer(limit)}`),
          many
        )
    })
  })
)
