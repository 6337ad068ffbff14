import {
  MessageRetryStore,
  type RetryLease,
  type WaitingMessage,
  type WaitingMessages,
  type WaitingState
} from "@agentos/core"
import { Effect, Layer, Option } from "effect"
import type { Statement } from "effect/sql"
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

const WAITING = Table.table("message_retries", {
  ...RETRIES.fields,
  dueAt: Table.moment("due_at"),
  sendAt: Table.momentOrNull("send_at")
})

type WaitingMessageRow = Table.Stored<typeof WAITING> & { readonly state: WaitingState }

const toWaitingMessage = (row: WaitingMessageRow): WaitingMessage => ({ ...WAITING.toRecord(row), state: row.state })

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

    /** The state of a message, as `WaitingState` tells. */
    const state = sql`case
      when ended_attempt = attempts then outcome
      when attempts = 0 then case when send_at is null then 'deferred' else 'scheduled' end
      when due_at > (select now from clock) then 'sending'
      else 'unknown'
    end`

    const listWaiting = (conditions: ReadonlyArray<Statement.Fragment>, limit: number) =>
      Row.all(toWaitingMessage)(sql<WaitingMessageRow>`
        with ${clock()}
        select ${sql.literal(WAITING.columns)}, ${state} as state from message_retries
        where ${sql.and(conditions)} order by message_id limit ${Parameter.integer(limit)}`)

    const isDeferred = (messageId: string) => sql`message_id = ${Parameter.uuid(messageId)} and ${state} = 'deferred'`

    return MessageRetryStore.of({
      schedule: (messageId, tenantId, delayMillis, after = "deferred") => {
        const [sendAt, outcome] = typeof after === "string" ? [null, after] : [after.sendAt, null]
        return Row.run(sql`
          insert into message_retries (message_id, tenant_id, attempts, due_at, send_at, ended_attempt, outcome) values (
            ${Parameter.uuid(messageId)}, ${Parameter.uuid(tenantId)}, 0, ${now()} + ${Parameter.integer(delayMillis)},
            ${Parameter.integer(sendAt)}, ${Parameter.integer(outcome === null ? null : 0)}, ${Parameter.text(outcome)}
          )`)
      },
      listScheduled: (tenantId, limit) =>
        Effect.map(
          orDie(sql<{ readonly message_id: string }>`
            select message_id from message_retries
            where tenant_id = ${Parameter.uuid(tenantId)} and send_at is not null
            order by send_at, message_id limit ${Parameter.integer(limit)}`),
          (rows) => rows.map(({ message_id }) => message_id)
        ),
      withdraw: (messageId) =>
        Row.any(sql`
          delete from message_retries
          where message_id = ${Parameter.uuid(messageId)} and attempts = 0 returning message_id`),
      lease: (limit, leaseMillis) =>
        Effect.map(orDie(lease(limit, leaseMillis)), (rows) =>
          rows.toSorted(dueFirst).map((row) => RETRIES.toRecord(row))
        ),
      renew: (held, millis) =>
        Row.any(sql`
          update message_retries set due_at = ${now()} + ${Parameter.integer(millis)}
          where ${isHeldBy(held)} returning message_id`),
      reschedule: (held, millis, outcome) =>
        Row.any(sql`
          update message_retries set
            due_at = ${now()} + ${Parameter.integer(millis)}, ended_attempt = attempts,
            outcome = ${Parameter.text(outcome)}
          where ${isHeldBy(held)} returning message_id`),
      listWaiting: ({ after, before, limit, state: wanted, tenantId }) =>
        listWaiting(
          [
            sql`true`,
            ...(wanted === undefined ? [] : [sql`${state} = ${Parameter.text(wanted)}`]),
            ...(tenantId === undefined ? [] : [sql`tenant_id = ${Parameter.uuid(tenantId)}`]),
            ...(before === undefined ? [] : [sql`message_id < ${Parameter.uuid(before)}`]),
            ...(after === undefined ? [] : [sql`message_id > ${Parameter.uuid(after)}`])
          ],
          limit
        ),
      findWaiting: (messageId) =>
        Effect.map(listWaiting([sql`message_id = ${Parameter.uuid(messageId)}`], 1), ([found]) =>
          Option.fromUndefinedOr(found)
        ),
      makeDue: (messageId) =>
        Row.any(sql`
          with ${clock()}
          update message_retries set due_at = least(due_at, (select now from clock))
          where ${isDeferred(messageId)} returning message_id`),
      giveUp: (messageId) =>
        Row.any(sql`
          with ${clock()}
          delete from message_retries where ${isDeferred(messageId)} returning message_id`),
      end: (held) => Row.any(sql`delete from message_retries where ${isHeldBy(held)} returning message_id`),
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
