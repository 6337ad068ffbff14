import { Effect } from "effect"
import type { ServiceEntry } from "../catalog/Catalog.ts"
import { invalid, type InvalidRequest } from "../kernel/ResourceError.ts"
import { type Tenant, walletAddress } from "../tenancy/Tenant.ts"
import type { Operation } from "./Operation.ts"
import type { PaymentState } from "./OperationState.ts"
import { PayerMismatch } from "./PaymentError.ts"
import type { ChallengeResource, Extensions } from "./PaymentRail.ts"
import type { PaymentProof } from "./PaymentTerms.ts"
import * as RequestBinding from "./RequestBinding.ts"

/** Maximum length of an Idempotency-Key, in characters. */
export const IDEMPOTENCY_KEY_LIMIT = 255

/** The parts of a request to a paid service that matter to its payment. */
export interface PaidRequest {
  readonly entry: ServiceEntry
  readonly binding: RequestBinding.RequestBinding
  readonly requestId: string
  /** The service and the extensions in the challenge: the same for each request to the service. */
  readonly resource: ChallengeResource
  readonly extensions: Extensions
  /** The tenant of the token that came with the request. */
  readonly tenant: Tenant | null
  readonly idempotencyKey: string | null
  /** The networks on which the client can pay, in its order (CAIP-2). Empty if it names none. */
  readonly networks: ReadonlyArray<string>
}

/**
 * Returns the key of a request with a payment: its Idempotency-Key, or without that header the identifier in its payment.
 * Fails with `InvalidRequest` if the key is too long, malformed or missing.
 */
export const keyOf = Effect.fnUntraced(function* (request: PaidRequest, identifier: string | undefined) {
  const { idempotencyKey } = request
  const flaw = keyFlaw(request)
  if (flaw !== undefined) return yield* flaw
  if (idempotencyKey) return idempotencyKey
  if (identifier === undefined) return yield* invalid("Idempotency-Key", "is required with PAYMENT-SIGNATURE")
  return identifier === ""
    ? yield* invalid(IDENTIFIER_PATH, "must have 16 to 128 characters of A-Z a-z 0-9 _ -")
    : identifier
})

/** Returns the problem of an Idempotency-Key, whether or not it is needed. */
export const keyFlaw = ({ idempotencyKey }: PaidRequest): InvalidRequest | undefined =>
  idempotencyKey !== null && idempotencyKey.length > IDEMPOTENCY_KEY_LIMIT
    ? invalid("Idempotency-Key", `must have at most ${IDEMPOTENCY_KEY_LIMIT} characters`)
    : undefined

const IDENTIFIER_PATH = "PAYMENT-SIGNATURE.extensions.payment-identifier.info.id"

/** Returns whether the request has an Idempotency-Key, which precedes the identifier in its payment. */
const hasKey = ({ idempotencyKey }: PaidRequest): boolean => idempotencyKey !== null && idempotencyKey !== ""

export const endpoint = (request: PaidRequest): string => `${request.entry.method} ${request.entry.path}`

export const priceOf = (request: PaidRequest): bigint => {
  if (request.entry.price === null) throw new Error(`${request.entry.serviceId} has no price`)
  return request.entry.price
}

/** Returns whether the payer is the token's wallet. True for a request without a token. */
export const isPaidByTenant = ({ tenant }: PaidRequest, proof: PaymentProof): boolean =>
  tenant === null || walletAddress(proof.payer) === tenant.wallet

/**
 * Fails with `PayerMismatch` if a request with a token is paid by a wallet other than the token's. `paymentState` is the
 * state of that payment.
 */
export const checkPayer = (
  request: PaidRequest,
  proof: PaymentProof,
  paymentState: PaymentState
): Effect.Effect<void, PayerMismatch> =>
  isPaidByTenant(request, proof) ? Effect.void : Effect.fail(new PayerMismatch({ payer: proof.payer, paymentState }))

/** Returns whether the operation holds the authorization, in whichever header it came. */
export const isHeldBy = (operation: Operation, proof: PaymentProof): boolean =>
  operation.proof.payer === proof.payer && operation.proof.nonce === proof.nonce

/**
 * Returns why an operation that holds one of the request's keys belongs to another request; undefined if it does not.
 */
export const conflictOf = (
  operation: Operation,
  request: PaidRequest,
  proof: PaymentProof,
  idempotencyKey: string
): string | undefined => {
  const sameProof = operation.proof.digest === proof.digest
  const name = hasKey(request) ? "Idempotency-Key" : "payment identifier"
  const sameKey = operation.idempotencyKey === idempotencyKey && operation.endpoint === endpoint(request)
  if (!sameKey) return `This payment was already sent with another ${name} or to another endpoint.`
  if (!sameProof) {
    return isHeldBy(operation, proof)
      ? "This authorization was already sent in another PAYMENT-SIGNATURE header."
      : `This ${name} was already used with another payment.`
  }
  return operation.fingerprint === RequestBinding.fingerprint(request.binding)
    ? undefined
    : `This ${name} and payment were already used for a request with another body or query.`
}
