import { Schema } from "effect"
import type { ServiceId } from "../catalog/ServiceId.ts"
import type { Timestamp } from "../kernel/Timestamp.ts"
import type { TenantId } from "../tenancy/Tenant.ts"
import { isFinal, type OperationState } from "./OperationState.ts"
import { type PaymentProof, type PaymentTerms, proofKey } from "./PaymentTerms.ts"

/**
 * A paid operation as stored: one payment for one effect.
 *
 * Claimed once by (payer, endpoint, Idempotency-Key) and once by its proof key (network, asset, payer, authorization
 * nonce); neither is ever reused.
 */
export interface Operation {
  readonly operationId: string
  readonly tenantId: TenantId
  readonly serviceId: ServiceId
  /** Method and path, for example `POST /api/v1/email/mailboxes`. */
  readonly endpoint: string
  readonly idempotencyKey: string
  /** The request's `RequestBinding.fingerprint`. A retry must have the same. */
  readonly fingerprint: string
  /** The requestId of the request that claimed the operation. Every replay of the answer carries it. */
  readonly requestId: string
  /** The traceparent of that request; null if its trace is not recorded. Every server continues it. */
  readonly trace: string | null
  readonly proof: PaymentProof
  readonly terms: PaymentTerms
  /** The request's decoded input, as JSON text. */
  readonly input: string
  /**
   * Values that the service fixed before the charge, as JSON text: ids and references that every attempt uses. Input
   * and plan are the JSON text `null` for a refund of a transfer that no service prepared anything for.
   */
  readonly plan: string
  readonly state: OperationState
  /** A block in which the nonce was still unused; null before the nonce was read. */
  readonly nonceReadAtBlock: bigint | null
  /** The transaction that paid, once known. */
  readonly transaction: string | null
  /** The authorization nonce of the refund: `0x` and 64 digits, fixed when the refund becomes due. */
  readonly refundNonce: string | null
  /** The transaction that refunded, once known. */
  readonly refundTransaction: string | null
  /** Why the payment was refused, was not made or is refunded. */
  readonly failure: OperationFailure | null
  /** The last attempt that failed in a state, this one or an earlier one; null if none did. */
  readonly failedAttempt: FailedAttempt | null
  /** The final answer; null until fulfilled. */
  readonly answer: StoredAnswer | null
  /**
   * The value of PAYMENT-RESPONSE with the signed receipt; null until fulfilled or refunded, and for operations that ended
   * before receipts were signed.
   */
  readonly receipt: string | null
  /** Incremented on every takeover. A worker with an older fence can write nothing. */
  readonly fence: number
  /** When the worker's lease expires; null without a lease. On the store's clock. */
  readonly leasedUntil: Timestamp | null
  /** When the completion job takes the operation over, unless it ends before; null once final. On the store's clock. */
  readonly dueAt: Timestamp | null
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
}

/** The part of an operation that the operator sees: no authorization, no request and no answer. */
export interface OperationSummary extends Pick<
  Operation,
  | "operationId"
  | "tenantId"
  | "serviceId"
  | "state"
  | "transaction"
  | "refundTransaction"
  | "failure"
  | "failedAttempt"
  | "leasedUntil"
  | "dueAt"
  | "createdAt"
  | "updatedAt"
> {
  readonly network: string
  /** Address of the token's contract, in lower case. */
  readonly asset: string
  /** The wallet that signed, in lower case. */
  readonly payer: string
  /** Base units of the token. */
  readonly amount: bigint
}

/** The part of an operation that the owner of its payment sees. */
export interface OperationStatus
  extends Omit<OperationSummary, "failedAttempt" | "leasedUntil" | "dueAt">, Pick<Operation, "terms" | "receipt"> {
  readonly hasAnswer: boolean
  /** When its authorization expires, in seconds of Unix time; null once the operation is final. */
  readonly validBefore: number | null
}

export const operationStatusOf = (operation: Operation): OperationStatus => {
  const { failedAttempt: _, leasedUntil: _1, dueAt: _2, ...summary } = summaryOf(operation)
  const { answer, proof, receipt, state, terms } = operation
  return {
    ...summary,
    terms,
    receipt,
    hasAnswer: answer !== null,
    validBefore: isFinal(state) ? null : proof.validBefore
  }
}

export const summaryOf = (operation: Operation): OperationSummary => {
  const { asset, network, payer } = proofKey(operation.proof)
  return {
    operationId: operation.operationId,
    tenantId: operation.tenantId,
    serviceId: operation.serviceId,
    state: operation.state,
    network,
    asset,
    payer,
    amount: operation.terms.amount,
    transaction: operation.transaction,
    refundTransaction: operation.refundTransaction,
    failure: operation.failure,
    failedAttempt: operation.failedAttempt,
    leasedUntil: operation.leasedUntil,
    dueAt: operation.dueAt,
    createdAt: operation.createdAt,
    updatedAt: operation.updatedAt
  }
}

/** The part of an operation that is the same for all at their claim. */
export const AS_CLAIMED = {
  state: "claimed",
  nonceReadAtBlock: null,
  transaction: null,
  refundNonce: null,
  refundTransaction: null,
  failure: null,
  failedAttempt: null,
  answer: null,
  receipt: null,
  fence: 1,
  leasedUntil: null,
  dueAt: null
} as const satisfies Partial<Operation>

/** An attempt to move an operation on that failed, so that it is tried again. */
export interface FailedAttempt {
  readonly state: OperationState
  /** Attempts that failed in this state. Servers of earlier versions do not count theirs. */
  readonly attempts: number
  /** On the store's clock. */
  readonly at: Timestamp
  /** For the operator: a short text without a secret, a mail address or a telephone number. */
  readonly reason: string
}

/** The failure of an operation. `message` is for people and contains no secret. */
export interface OperationFailure {
  readonly kind: OperationFailureKind
  readonly message: string
}

/**
 * - `used_before`: the authorization was already used at the claim, and had not paid for this operation;
 * - `settled_elsewhere`: a third party had submitted the authorization before the claim, and it had paid us;
 * - `refused`: the simulation of the transfer failed, or the facilitator refused to settle it;
 * - `expired`: the authorization expired unused;
 * - `used_otherwise`: the authorization was cancelled, or its nonce was used by another transfer;
 * - `rejected`: the provider refused permanently;
 * - `gone`: the paid resource no longer existed, or the tenant was suspended;
 * - `late`: the provider stayed unavailable for longer than the service retries;
 * - `canceled`: a scheduled message was canceled, or this service did not send it when it was due.
 */
export const OperationFailureKind = Schema.Literals([
  "used_before",
  "settled_elsewhere",
  "refused",
  "expired",
  "used_otherwise",
  "rejected",
  "gone",
  "late",
  "canceled"
])
export type OperationFailureKind = typeof OperationFailureKind.Type

/** The failure of an operation as clients see it. */
export const OperationFailureRecord = Schema.Struct({
  kind: OperationFailureKind.annotateKey({
    description:
      "used_before: the authorization had been used, and paid for nothing here. settled_elsewhere: someone else had submitted it, and it paid this service. refused: the transfer was refused. expired: the authorization expired unused. used_otherwise: it was cancelled, or paid for something else. rejected: the provider refused permanently. gone: the resource no longer existed, or the account was suspended. late: the provider stayed unavailable for too long. canceled: a scheduled message was canceled, or was not sent because its recipients were suppressed or sending was paused."
  }),
  message: Schema.String.annotateKey({ description: "The reason for people." })
})

/** The place of a secret in a stored answer: enough to derive the secret again, but not the secret itself. */
export interface SecretSlot {
  readonly kind: "access-token" | "callback-secret"
  readonly keyId: number
  readonly version: number
  /** Id of the tenant or the number that the secret belongs to. */
  readonly subject: string
  /** Position of the secret in the stored body, which has all secrets cut out, in UTF-16 units. */
  readonly offset: number
}

/** An answer as stored for replay: the body's text with every secret cut out. */
export interface StoredAnswer {
  readonly created: boolean
  readonly body: string
  readonly slots: ReadonlyArray<SecretSlot>
}
