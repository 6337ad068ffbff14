import {
  type LedgerBalance,
  type Ledger,
  type Operation,
  type OperationChange,
  OperationStore,
  proofKey
} from "@agentos/core"
import { Array, Effect, Layer, Option, Schema } from "effect"
import type { Statement } from "effect/sql"
import { ClockOffset } from "./ClockOffset.ts"
import { Database } from "./Database.ts"
import { orDie } from "./DatabaseFailure.ts"
import { encodeProof, encodeTerms, OPERATION_COLUMNS, type OperationRow, toOperation } from "./OperationRow.ts"
import * as Parameter from "./Parameter.ts"

const toAccount: (account: unknown) => Ledger.LedgerAccount = Schema.decodeUnknownSync(
  Schema.Literals(["received", "inFlight", "fulfilled", "refundDue", "refunded"])
)

const first = (rows: ReadonlyArray<OperationRow>): Option.Option<Operation> => Option.map(Array.head(rows), toOperation)

const jsonOrNull = (value: unknown) => Parameter.text(value === null ? null : JSON.stringify(value))

export const layer: Layer.Layer<OperationStore, never, Database> = Layer.effect(
  OperationStore,
  Effect.gen(function* () {
    const { sql } = yield* Database
    const offset = yield* ClockOffset
    const columns = sql.literal(OPERATION_COLUMNS)
    const now = () => sql`epoch_millis() + ${Parameter.integer(offset())}`
    const leaseEnd = (leaseMillis: number) =>
      leaseMillis === 0 ? sql`null` : sql`${now()} + ${Parameter.integer(leaseMillis)}`

    const claim = (operation: Operation, leaseMillis: number) => {
      const key = proofKey(operation.proof)
      return sql`
        insert into operations (
          operation_id, tenant_id, service_id, endpoint, idempotency_key, fingerprint, request_id,
          network, asset, payer, nonce, amount, proof, terms, input, plan, state,
          fence, leased_until, created_at, updated_at
        ) values (
          ${Parameter.uuid(operation.operationId)}, ${Parameter.uuid(operation.tenantId)},
          ${Parameter.text(operation.serviceId)}, ${Parameter.text(operation.endpoint)},
          ${Parameter.text(operation.idempotencyKey)}, ${Parameter.text(operation.fingerprint)},
          ${Parameter.text(operation.requestId)},
          ${Parameter.text(key.network)}, ${Parameter.text(key.asset)}, ${Parameter.text(key.payer)},
          ${Parameter.text(key.nonce)}, ${Parameter.amount(operation.terms.amount)},
          ${Parameter.text(encodeProof(operation.proof))}, ${Parameter.text(encodeTerms(operation.terms))},
          ${Parameter.text(operation.input)}, ${Parameter.text(operation.plan)}, ${Parameter.text(operation.state)},
          1, ${leaseEnd(leaseMillis)}, ${Parameter.integer(operation.createdAt)}, ${Parameter.integer(operation.updatedAt)}
        )
        on conflict do nothing
        returning operation_id`
    }

    const changes = (change: OperationChange): ReadonlyArray<Statement.Fragment> => {
      const parts: Array<Statement.Fragment> = []
      const { nonceReadAtBlock, transaction, refundTransaction, failure, answer } = change
      if (nonceReadAtBlock !== undefined) parts.push(sql`nonce_read_at_block = ${Parameter.integer(nonceReadAtBlock)}`)
      if (transaction !== undefined) parts.push(sql`transaction = ${Parameter.text(transaction)}`)
      if (refundTransaction !== undefined) parts.push(sql`refund_transaction = ${Parameter.text(refundTransaction)}`)
      if (failure !== undefined) parts.push(sql`failure = ${jsonOrNull(failure)}`)
      if (answer !== undefined) {
        parts.push(
          sql`answer_created = ${Parameter.boolean(answer?.created ?? null)}`,
          sql`answer_body = ${Parameter.text(answer?.body ?? null)}`,
          sql`answer_slots = ${jsonOrNull(answer?.slots ?? null)}`
        )
      }
      return parts
    }

    return OperationStore.of({
      claim: (operation, leaseMillis) => Effect.map(orDie(claim(operation, leaseMillis)), (rows) => rows.length > 0),
      find: (operationId) =>
        Effect.map(
          orDie(
            sql<OperationRow>`select ${columns} from operations where operation_id = ${Parameter.uuid(operationId)}`
          ),
          first
        ),
      findByKeys: (keys) => {
        const { asset, network, nonce, payer } = proofKey(keys.proof)
        return Effect.map(
          // A union of two looks-up, each by its unique index; a row that both find comes once.
          orDie(sql<OperationRow>`
            select ${columns} from operations
            where network = ${Parameter.text(network)} and asset = ${Parameter.text(asset)}
              and payer = ${Parameter.text(payer)} and nonce = ${Parameter.text(nonce)}
            union
            select ${columns} from operations
            where payer = ${Parameter.text(payer)} and endpoint = ${Parameter.text(keys.endpoint)}
              and idempotency_key = ${Parameter.text(keys.idempotencyKey)}`),
          (rows) => rows.map(toOperation)
        )
      },
      advance: ({ change, fence, from, leaseMillis, operationId, to }) =>
        Effect.map(
          orDie(sql<OperationRow>`
            update operations set ${sql.csv([
              sql`state = ${Parameter.text(to)}`,
              sql`leased_until = ${leaseEnd(leaseMillis)}`,
              sql`updated_at = ${now()}`,
              ...changes(change)
            ])}
            where operation_id = ${Parameter.uuid(operationId)} and fence = ${Parameter.integer(fence)}
              and state = ${Parameter.text(from)}
            returning ${columns}`),
          first
        ),
      takeOver: (operationId, leaseMillis) =>
        Effect.map(
          orDie(sql<OperationRow>`
            update operations set fence = fence + 1, leased_until = ${leaseEnd(leaseMillis)}
            where operation_id = ${Parameter.uuid(operationId)} and (leased_until is null or leased_until <= ${now()})
            returning ${columns}`),
          first
        ),
      renew: (operationId, fence, leaseMillis) =>
        Effect.map(
          orDie(sql`
            update operations set leased_until = ${leaseEnd(leaseMillis)}
            where operation_id = ${Parameter.uuid(operationId)} and fence = ${Parameter.integer(fence)}
            returning operation_id`),
          (rows) => rows.length > 0
        ),
      post: (entries) =>
        entries.length === 0
          ? Effect.void
          : orDie(
              Effect.asVoid(sql`
                insert into ledger_entries (operation_id, account, network, asset, amount, created_at)
                select operation_id, account, network, asset, amount, ${now()} from unnest(
                  ${Parameter.uuids(entries.map((entry) => entry.operationId))},
                  ${Parameter.texts(entries.map((entry) => entry.account))},
                  ${Parameter.texts(entries.map((entry) => entry.network))},
                  ${Parameter.texts(entries.map((entry) => entry.asset))},
                  ${Parameter.amounts(entries.map((entry) => entry.amount))}
                ) as entry (operation_id, account, network, asset, amount)`)
            ),
      balances: Effect.map(
        orDie(sql<Record<"account" | "network" | "asset" | "amount", string>>`
          select account, network, asset, sum(amount) as amount from ledger_entries
          group by account, network, asset order by account, network, asset`),
        (rows) =>
          rows.map((row): LedgerBalance => ({ ...row, account: toAccount(row.account), amount: BigInt(row.amount) }))
      )
    })
  })
)
