import { Context, Effect, Layer, Option } from "effect"
import { Keyring } from "../kernel/Keyring.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import * as Answers from "./Answer.ts"
import * as Fulfilling from "./Fulfilling.ts"
import type { Operation } from "./Operation.ts"
import { isAtRest, OperationJournal, pending, RETRY_LATER, RETRY_SOON, WORK_LEASE } from "./OperationJournal.ts"
import { PAYMENT_STATES } from "./OperationState.ts"
import { OperationSteps } from "./OperationStep.ts"
import { OperationStore } from "./OperationStore.ts"
import {
  IdempotencyConflict,
  type OperationError,
  OperationRejected,
  PaymentPending,
  PaymentRefused,
  PaymentReturned
} from "./PaymentError.ts"
import { PaymentRail } from "./PaymentRail.ts"
import * as Refunding from "./Refunding.ts"
import * as Settling from "./Settling.ts"

/** How soon the job looks again at an operation that it could not carry on: after a quarter of its time in the state, within these. */
const LOOK_AGAIN = { min: Timestamp.SECOND, max: 20 * Timestamp.SECOND }
/** A debt that nothing can pay here waits for the operator. */
const LOOK_AGAIN_WITHOUT_WALLET = 10 * Timestamp.MINUTE

/**
 * Carries a claimed operation through its states. Every step is committed,
 * under the tenant's lock and the worker's fence, before the call outside that
 * it announces; what a call outside brought is the next decision.
 *
 *     claimed     read the nonce; commit `settling`; simulate the transfer; submit to the facilitator
 *     settling    ask the chain; simulate and submit again only if the nonce is unused
 *     settled     look again whether it can be done; commit `fulfilling`
 *     fulfilling  call the provider; commit the result, the ledger and the answer
 *     refused     ask the chain until it can't be used any more
 *     refund_due  pay back; ask the chain whether it was
 */
export class OperationWorker extends Context.Service<
  OperationWorker,
  {
    /** Carries on an operation that this worker has just claimed. */
    readonly run: (operation: Operation) => Effect.Effect<Answers.Answer, OperationError>
    /** Answers from an operation that exists: at once when it is finished, by taking up its work when nobody is at it. */
    readonly resume: (operation: Operation) => Effect.Effect<Answers.Answer, OperationError>
    /**
     * Carries on an operation that this worker has taken over, with nobody waiting, as far as it goes now. Fails with
     * what it waits for; the job looks again later.
     */
    readonly carryOn: (operation: Operation) => Effect.Effect<void, OperationError>
  }
>()("@agentos/core/payment/OperationWorker") {
  static readonly layer = Layer.effect(
    OperationWorker,
    Effect.gen(function* () {
      const rail = yield* PaymentRail
      const keyring = yield* Keyring
      const operations = yield* OperationStore
      const reach = yield* OperationSteps
      const settling = yield* Settling.make
      const fulfilling = yield* Fulfilling.make
      const refunding = yield* Refunding.make

      const stepFrom = (operation: Operation, attended: boolean): Effect.Effect<Operation, OperationError> => {
        switch (operation.state) {
          case "claimed":
            return settling.begin(operation)
          case "settling":
            return settling.settleOn(operation)
          case "settled":
            return fulfilling.start(operation)
          case "fulfilling":
            return fulfilling.fulfil(operation, attended)
          case "refused":
            return settling.watchRefused(operation)
          case "refund_due":
            return refunding.payBack(operation)
          case "fulfilled":
          case "unpaid":
          case "refunded":
            return Effect.succeed(operation)
        }
      }

      /** Leaves an operation to the job, which looks the less often at it the longer it has waited. */
      const letGo = Effect.fnUntraced(function* (operation: Operation) {
        const waited = (yield* Timestamp.now) - operation.updatedAt
        const millis =
          operation.state === "refund_due" && !rail.canRefund(operation.terms)
            ? LOOK_AGAIN_WITHOUT_WALLET
            : Math.min(Math.max(Math.floor(waited / 4), LOOK_AGAIN.min), LOOK_AGAIN.max)
        return yield* operations.hold(operation.operationId, operation.fence, { by: "job", millis })
      })

      const step = (operation: Operation, attended: boolean) =>
        Effect.onError(stepFrom(operation, attended), () => letGo(operation))

      const run = Effect.fnUntraced(function* (operation: Operation): Effect.fn.Return<Answers.Answer, OperationError> {
        let current = operation
        while (!isAtRest(current.state)) current = yield* step(current, true)
        return yield* outcome(current)
      })

      const carryOn = Effect.fnUntraced(function* (operation: Operation): Effect.fn.Return<void, OperationError> {
        let current = operation
        do current = yield* step(current, false)
        while (!isAtRest(current.state))
      })

      const outcome = (operation: Operation): Effect.Effect<Answers.Answer, OperationError> =>
        Effect.andThen(
          reach("before_answer", operation),
          Effect.suspend(() => answerOf(operation))
        )

      const answerOf = (operation: Operation): Effect.Effect<Answers.Answer, OperationError> => {
        const { operationId } = operation
        const paymentState = PAYMENT_STATES[operation.state]
        const message = operation.failure?.message ?? ""
        if (operation.answer !== null && operation.transaction !== null) {
          return Effect.succeed({
            operationId,
            created: operation.answer.created,
            requestId: operation.requestId,
            body: Answers.restore(keyring, operation.answer),
            receipt: rail.encodeReceipt({
              network: operation.terms.network,
              transaction: operation.transaction,
              payer: operation.proof.payer,
              amount: operation.terms.amount
            })
          })
        }
        switch (operation.state) {
          case "refused":
          case "unpaid":
            return Effect.fail(
              operation.failure?.kind === "used_before"
                ? new IdempotencyConflict({ message, paymentState })
                : new PaymentRefused({ operationId, message })
            )
          case "refund_due":
          case "refunded":
            if (operation.failure?.kind === "settled_elsewhere") {
              return Effect.fail(new PaymentReturned({ operationId, paymentState }))
            }
            return Effect.fail(new OperationRejected({ operationId, paymentState, message }))
          default:
            return Effect.fail(pending(operation, RETRY_SOON))
        }
      }

      /** Who is told that a refused payment was not charged signs another: only the chain can say so. */
      const confirmUnused = Effect.fnUntraced(function* (operation: Operation): Effect.fn.Return<void, PaymentPending> {
        const { used } = yield* Effect.mapError(rail.readNonce(operation.proof), () => pending(operation, RETRY_LATER))
        if (used) return yield* pending(operation, RETRY_SOON)
      })

      const resume = Effect.fnUntraced(function* (
        operation: Operation
      ): Effect.fn.Return<Answers.Answer, OperationError> {
        if (operation.state === "refused") yield* confirmUnused(operation)
        if (isAtRest(operation.state)) return yield* outcome(operation)
        const taken = yield* operations.takeOver(operation.operationId, WORK_LEASE)
        return yield* Option.isSome(taken) ? run(taken.value) : pending(operation, RETRY_SOON)
      })

      return OperationWorker.of({ run, resume, carryOn })
    })
  ).pipe(Layer.provide(OperationJournal.layer))
}
