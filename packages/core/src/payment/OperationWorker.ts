import { Cause, Context, Effect, Layer, Option } from "effect"
import { Keyring } from "../kernel/Keyring.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import * as Trace from "../kernel/Trace.ts"
import { withoutPersons } from "../kernel/WithoutPersons.ts"
import * as Answers from "./Answer.ts"
import * as Fulfilling from "./Fulfilling.ts"
import { type Operation, operationStatusOf } from "./Operation.ts"
import {
  isAnswered,
  OperationJournal,
  pending,
  refused,
  RETRY_SOON,
  UNCONFIRMED,
  WORK_LEASE
} from "./OperationJournal.ts"
import { PAYMENT_STATES } from "./OperationState.ts"
import { OperationSteps } from "./OperationStep.ts"
import { OperationStore } from "./OperationStore.ts"
import {
  AnswerExpired,
  IdempotencyConflict,
  type OperationError,
  OperationRejected,
  PaymentRefused,
  PaymentReturned
} from "./PaymentError.ts"
import { PaymentRail } from "./PaymentRail.ts"
import * as PaymentResponse from "./PaymentResponse.ts"
import * as Refunding from "./Refunding.ts"
import * as Settling from "./Settling.ts"

/** Bounds of the delay before the job retries an operation, which is a quarter of the operation's time in its state. */
const POLL_INTERVAL = { min: Timestamp.SECOND, max: 20 * Timestamp.SECOND }
/** Delay before the job retries a refund for which no wallet is configured. Only the operator can fix that. */
const POLL_INTERVAL_WITHOUT_WALLET = 10 * Timestamp.MINUTE

const FAILED_REASON_LIMIT = 300

/**
 * Returns why an attempt failed; undefined if it was interrupted, for example because the server stops. The message of a defect
 * may contain anything, and is in the log.
 */
const failedReason = (cause: Cause.Cause<OperationError>): string | undefined => {
  if (Cause.hasInterruptsOnly(cause)) return undefined
  const error = Option.getOrUndefined(Cause.findErrorOption(cause))
  if (error === undefined) return "Internal error. The log of the server has it."
  const reason = error._tag === "PaymentPending" ? (error.why ?? UNCONFIRMED) : error.message
  // Stores take no NUL character and no half of a pair.
  return withoutPersons(reason)
    .replaceAll(/\p{Cc}+/gu, " ")
    .slice(0, FAILED_REASON_LIMIT)
    .toWellFormed()
}

/**
 * Advances a claimed operation through its states. Every step is committed, under the tenant's lock and the worker's
 * fence, before the external call that it announces. The result of an external call decides the next step.
 *
 *     claimed     read the nonce; commit `settling`; simulate the transfer; submit to the facilitator
 *     settling    read the chain; simulate and submit again only if the nonce is unused; commit the payment, with the
 *                 result if the service calls no provider
 *     settled     check again that the service can be performed; commit `fulfilling`
 *     fulfilling  call the provider; commit the result, the ledger and the answer
 *     refused     poll the chain until the authorization can no longer be used
 *     refund_due  submit the refund; poll the chain for it
 */
export class OperationWorker extends Context.Service<
  OperationWorker,
  {
    /** Advances an operation that this worker has just claimed, and returns its answer. */
    readonly run: (operation: Operation) => Effect.Effect<Answers.Answer, OperationError>
    /** Returns the answer of an existing operation: at once if it has one, else by taking over the work if unleased. */
    readonly resume: (operation: Operation) => Effect.Effect<Answers.Answer, OperationError>
    /**
     * Advances an operation that this worker has taken over, as far as it can go now, with no client waiting. Fails
     * with the reason for waiting; the job retries later.
     */
    readonly advance: (operation: Operation) => Effect.Effect<void, OperationError>
  }
>()("@agentos/core/payment/OperationWorker") {
  static readonly layer = Layer.effect(
    OperationWorker,
    Effect.gen(function* () {
      const rail = yield* PaymentRail
      const keyring = yield* Keyring
      const operations = yield* OperationStore
      const reach = yield* OperationSteps
      const fulfilling = yield* Fulfilling.make
      const settling = yield* Settling.make(fulfilling.deliver)
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
            return fulfilling.fulfill(operation, attended)
          case "refused":
            return settling.watchRefused(operation)
          case "refund_due":
            return refunding.refund(operation)
          case "fulfilled":
          case "unpaid":
          case "refunded":
            return Effect.succeed(operation)
        }
      }

      /** Reschedules an operation for the job. The longer it has waited, the longer the delay. */
      const reschedule = Effect.fnUntraced(function* (operation: Operation, cause: Cause.Cause<OperationError>) {
        const waited = (yield* Timestamp.now) - operation.updatedAt
        const millis =
          operation.state === "refund_due" && !rail.canRefund(operation.terms)
            ? POLL_INTERVAL_WITHOUT_WALLET
            : Math.min(Math.max(Math.floor(waited / 4), POLL_INTERVAL.min), POLL_INTERVAL.max)
        const { fence, operationId } = operation
        return yield* operations.setNextAttempt(operationId, fence, { kind: "scheduled", millis }, failedReason(cause))
      })

      const step = (operation: Operation, attended: boolean) =>
        Trace.span(`operation ${operation.state}`)(
          Effect.onError(stepFrom(operation, attended), (cause) => reschedule(operation, cause))
        )

      const run = Effect.fnUntraced(function* (operation: Operation): Effect.fn.Return<Answers.Answer, OperationError> {
        let current = operation
        while (!isAnswered(current.state)) current = yield* step(current, true)
        return yield* outcome(current)
      })

      const advance = Effect.fnUntraced(function* (operation: Operation): Effect.fn.Return<void, OperationError> {
        let current = operation
        do current = yield* step(current, false)
        while (!isAnswered(current.state))
      })

      const outcome = (operation: Operation): Effect.Effect<Answers.Answer, OperationError> =>
        Effect.andThen(
          reach("before_answer", operation),
          Effect.suspend(() => answerOf(operation))
        )

      const answerOf = (operation: Operation): Effect.Effect<Answers.Answer, OperationError> => {
        const { operationId, receipt } = operation
        const message = operation.failure?.message ?? ""
        if (operation.answer !== null && operation.transaction !== null) {
          return Effect.succeed({
            operationId,
            created: operation.answer.created,
            requestId: operation.requestId,
            body: Answers.restore(keyring, operation.answer),
            receipt: receipt ?? PaymentResponse.unsigned(rail, operationStatusOf(operation), operation.transaction)
          })
        }
        switch (operation.state) {
          case "refused":
            return Effect.flatMap(Timestamp.now, (now) => Effect.fail(refused(operation, now)))
          case "unpaid":
            return Effect.fail(
              operation.failure?.kind === "used_before"
                ? new IdempotencyConflict({ message, paymentState: PAYMENT_STATES[operation.state] })
                : new PaymentRefused({ operationId, message })
            )
          case "refund_due":
          case "refunded":
            if (operation.failure?.kind === "settled_elsewhere") {
              return Effect.fail(new PaymentReturned({ operationId, paymentState: operation.state, receipt }))
            }
            return Effect.fail(new OperationRejected({ operationId, paymentState: operation.state, message, receipt }))
          case "fulfilled":
            return Effect.fail(new AnswerExpired({ operationId }))
          default:
            return Effect.fail(pending(operation, RETRY_SOON))
        }
      }

      const resume = Effect.fnUntraced(function* (
        operation: Operation
      ): Effect.fn.Return<Answers.Answer, OperationError> {
        if (isAnswered(operation.state)) return yield* outcome(operation)
        const taken = yield* operations.takeOver(operation.operationId, WORK_LEASE)
        return yield* Option.isSome(taken) ? run(taken.value) : pending(operation, RETRY_SOON)
      })

      return OperationWorker.of({ run, resume, advance })
    })
  ).pipe(Layer.provide(OperationJournal.layer))
}
