import { MessageRetryStore, type RetryLease, type WaitingMessages } from "@agentos/core"
import { Effect, Layer } from "effect"
import { storeClock } from "./ClockOffset.ts"
import { Database } from "./Database.ts"
import { orDie } from "./DatabaseFailure.ts"
import * as Parameter from "./Parameter.ts"
import * as Row from "./Row.ts"
import * as Table from "./Table.ts"

const RETRIES = Table.table("message_retries", {
  messageId: Table.uuid("message_id"),
  tenantId: Table.uuid("tenant_id"),
  attempts: Table.integer("attempts")
})

type RetryRow = Table.Stored<typeof RETRIES> & { readonly was_due_at: bigint }

interface WaitingRow {
  readonly scheduled: bigint
  readonly deferred: bigint
  readonly first_due_at: bigint | null
}

const toWaiting = ({ deferred, first_due_at, scheduled }: WaitingRow): WaitingMessages => ({
  scheduled: Number(scheduled),
  deferred: Number(deferred),
  firstDueAt: Row.toMomentOrNull(first_due_at)
})

const dueFirst = (a: RetryRow, b: RetryRow): number =>
  Number(a.was_due_at - b.was_due_at) || (a.message_id < b.message_id ? -1 : 1)

export const layer: Layer.Layer<MessageRetryStore, never, Database> = Layer.effect(
  MessageRetryStore,
  Effect.gen(function* () {
    const { sql } = yield* Database
    const { clock, now } = yield* storeClock

    const isHeldBy = ({ attempts, messageId }: RetryLease) =>
      sql`message_id = ${Parameter.uuid(messageId)} and attempts = ${Parameter.integer(attempts)}`

    const lease = (limit: number, leaseMillis: number) => sql<RetryRow>`
      with ${clock()}, due as materialized (
        select message_id, due_at from message_retries where due_at <= (select now from clock)
        order by due_at, message_id limit ${Parameter.integer(limit)}
        for update skip locked
      )
      update message_retries set
        attempts = attempts + 1, due_at = (select now from clock) + ${Parameter.integer(leaseMillis)}
      from due where message_retries.message_id = due.message_id
      returning ${sql.literal(RETRIES.qualified)}, due.due_at as was_due_at`

    return MessageRetryStore.of({
      schedule: (messageId, tenantId, delayMillis, sendAt) =>
        orDie(
          Effect.asVoid(sql`
            insert into message_retries (message_id, tenant_id, attempts, due_at, send_at) values (
              ${Parameter.uuid(messageId)}, ${Parameter.uuid(tenantId)}, 0, ${now()} + ${Parameter.integer(delayMillis)},
              ${sendAt === undefined ? sql`null` : Parameter.integer(sendAt)}
            )`)
        ),
      listScheduled: (tenantId, limit) =>
        Effect.map(
          orDie(sql<{ readonly message_id: string }>`
            select message_id from message_retries
            where tenant_id = ${Parameter.uuid(tenantId)} and send_at is not null
            order by send_at, message_id limit ${Parameter.integer(limit)}`),
          (rows) => rows.map(({ message_id }) => message_id)
        ),
      withdraw: (messageId) =>
        Effect.map(
          orDie(sql`
            delete from message_retries
            where message_id = ${Parameter.uuid(messageId)} and attempts = 0 returning message_id`),
          Row.any
        ),
      lease: (limit, leaseMillis) =>
        Effect.map(orDie(lease(limit, leaseMillis)), (rows) =>
          rows.toSorted(dueFirst).map((row) => RETRIES.toRecord(row))
        ),
      renew: (held, millis) =>
        Effect.map(
          orDie(sql`
            update message_retries set due_at = ${now()} + ${Parameter.integer(millis)}
            where ${isHeldBy(held)} returning message_id`),
          Row.any
        ),
      end: (held) =>
        Effect.map(orDie(sql`delete from message_retries where ${isHeldBy(held)} returning message_id`), Row.any),
      countWaiting: (limit) =>
        Effect.map(
          orDie(sql<WaitingRow>`
            with waiting as materialized (
              select due_at, send_at is not null and attempts = 0 as is_scheduled from message_retries
              order by due_at, message_id limit ${Parameter.integer(limit)}
            )
            select count(*) filter (where is_scheduled) as scheduled, count(*) filter (where not is_scheduled) as deferred,
              min(due_at) as first_due_at
            from waiting`),
          ([row]) => toWaiting(row!)
        )
    })
  })
)
