import { Context, Effect, Layer, Option, Schema } from "effect"
import type { Page } from "../kernel/Page.ts"
import * as PageInput from "../kernel/PageInput.ts"
import { Conflict, ResourceNotFound } from "../kernel/ResourceError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Transactor } from "../kernel/Transactor.ts"
import { plainText } from "../kernel/PlainText.ts"
import { GivenUuid } from "../kernel/Uuid.ts"
import * as Uuid from "../kernel/Uuid.ts"
import { ManualRefunds, TransactionHash } from "../payment/ManualRefunds.ts"
import { type FailedAttempt, type OperationSummary, summaryOf } from "../payment/Operation.ts"
import { isFinal, OperationState } from "../payment/OperationState.ts"
import { OperationStore } from "../payment/OperationStore.ts"
import { paymentOf } from "../payment/PaymentStatus.ts"
import { type TenantId, walletAddress } from "../tenancy/Tenant.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import { recordChange } from "./Audit.ts"
import { AuditStore } from "./AuditStore.ts"
import { type TimelineEntry, timelineOf } from "./OperationTimeline.ts"
import { findNamedTenant } from "./TenantDirectory.ts"

export const DEFAULT_OPERATION_LIMIT = 20
export const OPERATION_LIMIT = 100

const TENANT_NAME_LIMIT = 64
const AGE_LIMIT_MINUTES = 10 * 365 * 24 * 60

const GivenWallet = Schema.String.check(
  Schema.isPattern(/^0x[0-9a-f]{40}$/i, { expected: "a wallet address: 0x and 40 hexadecimal digits" })
)

/** Selects a page of operations. The cursor of a page is the id of its last operation. */
export const QueryOperationsInput = Schema.Struct({
  state: Schema.optionalKey(Schema.Literals(["open", ...OperationState.literals])),
  payer: Schema.optionalKey(GivenWallet),
  /** An id or a wallet. */
  tenant: Schema.optionalKey(plainText(TENANT_NAME_LIMIT)),
  /** Only operations that were claimed at least so long ago. */
  olderThanMinutes: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: AGE_LIMIT_MINUTES }))),
  limit: PageInput.limit({ maximum: OPERATION_LIMIT, default: DEFAULT_OPERATION_LIMIT }),
  cursor: Schema.optionalKey(GivenUuid)
}).check(
  Schema.makeFilter(
    ({ payer, state = "open", tenant }) =>
      state === "open" ||
      !isFinal(state) ||
      payer !== undefined ||
      tenant !== undefined || {
        path: ["state"],
        issue: `is final: operations that are ${state} are listed with payer or tenant only`
      }
  )
)
export type QueryOperationsInput = typeof QueryOperationsInput.Type

/**
 * When an open operation is worked on, or other work that waits:
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
  /** The last failed attempt in its state; null if none failed. `at` is in ISO 8601. */
  readonly failedAttempt: (Pick<FailedAttempt, "attempts" | "reason"> & { readonly at: string }) | null
}

export interface OperationHistory extends OperationReport {
  /** Oldest first. */
  readonly timeline: ReadonlyArray<TimelineEntry>
}

/** Audit records of an operation that its timeline shows. */
const RECORDS_SHOWN = 100

/** The operator's view of paid operations, over all tenants. */
export class OperationAdministration extends Context.Service<
  OperationAdministration,
  {
    /** Returns operations, newest first. See `OperationStore.list` for the cost. */
    readonly list: (query: QueryOperationsInput) => Effect.Effect<Page<OperationReport>>
    /** Returns an operation with its timeline. */
    readonly find: (operationId: string) => Effect.Effect<OperationHistory, ResourceNotFound>
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
      const audit = yield* AuditStore
      const tenants = yield* TenantStore
      const { transact } = yield* Transactor

      const find = Effect.fnUntraced(function* (operationId: string) {
        const found = yield* operations.find(operationId)
        if (Option.isNone(found)) return yield* new ResourceNotFound({ kind: "operation", id: operationId })
        return report(summaryOf(found.value), yield* Timestamp.now)
      })

      return OperationAdministration.of({
        list: Effect.fnUntraced(function* (query) {
          const { cursor, limit = DEFAULT_OPERATION_LIMIT, olderThanMinutes, state, tenant } = query
          const now = yield* Timestamp.now
          const wallet =
            tenant === undefined ? undefined : Option.getOrUndefined(yield* findNamedTenant(tenants, tenant))?.wallet
          const payer = query.payer === undefined ? wallet : walletAddress(query.payer)
          if (tenant !== undefined && (wallet === undefined || wallet !== payer)) return { items: [], nextCursor: null }
          // An id begins with the time of the claim.
          const youngest =
            olderThanMinutes === undefined
              ? undefined
              : Uuid.fromParts(Math.max(0, now - olderThanMinutes * Timestamp.MINUTE), 0n)
          const before = [cursor, youngest].filter((id) => id !== undefined).toSorted()[0]
          const found = yield* operations.list({ state, payer, before, limit: limit + 1 })
          const items = found.slice(0, limit).map((operation) => report(operation, now))
          return { items, nextCursor: found.length > limit ? (items.at(-1)?.operationId ?? null) : null }
        }),
        find: Effect.fnUntraced(function* (operationId) {
          const found = yield* operations.find(operationId)
          if (Option.isNone(found)) return yield* new ResourceNotFound({ kind: "operation", id: operationId })
          const summary = summaryOf(found.value)
          const entries = yield* operations.entries(operationId)
          const records = yield* audit.list({ target: operationId, limit: RECORDS_SHOWN })
          return { ...report(summary, yield* Timestamp.now), timeline: timelineOf(summary, entries, records) }
        }),
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

/**
 * Records that the operator refunded an operation by this transaction, and returns the operation. Needs the chain, and so more
 * than the database.
 */
export const refundByHand = Effect.fnUntraced(function* (operationId: string, transaction: string) {
  const { refund } = yield* ManualRefunds
  const refunded = yield* refund(operationId, transaction, ({ state }, { amount, transferId, ...made }) =>
    recordChange({ state }, { state: "refunded", transaction: made.transaction, transferId, amount: String(amount) })
  )
  return report(summaryOf(refunded), yield* Timestamp.now)
})

/** Records that the operator returned a received transfer that no operation has. */
export const returnByHand = Effect.fnUntraced(function* (
  received: Parameters<ManualRefunds["Service"]["returnTransfer"]>[0],
  given: string
) {
  const { returnTransfer } = yield* ManualRefunds
  const returned = yield* returnTransfer(received, given, ({ amount, transaction, transferId, wallet }) =>
    recordChange({ state: "unclaimed" }, { state: "returned", wallet, transaction, transferId, amount: String(amount) })
  )
  const { amount, network, receivedTransaction, transaction, wallet } = returned
  return { network, wallet, receivedTransaction, transaction, baseUnits: String(amount) }
})

export const RefundOperationInput = Schema.Struct({ transaction: TransactionHash })

/** The transaction that returned a transfer, and the payer if the received transaction has several. */
export const ReturnTransferInput = Schema.Struct({
  transaction: TransactionHash,
  wallet: Schema.optionalKey(GivenWallet)
})
export const ReceivedTransfer = Schema.Struct({ received: TransactionHash })

const attemptOf = ({ nextAttempt, state }: OperationReport) => ({ state, nextAttempt })

const report = (operation: OperationSummary, now: Timestamp.Timestamp): OperationReport => ({
  ...paymentOf(operation),
  state: operation.state,
  tenantId: operation.tenantId,
  payer: operation.payer,
  nextAttempt: nextAttemptOf(operation, now),
  failedAttempt: failedAttemptOf(operation)
})

const nextAttemptOf = ({ dueAt, leasedUntil }: OperationSummary, now: Timestamp.Timestamp): ReportedAttempt | null =>
  dueAt === null ? null : reportedAttempt({ dueAt, isLeased: leasedUntil !== null }, now)

const failedAttemptOf = ({ failedAttempt, state }: OperationSummary): OperationReport["failedAttempt"] => {
  if (failedAttempt?.state !== state) return null
  const { at, attempts, reason } = failedAttempt
  return { at: Timestamp.toIso(at), attempts, reason }
}

/** Reports when work is done that is due at a time, or whose lease ends then. */
export const reportedAttempt = (
  { dueAt, isLeased }: { readonly dueAt: Timestamp.Timestamp; readonly isLeased: boolean },
  now: Timestamp.Timestamp
): ReportedAttempt => {
  const kind = dueAt <= now ? "due" : isLeased ? "leased" : "scheduled"
  return { kind, at: Timestamp.toIso(dueAt) }
}

const refusal = ({ operationId, state }: OperationReport): string =>
  isFinal(state)
    ? `The operation ${operationId} is ${state}, which is final. There is nothing to retry.`
    : `A worker holds the lease of the operation ${operationId} and is advancing it. Read it again in a few seconds.`
