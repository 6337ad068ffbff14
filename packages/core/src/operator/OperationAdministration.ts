import { Context, Effect, Layer, Option, Schema } from "effect"
import type { Page } from "../kernel/Page.ts"
import * as PageInput from "../kernel/PageInput.ts"
import { Conflict, ResourceNotFound } from "../kernel/ResourceError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Transactor } from "../kernel/Transactor.ts"
import { GivenUuid } from "../kernel/Uuid.ts"
import { type OperationSummary, summaryOf } from "../payment/Operation.ts"
import { isFinal, OpenState, type OperationState } from "../payment/OperationState.ts"
import { OperationStore } from "../payment/OperationStore.ts"
import { paymentOf } from "../payment/PaymentStatus.ts"
import { type TenantId, walletAddress } from "../tenancy/Tenant.ts"
import { recordChange } from "./Audit.ts"

export const DEFAULT_OPERATION_LIMIT = 20
export const OPERATION_LIMIT = 100

/** Selects a page of operations. The cursor of a page is the id of its last operation. */
export const QueryOperationsInput = Schema.Struct({
  state: Schema.optionalKey(Schema.Literals(["open", ...OpenState.literals])),
  payer: Schema.optionalKey(
    Schema.String.check(
      Schema.isPattern(/^0x[0-9a-f]{40}$/i, { expected: "a wallet address: 0x and 40 hexadecimal digits" })
    )
  ),
  limit: PageInput.limit({ maximum: OPERATION_LIMIT, default: DEFAULT_OPERATION_LIMIT }),
  cursor: Schema.optionalKey(GivenUuid)
})
export type QueryOperationsInput = typeof QueryOperationsInput.Type

/**
 * When an open operation is worked on:
 *
 * - `leased`: a worker holds it, until `at` unless it renews its lease;
 * - `scheduled`: the completion job takes it over at `at`, or earlier if the client repeats the request;
 * - `due`: the completion job should have taken it over since `at`.
 */
export interface ReportedAttempt {
  readonly kind: "leased" | "scheduled" | "due"
  /** In ISO 8601. */
  readonly at: string
}

/**
 * An operation for the operator, in its wire format. The fields that the payer's status of the payment has too are the
 * same. Contains no authorization, request or answer.
 */
export interface OperationReport extends ReturnType<typeof paymentOf> {
  readonly state: OperationState
  readonly tenantId: TenantId
  readonly payer: string
  /** Null for a final operation. */
  readonly nextAttempt: ReportedAttempt | null
}

/** The operator's view of paid operations, over all tenants. */
export class OperationAdministration extends Context.Service<
  OperationAdministration,
  {
    /** Returns operations, newest first. See `OperationStore.list` for the cost. */
    readonly list: (query: QueryOperationsInput) => Effect.Effect<Page<OperationReport>>
    readonly find: (operationId: string) => Effect.Effect<OperationReport, ResourceNotFound>
    /**
     * Makes an open operation due at once, so that the completion job of a server takes it over next, and changes nothing
     * else. Fails with `Conflict` if the operation is final, or while a worker holds its lease.
     */
    readonly retry: (operationId: string) => Effect.Effect<OperationReport, ResourceNotFound | Conflict>
  }
>()("@agentos/core/operator/OperationAdministration") {
  static readonly layer = Layer.effect(
    OperationAdministration,
    Effect.gen(function* () {
      const operations = yield* OperationStore
      const { transact } = yield* Transactor

      const find = Effect.fnUntraced(function* (operationId: string) {
        const found = yield* operations.find(operationId)
        if (Option.isNone(found)) return yield* new ResourceNotFound({ kind: "operation", id: operationId })
        return report(summaryOf(found.value), yield* Timestamp.now)
      })

      return OperationAdministration.of({
        list: Effect.fnUntraced(function* ({ cursor, limit = DEFAULT_OPERATION_LIMIT, payer, state }) {
          const found = yield* operations.list({
            state,
            payer: payer === undefined ? undefined : walletAddress(payer),
            before: cursor,
            limit: limit + 1
          })
          const now = yield* Timestamp.now
          const items = found.slice(0, limit).map((operation) => report(operation, now))
          return { items, nextCursor: found.length > limit ? (items.at(-1)?.operationId ?? null) : null }
        }),
        find,
        retry: Effect.fnUntraced(function* (operationId) {
          const retried = yield* transact(
            Effect.gen(function* () {
              const before = yield* find(operationId)
              const isDue = yield* operations.makeDue(operationId)
              const after = yield* find(operationId)
              if (!isDue) return yield* new Conflict({ message: refusal(after) })
              yield* recordChange(attemptOf(before), attemptOf(after))
              return after
            })
          )
          yield* Effect.logWarning(`operation ${operationId} made due by the operator`)
          return retried
        })
      })
    })
  )
}

const attemptOf = ({ nextAttempt, state }: OperationReport) => ({ state, nextAttempt })

const report = (operation: OperationSummary, now: Timestamp.Timestamp): OperationReport => ({
  ...paymentOf(operation),
  state: operation.state,
  tenantId: operation.tenantId,
  payer: operation.payer,
  nextAttempt: nextAttemptOf(operation, now)
})

const nextAttemptOf = ({ dueAt, leasedUntil }: OperationSummary, now: Timestamp.Timestamp): ReportedAttempt | null => {
  if (dueAt === null) return null
  const at = Timestamp.toIso(dueAt)
  if (dueAt <= now) return { kind: "due", at }
  return { kind: leasedUntil === null ? "scheduled" : "leased", at }
}

const refusal = ({ operationId, state }: OperationReport): string =>
  isFinal(state)
    ? `The operation ${operationId} is ${state}, which is final. There is nothing to retry.`
    : `A worker holds the lease of the operation ${operationId} and is advancing it. Read it again in a few seconds.`
