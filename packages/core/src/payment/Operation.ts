import type { Timestamp } from "../kernel/Timestamp.ts"
import type { ServiceId } from "../catalog/ServiceId.ts"
import type { TenantId } from "../tenancy/Tenant.ts"
import type { OperationState } from "./OperationState.ts"
import type { PaymentProof, PaymentTerms } from "./PaymentTerms.ts"

/**
 * A paid operation: one payment for one effect, as it is stored.
 *
 * Claimed once by (payer, endpoint, Idempotency-Key) and once by its proof key
 * (network, asset, payer, authorization nonce); neither is ever reused.
 */
export interface Operation {
  readonly operationId: string
  readonly tenantId: TenantId
  readonly serviceId: ServiceId
  /** Method and path, as `POST /api/v1/email/mailboxes`. */
  readonly endpoint: string
  readonly idempotencyKey: string
  /** What the request was, by `RequestBinding.fingerprint`: a retry must repeat it. */
  readonly fingerprint: string
  /** The requestId of the request that claimed it, which its answer carries for ever. */
  readonly requestId: string
  readonly proof: PaymentProof
  readonly terms: PaymentTerms
  /** The request's decoded input, as JSON text. */
  readonly input: string
  /**
   * What the service fixed before anything was charged: ids and references that every attempt uses, as JSON text. Input
   * and plan are the JSON text `null` where a transfer is owed back for which nothing was ever prepared.
   */
  readonly plan: string
  readonly state: OperationState
  /** The block at which the nonce was read as unused; null before that. */
  readonly nonceReadAtBlock: bigint | null
  /** The transaction that paid, once known. */
  readonly transaction: string | null
  /** The authorization nonce under which it is paid back: `0x` and 64 digits, fixed when it becomes owed. */
  readonly refundNonce: string | null
  /** The transaction that paid back, once known. */
  readonly refundTransaction: string | null
  /** Why it was refused, went unpaid or is owed back. */
  readonly failure: OperationFailure | null
  /** The final answer; null until fulfilled. */
  readonly answer: StoredAnswer | null
  /** Counts takings of the work; a worker that holds an older number may write nothing. */
  readonly fence: number
  /** Until when a worker may be at it; null when nobody is. On the store's clock. */
  readonly leasedUntil: Timestamp | null
  /** When the completion job takes it up unless a worker ends it before; null once it is final. On the store's clock. */
  readonly dueAt: Timestamp | null
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
}

/** How an operation failed. `message` is for people and holds no secret. */
export interface OperationFailure {
  readonly kind: OperationFailureKind
  readonly message: string
}

/**
 * - `used_before`: the authorization was already used when it was claimed, and had not paid for it;
 * - `settled_elsewhere`: it had paid us when it was claimed: somebody else had submitted it;
 * - `refused`: the transfer failed when it was simulated, or the facilitator would not settle it;
 * - `expired`: it can no longer be used, and never was;
 * - `used_otherwise`: it was cancelled, or its nonce went to another transfer;
 * - `rejected`: the provider refused for good;
 * - `gone`: what was paid for was no longer there;
 * - `late`: the provider stayed unwell for longer than the service waits.
 */
export type OperationFailureKind =
  | "used_before"
  | "settled_elsewhere"
  | "refused"
  | "expired"
  | "used_otherwise"
  | "rejected"
  | "gone"
  | "late"

/** A secret's place in a stored answer: what is needed to derive it again, and nothing that opens it. */
export interface SecretSlot {
  readonly kind: "access-token" | "callback-secret"
  readonly keyId: number
  readonly version: number
  /** The tenant, or the number, whose secret it is. */
  readonly subject: string
  /** Where in the body's text (UTF-16 units, all secrets cut out) the secret belongs. */
  readonly offset: number
}

/** An answer as it is kept for replay: the body's text with every secret cut out. */
export interface StoredAnswer {
  readonly created: boolean
  readonly body: string
  readonly slots: ReadonlyArray<SecretSlot>
}
