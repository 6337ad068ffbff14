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
  /** SHA-256 over method, path, query and body, in hex. */
  readonly requestHash: string
  /** The requestId of the request that claimed it, which its answer carries for ever. */
  readonly requestId: string
  readonly proof: PaymentProof
  readonly terms: PaymentTerms
  /** The request's decoded input, as JSON text. */
  readonly input: string
  /** What the service fixed before anything was charged: ids and references that every attempt uses, as JSON text. */
  readonly plan: string
  readonly state: OperationState
  /** The block at which the nonce was read as unused; null before that. */
  readonly nonceReadAtBlock: bigint | null
  /** The transaction that paid, once known. */
  readonly transaction: string | null
  /** The transaction that paid back, once known. */
  readonly refundTransaction: string | null
  /** Why it was refused, went unpaid or is owed back; for people. */
  readonly failure: string | null
  /** The final answer; null until fulfilled. */
  readonly answer: StoredAnswer | null
  /** Counts takings of the work; a worker that holds an older number may write nothing. */
  readonly fence: number
  /** Until when a worker may be at it; null when nobody is. On the store's clock. */
  readonly leasedUntil: Timestamp | null
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
}

/** A secret's place in a stored answer: what is needed to derive it again, and nothing that opens it. */
export interface SecretSlot {
  readonly kind: "access-token" | "callback-secret"
  readonly keyId: number
  readonly version: number
  /** The tenant, or the number, whose secret it is. */
  readonly subject: string
}

/**
 * An answer as it is kept: the body's text with every secret cut out. Slot `i`
 * stands in `body` as the text `\u0001i\u0001`: a raw control character that no JSON text holds otherwise.
 */
export interface StoredAnswer {
  readonly created: boolean
  readonly body: string
  readonly slots: ReadonlyArray<SecretSlot>
}
