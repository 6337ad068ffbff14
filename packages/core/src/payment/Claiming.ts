import { Effect, Schema } from "effect"
import * as Timestamp from "../kernel/Timestamp.ts"
import * as Trace from "../kernel/Trace.ts"
import type { Transactor } from "../kernel/Transactor.ts"
import * as Uuid from "../kernel/Uuid.ts"
import { requireActive, type Tenant, walletAddress } from "../tenancy/Tenant.ts"
import type { TenantStore } from "../tenancy/TenantStore.ts"
import { AS_CLAIMED, type Operation } from "./Operation.ts"
import { type OperationJournal, WORK_LEASE } from "./OperationJournal.ts"
import type { OperationSteps } from "./OperationStep.ts"
import type { OperationStore } from "./OperationStore.ts"
import { endpoint } from "./PaidRequest.ts"
import { type PaidService, textsOf } from "./PaidService.ts"
import type { PaidSettlement } from "./PaymentRail.ts"
import type { PaymentTerms } from "./PaymentTerms.ts"
import type { PresentedPayment } from "./PresentedPayments.ts"
import * as RequestBinding from "./RequestBinding.ts"
import * as UnclaimedPayment from "./UnclaimedPayment.ts"

/** Another operation holds one of the keys: it was taken between the check and the claim. */
export class ClaimLost extends Schema.TaggedError<ClaimLost>()("ClaimLost", {}) {}

export interface ClaimPorts {
  readonly operations: OperationStore["Service"]
  readonly tenants: TenantStore["Service"]
  readonly transactor: Transactor["Service"]
  readonly journal: OperationJournal["Service"]
  readonly reach: (typeof OperationSteps)["Service"]
}

/** Returns the tenant of the payer's wallet. Creates it if the wallet has none. */
const tenantOf = Effect.fnUntraced(function* (
  { tenants }: ClaimPorts,
  { proof }: PresentedPayment,
  createdAt: Timestamp.Timestamp
) {
  const tenantId = yield* Uuid.next
  const tenant: Tenant = { tenantId, wallet: walletAddress(proof.payer), tokenVersion: 1, createdAt }
  return yield* tenants.ensure(tenant)
})

/**
 * Stores an operation that holds the payment and the key, in one transaction with the reservations of its service. Fails
 * with `ClaimLost` if an operation holds one of them, and with the error of the service if it can't be performed.
 */
export const claim = Effect.fnUntraced(function* <Input, Plan, Receipt>(
  ports: ClaimPorts,
  service: PaidService<Input, Plan, Receipt>,
  payment: PresentedPayment,
  terms: PaymentTerms,
  input: Input
) {
  const { operations, reach, transactor } = ports
  const { request } = payment
  const { staging } = service
  const texts = textsOf(service)
  const draft = yield* newOperation(payment, terms)
  const { createdAt, operationId } = draft
  const claimed = (kept: Input) =>
    transactor.transact(
      Effect.gen(function* () {
        const tenant = yield* tenantOf(ports, payment, createdAt)
        yield* requireActive(tenant)
        const plan = yield* service.prepare(
          {
            operationId,
            tenant,
            createdAt,
            attended: true,
            isAuthenticated: request.tenant?.tokenVersion === tenant.tokenVersion
          },
          kept
        )
        const operation: Operation = {
          ...draft,
          tenantId: tenant.tenantId,
          input: texts.ofInput(kept),
          plan: texts.ofPlan(plan)
        }
        // A failure rolls back the reservations of `prepare`.
        return (yield* operations.claim(operation, WORK_LEASE)) ? operation : yield* new ClaimLost()
      }),
      { key: payment.proof.payer }
    )
  if (staging === undefined) return yield* claimed(input)
  const stored = Effect.tap(staging.store(operationId, input, request.tenant), () => reach("staged", draft))
  return yield* Effect.onError(Effect.flatMap(stored, claimed), () => staging.discard(operationId))
})

/**
 * Stores an operation in `refund_due` that buys nothing, for a payment that the chain shows after `afterBlock`. Fails with
 * `ClaimLost` if an operation holds it, and with `TransferTaken` if others have its transfer.
 */
export const claimRefund = Effect.fnUntraced(function* (
  ports: ClaimPorts,
  payment: PresentedPayment,
  terms: PaymentTerms,
  { afterBlock, paid }: { readonly afterBlock: bigint; readonly paid: PaidSettlement }
) {
  const { journal, operations, transactor } = ports
  const draft = yield* newOperation(payment, terms)
  return yield* transactor.transact(
    Effect.gen(function* () {
      const { tenantId } = yield* tenantOf(ports, payment, draft.createdAt)
      const operation: Operation = { ...draft, tenantId }
      if (!(yield* operations.claim(operation, WORK_LEASE))) return yield* new ClaimLost()
      return yield* journal.oweUnclaimed(operation, {
        paid,
        failure: UnclaimedPayment.SETTLED_ELSEWHERE,
        nonceReadAtBlock: afterBlock
      })
    })
  )
})

/** Returns a new operation. Input and plan are `null` until the caller sets them. */
const newOperation = Effect.fnUntraced(function* (
  { idempotencyKey, proof, request }: PresentedPayment,
  terms: PaymentTerms
) {
  const createdAt = yield* Timestamp.now
  const operation: Omit<Operation, "tenantId"> = {
    operationId: yield* Uuid.next,
    serviceId: request.entry.serviceId,
    endpoint: endpoint(request),
    idempotencyKey,
    fingerprint: RequestBinding.fingerprint(request.binding),
    requestId: request.requestId,
    trace: yield* Trace.traceparent,
    proof,
    terms,
    input: "null",
    plan: "null",
    ...AS_CLAIMED,
    createdAt,
    updatedAt: createdAt
  }
  return operation
})
