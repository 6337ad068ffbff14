import {
  type NextAttempt,
  type Books,
  type CandidateTransfer,
  isFinal,
  type Ledger,
  type OpenOperations,
  type Operation,
  type OperationQuery,
  OperationState,
  type OperationStatus,
  OperationStore,
  proofKey
} from "@agentos/core"
import { Array, Effect, Layer, Option, Schema } from "effect"
import type { Statement } from "effect/sql"
import { storeClock } from "./ClockOffset.ts"
import { Database } from "./Database.ts"
import { orDie } from "./DatabaseFailure.ts"
import {
  CHANGEABLE,
  CLAIMED,
  OPERATIONS,
  type OperationRow,
  STATUSES,
  SUMMARIES,
  TIMES,
  toOperation
} from "./OperationRow.ts"
import * as Parameter from "./Parameter.ts"
import { inScope } from "./Retention.ts"
import * as Row from "./Row.ts"
import * as Table from "./Table.ts"

const toState = Row.literalOf(OperationState)

const toAccount: (account: string) => Ledger.LedgerAccount = Row.literalOf(
  Schema.Literals(["received", "inFlight", "fulfilled", "refundDue", "refunded"])
)

interface BookRow extends Record<"name" | "network" | "asset" | "amount", string> {
  readonly kind: "balance" | "total"
  readonly count: bigint
}

const toBooks = (rows: ReadonlyArray<BookRow>): Books => ({
  balances: rows.flatMap(({ amount, asset, kind, name, network }) =>
    kind === "balance" ? [{ account: toAccount(name), network, asset, amount: BigInt(amount) }] : []
  ),
  totals: rows.flatMap(({ amount, asset, count, kind, name, network }) =>
    kind === "total" ? [{ state: toState(name), network, asset, count: Number(count), amount: BigInt(amount) }] : []
  )
})

interface PostedRow {
  readonly account: string
  readonly amount: string
  readonly created_at: bigint
}

const toPosted = ({ account, amount, created_at }: PostedRow) => ({
  account: toAccount(account),
  amount: BigInt(amount),
  at: Row.toMoment(created_at)
})

interface OpenRow {
  readonly state: string
  readonly network: string
  readonly asset: string
  readonly count: bigint
  readonly amount: string
  readonly oldest_at: bigint
}

const toOpen = ({ amount, asset, count, network, oldest_at, state }: OpenRow): OpenOperations => ({
  state: toState(state),
  network,
  asset,
  count: Number(count),
  amount: BigInt(amount),
  oldestAt: Row.toMoment(oldest_at)
})

type StatusRow = Table.Stored<typeof STATUSES> & { readonly has_answer: boolean; readonly valid_before: number | null }

const toStatus = (row: StatusRow): OperationStatus => ({
  ...STATUSES.toRecord(row),
  hasAnswer: row.has_answer,
  validBefore: row.valid_before
})

type SummaryRow = Table.Stored<typeof SUMMARIES>

const first = Row.first(toOperation)

/** The assignments that remove what only answers retries. The keys of the proof are columns, and stay. */
export const withoutAnswer = (sql: Database["Service"]["sql"], digest: Statement.Fragment) => sql`
  answer_created = null, answer_body = null, answer_slots = null, receipt = null, input = 'null', plan = 'null',
  failed_state = null, failed_attempts = null, failed_at = null, failed_reason = null,
  proof = json_build_object(
    'digest', ${digest}, 'network', network, 'asset', asset, 'payer', payer, 'payTo', terms::json ->> 'payTo',
    'value', amount::text, 'nonce', nonce, 'validAfter', 0, 'validBefore', 0, 'payload', '{}',
    'accepted', json_build_object(
      'scheme', 'exact', 'network', network, 'asset', asset, 'amount', amount::text,
      'payTo', terms::json ->> 'payTo', 'maxTimeoutSeconds', 0, 'extra', json_build_object()
    )
  )::text`

/**
 * Decodes the rows, without those that this server cannot read: a server of a later version on the same
 * database may have written them. Such a row is logged and must not block the other due operations.
 */
const readable = (rows: ReadonlyArray<OperationRow>): Effect.Effect<ReadonlyArray<Operation>> =>
  Effect.map(
    Effect.forEach(rows, (row) =>
      Effect.catchDefect(
        Effect.sync(() => Option.some(toOperation(row))),
        (defect) =>
          Effect.as(
            Effect.logError(`operation ${row.operation_id} can't be read by this server`, defect),
            Option.none()
          )
      )
    ),
    Array.getSomes
  )

export const layer: Layer.Layer<OperationStore, never, Database> = Layer.effect(
  OperationStore,
  Effect.gen(function* () {
    const { sql } = yield* Database
    const { clock } = yield* storeClock
    const columns = sql.literal(OPERATIONS.columns)
    const times = sql.literal(TIMES.columns)
    const one = sql.literal("1")
    const now = sql`(select now from clock)`
    /** A lease also sets when the operation is due: when it expires. */
    const nextOf = (next: NextAttempt): Table.Values => {
      const until = next.kind === "none" ? sql`null` : sql`${now} + ${Parameter.integer(next.millis)}`
      return { leased_until: next.kind === "leased" ? until : sql`null`, due_at: until }
    }
    const failedOf = (reason: string | undefined): Table.Values =>
      reason === undefined
        ? {}
        : {
            failed_state: sql`state`,
            failed_attempts: sql`case when failed_state = state then failed_attempts + 1 else 1 end`,
            failed_at: now,
            failed_reason: Parameter.text(reason)
          }
    const taken = (leaseMillis: number) =>
      Table.set(sql, { fence: sql`operations.fence + 1`, ...nextOf({ kind: "leased", millis: leaseMillis }) })

    const claim = (operation: Operation, leaseMillis: number) => {
      const key = proofKey(operation.proof)
      const values = {
        ...Table.valuesOf(CLAIMED, operation),
        network: Parameter.text(key.network),
        asset: Parameter.text(key.asset),
        payer: Parameter.text(key.payer),
        nonce: Parameter.text(key.nonce),
        amount: Parameter.amount(operation.terms.amount),
        fence: one,
        ...nextOf({ kind: "leased", millis: leaseMillis })
      }
      return sql`
        with ${clock()}
        insert into operations ${Table.insert(sql, values)}
        on conflict do nothing
        returning operation_id`
    }

    /** Inserts entries, at the moment of the statement's clock. */
    const insertEntries = (entries: ReadonlyArray<Ledger.LedgerEntry>, condition: Statement.Fragment) => sql`
      insert into ledger_entries (operation_id, account, network, asset, amount, created_at)
      select operation_id, account, network, lower(asset), amount, ${now} from unnest(
        ${Parameter.uuids(entries.map((entry) => entry.operationId))},
        ${Parameter.texts(entries.map((entry) => entry.account))},
        ${Parameter.texts(entries.map((entry) => entry.network))},
        ${Parameter.texts(entries.map((entry) => entry.asset))},
        ${Parameter.amounts(entries.map((entry) => entry.amount))}
      ) as entry (operation_id, account, network, asset, amount) ${condition}`

    /**
     * Reads `operations_due` from its beginning and skips rows that another transaction has locked. It visits
     * at most `limit` other rows, since a leased operation is due only when its lease ends.
     */
    const takeDue = (limit: number, leaseMillis: number) => sql<OperationRow>`
      with ${clock()}, due as materialized (
        select operation_id, due_at as was_due_at from operations
        where due_at <= ${now}
        order by due_at, operation_id limit ${Parameter.integer(limit)}
        for update skip locked
      ), taken as (
        update operations set ${taken(leaseMillis)}
        from due where operations.operation_id = due.operation_id
        returning was_due_at, ${sql.literal(OPERATIONS.qualified)}
      )
      select ${columns} from taken order by was_due_at, operation_id`

    /**
     * Finds the open operations, or those of a payer, by the one index that contains them, before any other condition: in
     * the order of another index, a search for a few of them would visit all operations.
     */
    const list = ({ before, limit, payer, state }: OperationQuery) => {
      const summary = sql.literal(SUMMARIES.columns)
      const isOpen = state === "open" || (state !== undefined && !isFinal(state))
      const [source, order] = isOpen
        ? [sql`due_at is not null`, sql.literal("due_at, operation_id")]
        : [sql`payer = ${Parameter.text(payer ?? null)}`, sql.literal("payer, endpoint, idempotency_key")]
      const found = sql`
        with found as materialized (select ${summary} from operations where ${source} order by ${order})`
      const isAll = !isOpen && payer === undefined
      const conditions = [
        sql`operation_id < ${Parameter.uuid(before ?? Row.MAX)}`,
        ...(state === undefined || state === "open" ? [] : [sql`state = ${Parameter.text(state)}`]),
        ...(payer === undefined ? [] : [sql`payer = ${Parameter.text(payer)}`])
      ]
      return sql<SummaryRow>`
        ${isAll ? sql`` : found}
        select ${summary} from ${sql.literal(isAll ? "operations" : "found")} where ${sql.and(conditions)}
        order by operation_id desc limit ${Parameter.integer(limit)}`
    }

    /** Waits for a transaction that claims the transfer at the same time. */
    const claimOne = (operationId: string, { transferId }: CandidateTransfer) =>
      Row.any(sql`
        with inserted as (
          insert into claimed_transfers (transfer_id, operation_id)
          values (${Parameter.text(transferId)}, ${Parameter.uuid(operationId)})
          on conflict do nothing
          returning 1 as found
        )
        select found from inserted
        union all
        select 1 from claimed_transfers
        where transfer_id = ${Parameter.text(transferId)} and operation_id = ${Parameter.uuid(operationId)}`)

    /** Returns the transfers that no other operation than this one has, or that none has. */
    const freeOf = Effect.fnUntraced(function* (
      candidates: ReadonlyArray<CandidateTransfer>,
      operationId: string | null
    ) {
      const taken = yield* orDie(sql<{ readonly transfer_id: string }>`
        select transfer_id from claimed_transfers
        where transfer_id = any(${Parameter.texts(candidates.map(({ transferId }) => transferId))})
          and operation_id is distinct from ${Parameter.uuid(operationId)}`)
      const others = new Set(taken.map(({ transfer_id }) => transfer_id))
      return candidates.filter(({ transferId }) => !others.has(transferId))
    })

    const claimTransfer: OperationStore["Service"]["claimTransfer"] = Effect.fnUntraced(
      function* (operationId, candidates) {
        for (const candidate of yield* freeOf(candidates, operationId)) {
          if (yield* claimOne(operationId, candidate)) return Option.some(candidate)
        }
        return Option.none()
      }
    )

    return OperationStore.of({
      claim: (operation, leaseMillis) => Row.any(claim(operation, leaseMillis)),
      find: (operationId) =>
        first(sql<OperationRow>`select ${columns} from operations where operation_id = ${Parameter.uuid(operationId)}`),
      findStatus: (operationId) =>
        Row.first(toStatus)(sql<StatusRow>`
          select
            ${sql.literal(STATUSES.columns)}, answer_body is not null as has_answer,
            case when due_at is not null then (proof::json ->> 'validBefore')::double precision end as valid_before
          from operations where operation_id = ${Parameter.uuid(operationId)}`),
      isUnchanged: ({ fence, operationId, state }) =>
        Row.any(sql`
          select 1 as found from operations
          where operation_id = ${Parameter.uuid(operationId)} and fence = ${Parameter.integer(fence)}
            and state = ${Parameter.text(state)}`),
      stateAge: (operationId) =>
        Row.first(({ age }: { readonly age: bigint }) => Number(age))(sql`
          with ${clock()}
          select ${now} - updated_at as age from operations where operation_id = ${Parameter.uuid(operationId)}`),
      findByKeys: (keys) => {
        const { asset, network, nonce, payer } = proofKey(keys.proof)
        // Two lookups, each by its unique index. The second leaves out what the first finds: a union would compare all columns.
        return Row.all(toOperation)(sql<OperationRow>`
          select ${columns} from operations
          where network = ${Parameter.text(network)} and asset = ${Parameter.text(asset)}
            and payer = ${Parameter.text(payer)} and nonce = ${Parameter.text(nonce)}
          union all
          select ${columns} from operations
          where payer = ${Parameter.text(payer)} and endpoint = ${Parameter.text(keys.endpoint)}
            and idempotency_key = ${Parameter.text(keys.idempotencyKey)}
            and (network, asset, nonce)
              <> (${Parameter.text(network)}, ${Parameter.text(asset)}, ${Parameter.text(nonce)})`)
      },
      hasFulfilled: (payer) =>
        Row.any(sql`
          select 1 as found from operations
          where payer = ${Parameter.text(payer)} and state = 'fulfilled' limit 1`),
      // Only the times are new to the caller: the row is wide, with the proof and the answer.
      advance: (known, { change, entries = [], next, to }) =>
        Row.first((row: Table.Stored<typeof TIMES>) => ({
          ...known,
          ...change,
          state: to,
          ...TIMES.toRecord(row)
        }))(sql`
          with ${clock()}, moved as (
            update operations set ${Table.set(sql, {
              state: Parameter.text(to),
              updated_at: now,
              ...nextOf(next),
              ...Table.changesOf(CHANGEABLE, change)
            })}
            where operation_id = ${Parameter.uuid(known.operationId)} and fence = ${Parameter.integer(known.fence)}
              and state = ${Parameter.text(known.state)}
            returning ${times}
          ) ${entries.length === 0 ? sql`` : sql`, posted as (${insertEntries(entries, sql`where exists (select 1 from moved)`)})`}
          select ${times} from moved`),
      claimTransfer,
      findFreeTransfer: (candidates) => Effect.map(freeOf(candidates, null), ([free]) => Option.fromUndefinedOr(free)),
      takeOver: (operationId, leaseMillis) =>
        first(sql<OperationRow>`
          with ${clock()}
          update operations set ${taken(leaseMillis)}
          where operation_id = ${Parameter.uuid(operationId)} and due_at is not null
            and (leased_until is null or leased_until <= ${now})
          returning ${columns}`),
      takeDue: (limit, leaseMillis) => Effect.flatMap(orDie(takeDue(limit, leaseMillis)), readable),
      setNextAttempt: (operationId, fence, next, failedReason) =>
        Row.any(sql`
          with ${clock()}
          update operations set ${Table.set(sql, { ...nextOf(next), ...failedOf(failedReason) })}
          where operation_id = ${Parameter.uuid(operationId)} and fence = ${Parameter.integer(fence)}
            and due_at is not null
          returning operation_id`),
      makeDue: (operationId) =>
        Row.any(sql`
          with ${clock()}
          update operations set due_at = least(due_at, ${now})
          where operation_id = ${Parameter.uuid(operationId)} and due_at is not null
            and (leased_until is null or leased_until <= ${now})
          returning operation_id`),
      entries: (operationId) =>
        Row.all(toPosted)(sql<PostedRow>`
          select account, amount, created_at from ledger_entries
          where operation_id = ${Parameter.uuid(operationId)} order by ledger_entry_id`),
      post: (entries) =>
        entries.length === 0 ? Effect.void : Row.run(sql`with ${clock()} ${insertEntries(entries, sql``)}`),
      countOpen: (limit) =>
        Row.all(toOpen)(sql<OpenRow>`
          with open as materialized (
            select state, network, asset, amount, created_at from operations where due_at is not null
            order by due_at, operation_id limit ${Parameter.integer(limit)}
          )
          select state, network, asset, count(*) as count, sum(amount) as amount, min(created_at) as oldest_at
          from open group by state, network, asset`),
      openKeyIds: Effect.map(
        orDie(sql<{ readonly key_id: bigint }>`
          select distinct (terms::jsonb -> 'extra' ->> 'keyId')::bigint as key_id
          from operations where due_at is not null`),
        (rows) => rows.map(({ key_id }) => Number(key_id))
      ),
      removeAnswers: ({ age, limit, ...scope }) =>
        Row.count(sql`
          with ${clock()}
          update operations set ${withoutAnswer(sql, sql`proof::json ->> 'digest'`)}
          where operation_id = any(array(
            select operation_id from operations
            where due_at is null and input <> 'null' and created_at + 0 <= ${now} - ${Parameter.integer(age)}
              ${inScope(sql, scope)}
            order by created_at + 0, operation_id limit ${Parameter.integer(limit)}
            for update skip locked
          )) returning 1`),
      // One statement, since two would see different snapshots.
      books: Effect.map(
        orDie(sql<BookRow>`
          select 'balance' as kind, account as name, network, asset, 0::bigint as count, sum(amount) as amount
          from ledger_entries group by account, network, asset
          union all
          select 'total', state, network, asset, count(*), sum(amount) from operations
          group by state, network, asset
          order by kind, name, network, asset`),
        toBooks
      ),
      listPaid: (after, limit) =>
        Row.all(toOperation)(sql<OperationRow>`
          select ${columns} from operations
          where transaction is not null and operation_id > ${Parameter.uuid(after ?? Row.NIL)}
          order by operation_id limit ${Parameter.integer(limit)}`),
      list: (query) => Row.all(SUMMARIES.toRecord)(list(query))
    })
  })
)
