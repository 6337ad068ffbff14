import { Context, Duration, Effect, Layer, Option, Result, Schedule } from "effect"
import { serviceEntry } from "../catalog/Catalog.ts"
import { Keyring } from "../kernel/Keyring.ts"
import type { ProviderError } from "../kernel/ProviderError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Transactor } from "../kernel/Transactor.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import * as Answers from "./Answer.ts"
import * as Ledger from "./Ledger.ts"
import type { Operation, OperationFailure, OperationFailureKind } from "./Operation.ts"
import { isFinal, move, type OperationMove, type OperationState, PAYMENT_STATES } from "./OperationState.ts"
import { type OperationChange, OperationStore } from "./OperationStore.ts"
import { type Attempt, PaidServices, type ResourceGone } from "./PaidService.ts"
import {
  IdempotencyConflict,
  OperationDelayed,
  type OperationError,
  OperationRejected,
  PaymentPending,
  PaymentRefused
} from "./PaymentError.ts"
import { PaymentRail, type SettleAnswer, type Settlement } from "./PaymentRail.ts"

/** For how long a worker holds an operation before it must renew; what a crash costs in waiting. */
export const WORK_LEASE = 15 * Timestamp.SECOND
/** How often the lease is renewed while a call outside is under way. */
const RENEW_EVERY = Duration.seconds(5)

/** How long the chain is asked, after a settlement, before the client is told to come back. */
const CONFIRM_WITHIN = { accepted: Duration.seconds(10), unknown: Duration.seconds(3) }

/** A facilitator that takes longer than this over its answer is not waited for alone: the chain may know by then. */
const WATCH_AFTER = Duration.seconds(3)
const WATCH_EVERY = Duration.seconds(1)

const confirming = (within: Duration.Duration) =>
  Schedule.exponential("50 millis", 1.5).pipe(Schedule.upTo({ duration: within }))

const RETRY_SOON = 1
const RETRY_LATER = 5

/** States in which a worker has nothing more to do for the client: the end, or one that a durable job watches. */
const isAtRest = (state: OperationState): boolean => isFinal(state) || state === "refused" || state === "refund_due"

/**
 * Carries a claimed operation through its states. Every step is committed,
 * under the tenant's lock and the worker's fence, before the call outside that
 * it announces; what a call outside brought is the next decision.
 *
 *     claimed     read the nonce; commit `settling`; submit to the facilitator
 *     settling    ask the chain; submit again only if the nonce is unused
 *     settled     look again whether it can be done; commit `fulfilling`
 *     fulfilling  call the provider; commit the result, the ledger and the answer
 */
export class OperationWorker extends Context.Service<
  OperationWorker,
  {
    /** Carries on an operation that this worker has just claimed. */
    readonly run: (operation: Operation) => Effect.Effect<Answers.Answer, OperationError>
    /** Answers from an operation that exists: at once when it is finished, by taking up its work when nobody is at it. */
    readonly resume: (operation: Operation) => Effect.Effect<Answers.Answer, OperationError>
  }
>()("@agentos/core/payment/OperationWorker") {
  static readonly layer = Layer.effect(
    OperationWorker,
    Effect.gen(function* () {
      const rail = yield* PaymentRail
      const keyring = yield* Keyring
      const operations = yield* OperationStore
      const tenants = yield* TenantStore
      const transactor = yield* Transactor
      const services = yield* PaidServices

      const pending = (operation: Operation, retryAfterSeconds: number) =>
        new PaymentPending({
          operationId: operation.operationId,
          paymentState: PAYMENT_STATES[operation.state],
          retryAfterSeconds
        })

      const openAttempt = Effect.fnUntraced(function* (operation: Operation) {
        const service = services.get(operation.serviceId)
        const tenant = yield* tenants.find(operation.tenantId)
        if (service === undefined || Option.isNone(tenant)) {
          return yield* Effect.die(new Error(`operation ${operation.operationId} has no service or no tenant here`))
        }
        const { createdAt, operationId } = operation
        return yield* service.attempt({ operationId, createdAt, tenant: tenant.value }, operation)
      })

      /** Commits a move with what belongs to it. Another worker's operation is left alone. */
      const commit = <E>(
        operation: Operation,
        by: OperationMove,
        change: Effect.Effect<OperationChange, E>
      ): Effect.Effect<Operation, E | PaymentPending> =>
        transactor.transact(
          Effect.gen(function* () {
            const to = move(operation.state, by)
            if (to === undefined) return yield* Effect.die(new Error(`${by} is no move from ${operation.state}`))
            yield* tenants.lock([operation.tenantId])
            const moved = yield* operations.advance({
              operationId: operation.operationId,
              fence: operation.fence,
              from: operation.state,
              to,
              change: yield* change,
              leaseMillis: isAtRest(to) ? 0 : WORK_LEASE
            })
            if (Option.isNone(moved)) return yield* pending(operation, RETRY_SOON)
            yield* operations.post(Ledger.entriesOf(operation, operation.state, to))
            return moved.value
          })
        )

      const fail = (kind: OperationFailureKind, message: string): { readonly failure: OperationFailure } => ({
        failure: { kind, message }
      })

      /** Commits an end in which the goods are not given, and gives up what was reserved. */
      const giveUp = (
        operation: Operation,
        by: "ProveUnpaid" | "OweRefund",
        failure: { readonly failure: OperationFailure },
        attempt?: Attempt
      ) =>
        Effect.flatMap(attempt === undefined ? openAttempt(operation) : Effect.succeed(attempt), ({ abandon }) =>
          commit(operation, by, Effect.as(abandon, failure))
        )

      /** Renews the lease while a call outside takes its time, so that nobody else begins the same. */
      const whileLeased =
        (operation: Operation) =>
        <A, E>(outside: Effect.Effect<A, E>): Effect.Effect<A, E> =>
          Effect.raceFirst(
            outside,
            Effect.andThen(
              Effect.repeat(
                Effect.delay(operations.renew(operation.operationId, operation.fence, WORK_LEASE), RENEW_EVERY),
                Schedule.forever
              ),
              Effect.never
            )
          )

      const findSettlement = (operation: Operation, transaction?: string) =>
        rail.findSettlement(operation.proof, operation.terms, operation.nonceReadAtBlock ?? 0n, transaction)

      const begin = Effect.fnUntraced(function* (operation: Operation): Effect.fn.Return<Operation, OperationError> {
        const reading = yield* Effect.mapError(rail.readNonce(operation.proof), (error) => delayed(operation, error))
        if (reading.used) {
          return yield* giveUp(
            operation,
            "ProveUnpaid",
            fail("used_before", "This authorization had been used before; it buys nothing here.")
          )
        }
        return yield* Effect.flatMap(
          commit(operation, "StartSettling", Effect.succeed({ nonceReadAtBlock: reading.block })),
          submit
        )
      })

      /** What a slow facilitator will have to say, as soon as the chain shows it. */
      const watchChain = (operation: Operation): Effect.Effect<SettleAnswer> =>
        findSettlement(operation).pipe(
          Effect.filterOrFail((found) => found._tag === "Paid"),
          Effect.retry(Schedule.spaced(WATCH_EVERY)),
          Effect.map(({ transaction }): SettleAnswer => ({ _tag: "Accepted", transaction })),
          Effect.orDie,
          Effect.delay(WATCH_AFTER)
        )

      const submit = Effect.fnUntraced(function* (operation: Operation): Effect.fn.Return<Operation, OperationError> {
        const answer = yield* whileLeased(operation)(
          Effect.raceFirst(rail.settle(operation.proof, operation.terms), watchChain(operation))
        )
        if (answer._tag === "Refused") {
          const settlement = yield* Effect.option(findSettlement(operation))
          return Option.isSome(settlement) && settlement.value._tag === "Paid"
            ? yield* conclude(operation, settlement.value)
            : yield* commit(operation, "NoteRefusal", Effect.succeed(fail("refused", answer.message)))
        }
        const transaction = answer._tag === "Accepted" ? answer.transaction : undefined
        const settlement = yield* findSettlement(operation, transaction).pipe(
          Effect.filterOrFail((found) => found._tag === "Paid" || found._tag === "UsedOtherwise"),
          Effect.retry(confirming(answer._tag === "Accepted" ? CONFIRM_WITHIN.accepted : CONFIRM_WITHIN.unknown)),
          whileLeased(operation),
          Effect.mapError(() => pending(operation, RETRY_SOON))
        )
        return yield* conclude(operation, settlement)
      })

      const settleOn = Effect.fnUntraced(function* (operation: Operation): Effect.fn.Return<Operation, OperationError> {
        const settlement = yield* Effect.mapError(findSettlement(operation), () => pending(operation, RETRY_LATER))
        return settlement._tag === "Unused" && !settlement.expired
          ? yield* submit(operation)
          : yield* conclude(operation, settlement)
      })

      const conclude = (operation: Operation, settlement: Settlement): Effect.Effect<Operation, OperationError> => {
        switch (settlement._tag) {
          case "Paid":
            return commit(operation, "ProveSettled", Effect.succeed({ transaction: settlement.transaction }))
          case "UsedOtherwise":
            return giveUp(operation, "ProveUnpaid", fail("used_otherwise", settlement.message))
          case "Unused":
            return settlement.expired
              ? giveUp(operation, "ProveUnpaid", fail("expired", "The authorization ran out before it was used."))
              : Effect.fail(pending(operation, RETRY_SOON))
          case "Unsettled":
            return Effect.fail(pending(operation, RETRY_SOON))
        }
      }

      const startFulfilling = Effect.fnUntraced(function* (
        operation: Operation
      ): Effect.fn.Return<Operation, OperationError> {
        const attempt = yield* openAttempt(operation)
        return yield* Effect.catchTag(
          commit(operation, "StartFulfilling", Effect.as(attempt.revalidate, {})),
          "ResourceGone",
          (gone) => giveUp(operation, "OweRefund", fail("gone", gone.message), attempt)
        )
      })

      const fulfil = Effect.fnUntraced(function* (operation: Operation): Effect.fn.Return<Operation, OperationError> {
        const attempt = yield* openAttempt(operation)
        const owe = (kind: OperationFailureKind) => (error: ProviderError | ResourceGone) =>
          giveUp(operation, "OweRefund", fail(kind, error.message), attempt)
        const performed = yield* Effect.result(whileLeased(operation)(attempt.perform))
        if (Result.isFailure(performed)) {
          const error = performed.failure
          return yield* error.reason === "Rejected" ? owe("rejected")(error) : delayed(operation, error)
        }
        const answer = Effect.map(performed.success, (fulfilment) => ({
          answer: Answers.store(fulfilment, {
            operationId: operation.operationId,
            requestId: operation.requestId,
            guide: serviceEntry(operation.serviceId).guide
          })
        }))
        return yield* Effect.catchTag(commit(operation, "Fulfil", answer), "ResourceGone", owe("gone"))
      })

      const delayed = (operation: Operation, error: ProviderError) =>
        new OperationDelayed({
          operationId: operation.operationId,
          paymentState: PAYMENT_STATES[operation.state],
          message: error.message,
          retryAfterSeconds: RETRY_LATER
        })

      const step = (operation: Operation): Effect.Effect<Operation, OperationError> => {
        switch (operation.state) {
          case "claimed":
            return begin(operation)
          case "settling":
            return settleOn(operation)
          case "settled":
            return startFulfilling(operation)
          case "fulfilling":
            return fulfil(operation)
          default:
            return Effect.succeed(operation)
        }
      }

      const run = Effect.fnUntraced(function* (operation: Operation): Effect.fn.Return<Answers.Answer, OperationError> {
        let current = operation
        while (!isAtRest(current.state)) {
          const { fence, operationId } = current
          current = yield* Effect.onError(step(current), () => operations.renew(operationId, fence, 0))
        }
        return yield* outcome(current)
      })

      const outcome = (operation: Operation): Effect.Effect<Answers.Answer, OperationError> => {
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
            return Effect.fail(new OperationRejected({ operationId, paymentState, message }))
          default:
            return Effect.fail(pending(operation, RETRY_SOON))
        }
      }

      const resume = Effect.fnUntraced(function* (
        operation: Operation
      ): Effect.fn.Return<Answers.Answer, OperationError> {
        if (isAtRest(operation.state)) return yield* outcome(operation)
        const taken = yield* operations.takeOver(operation.operationId, WORK_LEASE)
        return yield* Option.isSome(taken) ? run(taken.value) : pending(operation, RETRY_SOON)
      })

      return OperationWorker.of({ run, resume })
    })
  )
}
