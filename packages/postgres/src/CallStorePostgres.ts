import { type Call, CallStore, type NewTurn, type OldRows, Timestamp, type Turn } from "@agentos/core"
import { Effect, Layer, Option } from "effect"
import type { Statement } from "effect/sql"
import { storeClock } from "./ClockOffset.ts"
import { Database } from "./Database.ts"
import { orDie } from "./DatabaseFailure.ts"
import * as Parameter from "./Parameter.ts"
import { inScope } from "./Retention.ts"
import * as Row from "./Row.ts"
import * as Table from "./Table.ts"

/** The fields that never change: the call's identity, owner and parties. */
const FIXED = {
  callId: Table.uuid("call_id"),
  tenantId: Table.uuid("tenant_id"),
  phoneNumberId: Table.uuid("phone_number_id"),
  agentId: Table.uuid("agent_id"),
  direction: Table.textOf<Call["direction"]>().column("direction"),
  fromNumber: Table.text("from_number"),
  toNumber: Table.text("to_number"),
  createdAt: Table.moment("created_at")
}

const CHANGING = {
  state: Table.textOf<Call["state"]>().column("state"),
  providerCallId: Table.textOrNull("provider_call_id"),
  greeting: Table.textOrNull("greeting"),
  authorizedSeconds: Table.integer("authorized_seconds"),
  extendedSeconds: Table.integer("extended_seconds"),
  hangUpReason: Table.textOf<NonNullable<Call["hangUpReason"]>>().orNull("hang_up_reason"),
  endReason: Table.textOf<NonNullable<Call["endReason"]>>().orNull("end_reason"),
  answeredBy: Table.textOf<NonNullable<Call["answeredBy"]>>().orNull("answered_by"),
  connectedSeconds: Table.integer("connected_seconds"),
  watchAt: Table.momentOrNull("watch_at"),
  answeredAt: Table.momentOrNull("answered_at"),
  endedAt: Table.momentOrNull("ended_at")
}

const CALLS = Table.table("calls", { ...FIXED, ...CHANGING })

type CallRow = Table.Stored<typeof CALLS>

const toCall: (row: CallRow) => Call = CALLS.toRecord

const TURNS = Table.table("call_turns", {
  index: Table.integer("turn_index"),
  role: Table.textOf<Turn["role"]>().column("role"),
  text: Table.text("text"),
  at: Table.moment("created_at")
})

type TurnRow = Table.Stored<typeof TURNS>

/** The caller and the number that are counted together. */
const DECLINED_KEY = {
  tenantId: Table.uuid("tenant_id"),
  phoneNumberId: Table.uuid("phone_number_id"),
  caller: Table.text("caller")
}

const DECLINED_COUNT = {
  count: Table.integer("declined_count"),
  providerCallId: Table.text("provider_call_id"),
  declinedAt: Table.moment("declined_at"),
  dueAt: Table.moment("due_at")
}

const DECLINED = Table.table("declined_calls", { ...DECLINED_KEY, ...DECLINED_COUNT })
const DECLINED_KEYS = Table.table("declined_calls", DECLINED_KEY)

const first = Row.first(toCall)

export const layer: Layer.Layer<CallStore, never, Database> = Layer.effect(
  CallStore,
  Effect.gen(function* () {
    const { sql, transact } = yield* Database
    const { clock, now } = yield* storeClock
    const columns = sql.literal(CALLS.columns)
    const turnColumns = sql.literal(TURNS.columns)
    const declinedColumns = sql.literal(DECLINED.columns)
    const isCall = (callId: string) => sql`call_id = ${Parameter.uuid(callId)}`
    const isOperation = (operationId: string) => sql`operation_id = ${Parameter.uuid(operationId)}`

    /** Locks the call first: later reads stay true until the transaction ends. */
    const extend = Effect.fnUntraced(function* (callId: string, operationId: string, seconds: number) {
      const call = yield* first(sql<CallRow>`select ${columns} from calls where ${isCall(callId)} for no key update`)
      const known = yield* sql`select 1 from call_grants where ${isOperation(operationId)}`
      if (known.length > 0) return call
      if (Option.isNone(call) || call.value.state !== "in_progress" || call.value.hangUpReason !== null) {
        return Option.none()
      }
      yield* sql`
        insert into call_grants (operation_id, call_id, seconds)
        values (${Parameter.uuid(operationId)}, ${Parameter.uuid(callId)}, ${Parameter.integer(seconds)})`
      return yield* first(sql<CallRow>`
        update calls set
          authorized_seconds = authorized_seconds + ${Parameter.integer(seconds)},
          extended_seconds = extended_seconds + ${Parameter.integer(seconds)}
        where ${isCall(callId)} returning ${columns}`)
    })

    const extended = (operationId: string) => sql<CallRow>`
      select ${columns} from calls
      where call_id = (select call_id from call_grants where ${isOperation(operationId)})`

    /** Deletes the extension and subtracts its seconds in one statement, so that none is revoked twice. */
    const revokeExtension = (operationId: string) => {
      const left = sql`(authorized_seconds - (select seconds from revoked))`
      return sql`
        with revoked as (
          delete from call_grants where ${isOperation(operationId)} returning call_id, seconds
        )
        update calls set
          authorized_seconds = ${left},
          extended_seconds = extended_seconds - (select seconds from revoked),
          watch_at = least(watch_at, answered_at + ${left} * ${Parameter.integer(Timestamp.SECOND)})
        where call_id = (select call_id from revoked) and state = 'in_progress'`
    }

    /**
     * Reads `calls_watched` from its beginning and skips rows that another transaction has locked. Each call is
     * then found by its key: a join by array leaves the planner no other way, however many calls it expects.
     */
    const takeWatched = (limit: number, millis: number) => sql<CallRow>`
      with ${clock()}, watched as materialized (
        select call_id, watch_at as was_watch_at from calls
        where watch_at <= (select now from clock)
        order by watch_at, call_id limit ${Parameter.integer(limit)}
        for no key update skip locked
      ), taken as (
        update calls set watch_at = (select now from clock) + ${Parameter.integer(millis)}
        from watched where calls.call_id = any(array[watched.call_id])
        returning was_watch_at, ${sql.literal(CALLS.qualified)}
      )
      select ${columns} from taken order by was_watch_at, call_id`

    /** Takes the next index from the count in the call's row, whose lock orders concurrent turns. */
    const addTurn = (callId: string, { at, role, text }: NewTurn) => sql<TurnRow>`
      with place as (
        update calls set turn_count = turn_count + 1 where ${isCall(callId)} returning call_id, turn_count - 1 as place
      )
      insert into call_turns (call_id, turn_index, role, text, created_at)
      select call_id, place, ${Parameter.text(role)}, ${Parameter.text(text)}, ${Parameter.integer(at)} from place
      returning ${turnColumns}`

    /** Locks calls that ended long ago, so that none of them gets another turn. Calls that others have locked are left out. */
    const takeEnded = ({ age, limit, ...scope }: OldRows, chosen: string) =>
      Effect.map(
        sql<Pick<CallRow, "call_id">>`
          select call_id from calls
          where ended_at <= (select ${now()}) - ${Parameter.integer(age)} and ${sql.literal(chosen)} ${inScope(sql, scope)}
          order by ended_at, call_id limit ${Parameter.integer(limit)}
          for update skip locked`,
        (rows) => rows.map((row) => row.call_id)
      )

    const remove = Effect.fnUntraced(function* (old: OldRows) {
      const ended = yield* takeEnded(old, "ended_at is not null")
      const isEnded = sql`call_id = any(${Parameter.uuids(ended)})`
      if (ended.length === 0) return 0
      yield* sql`delete from call_turns where ${isEnded}`
      yield* sql`delete from call_grants where ${isEnded}`
      yield* sql`delete from calls where ${isEnded}`
      return ended.length
    })

    const removeTurns = Effect.fnUntraced(function* (old: OldRows) {
      const ended = yield* takeEnded(old, "turns_removed is null")
      const isEnded = sql`call_id = any(${Parameter.uuids(ended)})`
      if (ended.length === 0) return 0
      yield* sql`delete from call_turns where ${isEnded}`
      yield* sql`update calls set turns_removed = true where ${isEnded}`
      return ended.length
    })

    return CallStore.of({
      find: (tenantId, callId) =>
        Row.lookup(tenantId, toCall)(sql<CallRow>`select ${columns} from calls where ${isCall(callId)}`),
      get: (callId) => first(sql<CallRow>`select ${columns} from calls where ${isCall(callId)}`),
      findByProvider: (providerCallId) =>
        first(sql<CallRow>`select ${columns} from calls where provider_call_id = ${Parameter.text(providerCallId)}`),
      create: (call) =>
        Row.any(sql`
          insert into calls ${Table.insert(sql, Table.valuesOf(CALLS.fields, call))}
          on conflict do nothing returning call_id`),
      update: (call) =>
        Row.any(sql`
          update calls set ${Table.set(sql, Table.valuesOf(CHANGING, call))}
          where ${isCall(call.callId)} and tenant_id = ${Parameter.uuid(call.tenantId)} and state <> 'ended'
          returning call_id`),
      live: (phoneNumberId) =>
        Row.all(toCall)(sql<CallRow>`
          select ${columns} from calls where live_number_id = ${Parameter.uuid(phoneNumberId)}
          order by created_at, call_id`),
      recent: (tenantId, since, limit) =>
        Row.all(toCall)(sql<CallRow>`
          select ${columns} from calls
          where tenant_id = ${Parameter.uuid(tenantId)} and direction = 'outbound'
            and created_at >= ${Parameter.integer(since)}
          order by created_at desc, call_id desc limit ${Parameter.integer(limit)}`),
      list: (tenantId, { after, before, direction, phoneNumberId }, position, limit) => {
        // The first condition of each kind selects its index: `calls_listed` or `calls_of_number`.
        const conditions: Array<Statement.Fragment> =
          phoneNumberId === undefined
            ? [sql`connected_seconds >= 0`, sql`tenant_id = ${Parameter.uuid(tenantId)}`]
            : [
                sql`authorized_seconds >= 0`,
                sql`phone_number_id = (
                  select phone_number_id from phone_numbers
                  where phone_number_id = ${Parameter.uuid(phoneNumberId)} and tenant_id = ${Parameter.uuid(tenantId)}
                )`
              ]
        if (direction !== undefined) conditions.push(sql`direction = ${Parameter.text(direction)}`)
        if (after !== undefined) conditions.push(sql`created_at >= ${Parameter.integer(after)}`)
        if (before !== undefined) conditions.push(sql`created_at < ${Parameter.integer(before)}`)
        if (position !== undefined) {
          conditions.push(
            sql`(created_at, call_id) < (${Parameter.integer(position.createdAt)}, ${Parameter.uuid(position.id)})`
          )
        }
        return Row.all(toCall)(sql<CallRow>`
          select ${columns} from calls where ${sql.and(conditions)}
          order by created_at desc, call_id desc limit ${Parameter.integer(limit)}`)
      },
      liveEach: (phoneNumberIds) =>
        Row.all(toCall)(sql<CallRow>`
          select ${columns} from calls where live_number_id = any(${Parameter.uuids(phoneNumberIds)})`),
      extend: (callId, operationId, seconds) => transact(orDie(extend(callId, operationId, seconds))),
      extended: (operationId) => first(extended(operationId)),
      revokeExtension: (operationId) => Row.run(revokeExtension(operationId)),
      takeWatched: (limit, millis) => Row.all(toCall)(takeWatched(limit, millis)),
      postponeWatch: (callId, watchAt, millis) =>
        Effect.map(
          orDie(sql<CallRow>`
            update calls set watch_at = ${now()} + ${Parameter.integer(millis)}
            where ${isCall(callId)} and watch_at = ${Parameter.integer(watchAt)} returning ${columns}`),
          ([row]) => (row === undefined ? null : toCall(row).watchAt)
        ),
      declinedOf: (phoneNumberId) =>
        Row.all(DECLINED.toRecord)(sql<Table.Stored<typeof DECLINED>>`
          select ${declinedColumns} from declined_calls where phone_number_id = ${Parameter.uuid(phoneNumberId)}`),
      putDeclined: (declined) =>
        Row.run(sql`
          insert into declined_calls ${Table.insert(sql, Table.valuesOf(DECLINED.fields, declined))}
          on conflict (phone_number_id, caller)
          do update set ${Table.set(sql, Table.valuesOf(DECLINED_COUNT, declined))}`),
      forgetDeclined: ({ caller, phoneNumberId }) =>
        Row.run(sql`
          delete from declined_calls
          where phone_number_id = ${Parameter.uuid(phoneNumberId)} and caller = ${Parameter.text(caller)}`),
      dueDeclined: (now, limit) =>
        Row.all(DECLINED_KEYS.toRecord)(sql<Table.Stored<typeof DECLINED_KEYS>>`
          select ${sql.literal(DECLINED_KEYS.columns)} from declined_calls where due_at <= ${Parameter.integer(now)}
          order by due_at limit ${Parameter.integer(limit)}`),
      issueRelay: (callId, tokenHash) =>
        Row.run(sql`
          update calls set relay_token_hash = ${Parameter.text(tokenHash)} where ${isCall(callId)}`),
      redeemRelay: (tokenHash) =>
        first(sql<CallRow>`
          update calls set relay_token_hash = null, redeemed_relay_hash = relay_token_hash
          where relay_token_hash = ${Parameter.text(tokenHash)} and state <> 'ended'
          returning ${columns}`),
      redeemedRelay: (callId) =>
        Effect.map(
          orDie(sql<{ readonly hash: string | null }>`
            select redeemed_relay_hash as hash from calls where ${isCall(callId)}`),
          ([row]) => row?.hash ?? null
        ),
      addTurn: (callId, turn) =>
        Effect.flatMap(orDie(addTurn(callId, turn)), ([row]) =>
          row === undefined
            ? Effect.die(new Error(`call ${callId} does not exist`))
            : Effect.succeed(TURNS.toRecord(row))
        ),
      setTurnText: (callId, index, text) =>
        Effect.flatMap(
          orDie(sql`
            update call_turns set text = ${Parameter.text(text)}
            where ${isCall(callId)} and turn_index = ${Parameter.integer(index)} returning turn_index`),
          (rows) => (rows.length === 0 ? Effect.die(new Error(`call ${callId} has no turn ${index}`)) : Effect.void)
        ),
      turns: (callId, limit) =>
        Effect.map(
          orDie(sql<TurnRow>`
            select ${turnColumns} from call_turns where ${isCall(callId)}
            order by turn_index desc limit ${Parameter.integer(limit ?? null)}`),
          (rows) => rows.map(TURNS.toRecord).toReversed()
        ),
      turnsAfter: (callId, index, limit) =>
        Row.all(TURNS.toRecord)(sql<TurnRow>`
          select ${turnColumns} from call_turns
          where ${isCall(callId)} and turn_index > ${Parameter.integer(index)}
          order by turn_index limit ${Parameter.integer(limit)}`),
      remove: (old) => transact(orDie(remove(old))),
      removeTurns: (old) => transact(orDie(removeTurns(old)))
    })
  })
)
