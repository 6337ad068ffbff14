import { Effect, Option, Result } from "effect"
import type { Operation } from "./Operation.ts"
import { PAYMENT_STATES, type PaymentState } from "./OperationState.ts"
import type { OperationStore } from "./OperationStore.ts"
import { conflictOf, endpoint, isHeldBy } from "./PaidRequest.ts"
import { IdempotencyConflict } from "./PaymentError.ts"
import type { PaymentRail } from "./PaymentRail.ts"
import { type PaymentProof, proofKey } from "./PaymentTerms.ts"
import type { PresentedPayment } from "./PresentedPayments.ts"

export interface HeldPaymentPorts {
  readonly rail: PaymentRail["Service"]
  readonly operations: OperationStore["Service"]
}

/**
 * Returns the operation that holds the payment or the key of a request. Fails with the conflict if it is another request's.
 */
export const findHolder = Effect.fnUntraced(function* (
  ports: HeldPaymentPorts,
  { authenticated, idempotencyKey, proof, request }: PresentedPayment
): Effect.fn.Return<Option.Option<Operation>, IdempotencyConflict> {
  const found = yield* ports.operations.findByKeys({
    proof: proofKey(proof),
    endpoint: endpoint(request),
    idempotencyKey
  })
  if (found.length === 0) return Option.none()
  // A request that repeats the claimed proof byte for byte needs no new authentication, which may depend on the
  // chain, or on a token that is no longer accepted. Any other request that is not authenticated learns nothing.
  const isRepeated = found.some((operation) => operation.proof.digest === proof.digest)
  if (!isRepeated && (yield* Effect.isFailure(authenticated))) return Option.none()
  const message = found.map((operation) => conflictOf(operation, request, proof, idempotencyKey)).find(Boolean)
  if (message === undefined) return Option.fromUndefinedOr(found[0])
  const holder = found.find((operation) => isHeldBy(operation, proof))
  const paymentState = holder === undefined ? yield* unclaimedState(ports, proof) : PAYMENT_STATES[holder.state]
  return yield* new IdempotencyConflict({ message, paymentState })
})

/**
 * Returns the state of a payment, whoever presents it: that of the operation which holds it, otherwise `none` if the
 * authorization is unused or the header contains none, and `unknown` if it is used or the chain can't be read.
 */
export const paymentStateOf = Effect.fnUntraced(function* (
  ports: HeldPaymentPorts,
  paymentSignature: string
): Effect.fn.Return<PaymentState> {
  const { operations, rail } = ports
  const decoded = yield* Effect.option(rail.decodeProof(paymentSignature))
  // A header without a signed authorization can't move money.
  if (Option.isNone(decoded)) return "none"
  const proof = decoded.value
  // No operation has an empty endpoint, so only the proof is compared.
  const [holder] = yield* operations.findByKeys({ proof: proofKey(proof), endpoint: "", idempotencyKey: "" })
  if (holder !== undefined && holder.proof.digest === proof.digest) return PAYMENT_STATES[holder.state]
  const signed = yield* Effect.result(rail.authenticate(proof))
  if (Result.isFailure(signed)) return signed.failure._tag === "ProofInvalid" ? "none" : "unknown"
  return holder === undefined ? yield* unclaimedState(ports, proof) : PAYMENT_STATES[holder.state]
})

/** The state of a payment that no operation holds. */
const unclaimedState = ({ rail }: HeldPaymentPorts, proof: PaymentProof): Effect.Effect<"none" | "unknown"> =>
  Effect.match(rail.readNonce(proof), {
    onFailure: () => "unknown",
    onSuccess: ({ used }) => (used ? "unknown" : "none")
  })
