import { Cause, Effect, Option, Result } from "effect"
import { serviceEntry } from "../catalog/Catalog.ts"
import { ProviderError } from "../kernel/ProviderError.ts"
import type { Tenant } from "../tenancy/Tenant.ts"
import * as Answers from "./Answer.ts"
import type { OfferReceipts } from "./OfferReceipts.ts"
import type { Operation, OperationFailureKind } from "./Operation.ts"
import { delayed, OperationJournal, type TransferTaken } from "./OperationJournal.ts"
import { OperationSteps } from "./OperationStep.ts"
import { OperationStore } from "./OperationStore.ts"
import { type Fulfillment, PaidServices, ResourceGone } from "./PaidService.ts"
import type { OperationError } from "./PaymentError.ts"
import type { PaidSettlement, PaymentRail } from "./PaymentRail.ts"
import * as PaymentResponse from "./PaymentResponse.ts"
import { failureOf } from "./Settling.ts"

const SUSPENDED = { message: "The tenant was suspended before the operation could complete." }
const BROKEN = "The operation failed with an internal error at every attempt."

type Step = (operation: Operation) => Effect.Effect<Operation, OperationError>

/** The steps that perform the paid service, or start its refund. */
export interface Fulfilling {
  /**
   * From `settling`, with the payment as the chain shows it: commits `settled`; or `fulfilled`, with the result and the answer,
   * for a service that calls no provider.
   */
  readonly deliver: (
    operation: Operation,
    paid: PaidSettlement
  ) => Effect.Effect<Operation, OperationError | TransferTaken>
  /** From `settled`: checks again that the service can be performed, and commits `fulfilling`. */
  readonly start: Step
  /**
   * From `fulfilling`: calls the provider; commits the result, the ledger and the answer. `attended`: a client waits.
   */
  readonly fulfill: (operation: Operation, attended: boolean) => Effect.Effect<Operation, OperationError>
}

export const make: Effect.Effect<
  Fulfilling,
  never,
  OperationJournal | OperationStore | PaidServices | PaymentRail | OfferReceipts
> = Effect.gen(function* () {
  const { commit, commitAlone, giveUp, openAttempt, openAttemptOf, settle, transactionOf, whileLeased } =
    yield* OperationJournal
  const operations = yield* OperationStore
  const services = yield* PaidServices
  const reach = yield* OperationSteps
  const { signed } = yield* PaymentResponse.make

  const owe = (operation: Operation, kind: OperationFailureKind) => (error: { readonly message: string }) =>
    Effect.tap(giveUp(operation, "OweRefund", failureOf(kind, error.message)), (owed) => reach("refund_owed", owed))

  const start = Effect.fnUntraced(function* (operation: Operation): Effect.fn.Return<Operation, OperationError> {
    // Nothing but a suspension can prevent the work, and `fulfill` checks that.
    if (services.get(operation.serviceId)?.revalidates === false)
      return yield* commitAlone(operation, "StartFulfilling", {})
    const { isSuspended, revalidate } = yield* openAttempt(operation, false)
    if (isSuspended) return yield* owe(operation, "gone")(SUSPENDED)
    return yield* Effect.catchTag(
      commit(operation, "StartFulfilling", () => Effect.as(revalidate, {})),
      "ResourceGone",
      owe(operation, "gone")
    )
  })

  /** Whether the service has used up its retry time, which starts when the operation enters `fulfilling`. */
  const isLate = ({ operationId, serviceId }: Operation) =>
    Effect.map(
      operations.stateAge(operationId),
      Option.exists((ageMillis) => ageMillis >= (services.get(serviceId)?.retryFor ?? 0))
    )

  /** Treats a defect of the service like an unavailable provider: it is retried until the operation is late. */
  const unbroken = <A>(operation: Operation, perform: Effect.Effect<A, ProviderError>) =>
    Effect.catchDefect(perform, (defect) =>
      Effect.flatMap(isLate(operation), (late) =>
        late
          ? Effect.andThen(
              Effect.logError(`operation ${operation.operationId} is refunded: its service fails each time`, defect),
              new ProviderError({ provider: operation.serviceId, reason: "Unknown", message: BROKEN })
            )
          : Effect.die(defect)
      )
    )

  const fulfill = Effect.fnUntraced(function* (
    operation: Operation,
    attended: boolean
  ): Effect.fn.Return<Operation, OperationError> {
    yield* reach("before_perform", operation)
    const attempt = yield* openAttempt(operation, attended)
    if (attempt.isSuspended) return yield* owe(operation, "gone")(SUSPENDED)
    const performed = yield* Effect.result(whileLeased(operation)(unbroken(operation, attempt.perform)))
    yield* reach("after_perform", operation)
    if (Result.isFailure(performed)) {
      const error = performed.failure
      if (error.reason === "Rejected") return yield* owe(operation, "rejected")(error)
      return (yield* isLate(operation)) ? yield* owe(operation, "late")(error) : yield* delayed(operation, error)
    }
    const { operationId, transaction } = operation
    if (transaction === null) {
      return yield* Effect.die(new Error(`operation ${operationId} is to be fulfilled without its payment`))
    }
    return yield* commit(operation, "Fulfill", (tenant) =>
      Effect.flatMap(performed.success(tenant), (fulfillment) => answered(operation, fulfillment, transaction))
    ).pipe(
      Effect.tap((fulfilled) => reach("fulfilled", fulfilled)),
      Effect.catchTag("ResourceGone", owe(operation, "gone"))
    )
  })

  /** Returns the change of the transition to `fulfilled`. */
  const answered = (operation: Operation, fulfillment: Fulfillment, transaction: string) => {
    const { operationId, requestId, serviceId } = operation
    const { guide } = serviceEntry(serviceId)
    return Effect.map(signed(operation, { transaction, refundTransaction: null }), (receipt) => ({
      answer: Answers.store(fulfillment, { operationId, requestId, guide }),
      receipt
    }))
  }

  const fulfillAtOnce = (operation: Operation, paid: PaidSettlement) =>
    commit(
      operation,
      "FulfillAtOnce",
      Effect.fnUntraced(function* (tenant: Tenant) {
        const { isSuspended, perform } = yield* openAttemptOf(operation, tenant, true)
        if (isSuspended) return yield* new ResourceGone(SUSPENDED)
        const transaction = yield* transactionOf(operation, paid)
        const fulfillment = yield* (yield* perform)(tenant)
        return { transaction, ...(yield* answered(operation, fulfillment, transaction)) }
      })
    )

  const settleAlone = (operation: Operation, paid: PaidSettlement) =>
    Effect.tap(settle(operation, paid), (settled) => reach("settled", settled))

  const deliver: Fulfilling["deliver"] = (operation, paid) => {
    if (services.get(operation.serviceId)?.performs !== false) return settleAlone(operation, paid)
    return Effect.matchCauseEffect(fulfillAtOnce(operation, paid), {
      onSuccess: (fulfilled) => Effect.as(reach("fulfilled", fulfilled), fulfilled),
      onFailure: (cause): ReturnType<Fulfilling["deliver"]> => {
        const error = Option.getOrUndefined(Cause.findErrorOption(cause))
        if (error?._tag === "PaymentPending") return Effect.fail(error)
        if (Cause.hasInterruptsOnly(cause)) return Effect.interrupt
        // Also without the work, the payment is committed. The next steps find it again, and refund or retry.
        return settleAlone(operation, paid)
      }
    })
  }

  return { deliver, start, fulfill }
})
