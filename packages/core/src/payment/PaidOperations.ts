import { Context, Duration, Effect, type Exit, Fiber, FiberSet, Layer, Option, Result } from "effect"
import { Keyring } from "../kernel/Keyring.ts"
import { findStoreUnavailable, type StoreUnavailable } from "../kernel/StoreUnavailable.ts"
import { Transactor } from "../kernel/Transactor.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import { requireActive } from "../tenancy/TenantSuspended.ts"
import type { Answer } from "./Answer.ts"
import { challengeIssuer } from "./ChallengeIssuing.ts"
import { claim, ClaimLost } from "./Claiming.ts"
import { findHolder, paymentStateOf } from "./HeldPayments.ts"
import { OfferReceipts } from "./OfferReceipts.ts"
import { OperationJournal } from "./OperationJournal.ts"
import { PAYMENT_STATES, type PaymentState } from "./OperationState.ts"
import { OperationSteps } from "./OperationStep.ts"
import { OperationStore } from "./OperationStore.ts"
import { OperationWorker } from "./OperationWorker.ts"
import { checkPayer, keyFlaw, keyOf, type PaidRequest } from "./PaidRequest.ts"
import type { CheckError, PaidService } from "./PaidService.ts"
import {
  OperationDelayed,
  type OperationError,
  type PaymentError,
  PaymentRequired,
  undetermined
} from "./PaymentError.ts"
import { PaymentRail } from "./PaymentRail.ts"
import { AuthorizationUsed, paymentChecks, type PresentedPayment } from "./PresentedPayments.ts"
import { reclaim, useNotSeen } from "./Reclaiming.ts"

/** Why a request with a payment was not answered with its result. */
export interface Refused<E> {
  readonly error: E
  /** The state of the payment, unless the error has one itself. Undefined if it was not determined. */
  readonly paymentState: PaymentState | undefined
}

/** How long a request waits for its answer. What it has claimed continues after that. */
const ANSWER_WITHIN = Duration.seconds(25)
/** How long the search for what a request has claimed may take, once it can't be answered otherwise. */
const STATE_WITHIN = Duration.seconds(3)

/** All failures of a request with a payment, beside those of its admission. */
export type PayError = PaymentError | CheckError | StoreUnavailable

/**
 * Entry point of all paid requests: challenges, payments and replays. `PaidService` defines the work of one service;
 * `OperationWorker` advances an operation through its states.
 */
export class PaidOperations extends Context.Service<
  PaidOperations,
  {
    /** Returns the value of PAYMENT-REQUIRED for a request that is not checked. */
    readonly challenge: (request: PaidRequest) => Effect.Effect<string>
    /** Checks a request without payment, and returns the value of PAYMENT-REQUIRED for it. */
    readonly quote: <Input, Plan, Receipt>(
      service: PaidService<Input, Plan, Receipt>,
      request: PaidRequest,
      input: Input
    ) => Effect.Effect<string, CheckError>
    /**
     * Answers a request with a payment: from the operation that already holds the payment, or by charging it once and
     * fulfilling it. Neither an outage nor a changed resource hides the result of a paid operation.
     *
     * `admission` checks what the host knows and returns the input. It runs only if no operation holds the payment. Before
     * its failure or another is returned, the chain is asked whether the payment was used, except after one with the tag
     * `RateLimited`, which must cause no queries to the chain. A transfer that paid us in full after its challenge was
     * issued becomes an operation in `refund_due` that buys nothing, and the request fails with `PaymentReturned`.
     *
     * Answers within 30 seconds. What is not done by then continues if it was claimed, and the request fails with
     * `OperationDelayed`. Fails with `StoreUnavailable` if the store refused the claim and shows that nothing was claimed; any
     * other failure of the store is a defect.
     */
    readonly pay: <Input, Plan, Receipt, E extends { readonly _tag: string } = never, R = never>(
      service: PaidService<Input, Plan, Receipt>,
      request: PaidRequest,
      paymentSignature: string,
      admission: Effect.Effect<Input, E, R>
    ) => Effect.Effect<Answer, Refused<PayError | E>, R>
    /**
     * Returns the state of a payment, whoever presents it: that of the operation which holds it, otherwise `none` if the
     * authorization is unused or the header contains none, and `unknown` if it is used or the chain can't be read.
     */
    readonly paymentState: (paymentSignature: string) => Effect.Effect<PaymentState>
  }
>()("@agentos/core/payment/PaidOperations") {
  static readonly layer = Layer.effect(
    PaidOperations,
    Effect.gen(function* () {
      const rail = yield* PaymentRail
      const keyring = yield* Keyring
      const worker = yield* OperationWorker
      const ports = {
        rail,
        operations: yield* OperationStore,
        tenants: yield* TenantStore,
        transactor: yield* Transactor,
        journal: yield* OperationJournal,
        reach: yield* OperationSteps
      }
      // A claimed operation continues after its client has disconnected.
      const running = yield* FiberSet.make<Answer, OperationError>()

      const issue = challengeIssuer(rail, keyring, yield* OfferReceipts)
      /** Fails with the challenge for a request whose payment is refused. */
      const challenge = (
        request: PaidRequest,
        reason: string,
        more: { readonly endedOperationId?: string; readonly remedy?: string } = {}
      ): Effect.Effect<never, PaymentRequired> =>
        Effect.flatMap(issue(request, reason), (header) =>
          Effect.fail(new PaymentRequired({ challenge: header, reason, ...more }))
        )
      const checks = paymentChecks(rail, keyring, challenge)

      /** Runs the work in its own fiber. Turns `PaymentRefused` into a challenge for this request. */
      const detached = (request: PaidRequest, work: Effect.Effect<Answer, OperationError>) =>
        Effect.flatMap(FiberSet.run(running, work), Fiber.join).pipe(
          Effect.catchTag("PaymentRefused", ({ message, operationId }) =>
            challenge(request, message, { endedOperationId: operationId })
          )
        )

      /** Returns the answer of the operation that holds the payment, or none if no operation does. */
      const replay = Effect.fnUntraced(function* (payment: PresentedPayment) {
        const { proof, request } = payment
        const holder = yield* findHolder(ports, payment)
        if (Option.isNone(holder)) return Option.none()
        yield* checkPayer(request, proof, PAYMENT_STATES[holder.value.state])
        return Option.some(yield* detached(request, worker.resume(holder.value)))
      })

      /** Checks everything that must hold before money moves, then claims the operation. */
      const prepare = Effect.fnUntraced(function* <Input, Plan, Receipt>(
        service: PaidService<Input, Plan, Receipt>,
        payment: PresentedPayment,
        input: Input
      ) {
        // Concurrent, since both wait for other systems. A failure of the service's check takes precedence.
        const [checked, terms] = yield* Effect.all(
          [Effect.result(check(service, payment.request, input)), Effect.result(checks.check(payment))],
          { concurrency: 2 }
        )
        yield* Effect.fromResult(checked)
        return yield* claim(ports, service, payment, yield* Effect.fromResult(terms), input)
      })

      /**
       * Concludes a request whose payment was not claimed. Finds out what became of the payment before it returns the failure.
       */
      const conclude = Effect.fnUntraced(function* <E extends { readonly _tag: string }>(
        payment: PresentedPayment,
        failure: E | PaymentError | CheckError | ClaimLost | AuthorizationUsed
      ): Effect.fn.Return<Answer, Refused<E | PaymentError | CheckError>> {
        // The client learns more when it retries.
        if (failure._tag === "RateLimited") return yield* refuse(failure as E, undefined)
        // A copy of this request may have been claimed first and hold the resources or the payment that this one lacks.
        const first = yield* Effect.mapError(replay(payment), toRefused)
        if (Option.isSome(first)) return first.value
        // The chain could not be read a moment ago: do not read it again.
        if (failure instanceof OperationDelayed) return yield* refuse(failure, undefined)
        yield* Effect.mapError(reclaim(ports, payment, checks.acceptedTerms(payment)), toRefused)
        // The copy may have been claimed while the chain was read.
        const second = yield* Effect.mapError(replay(payment), toRefused)
        if (Option.isSome(second)) return second.value
        if (failure instanceof ClaimLost) return yield* Effect.die(failure)
        if (failure instanceof AuthorizationUsed) return yield* Effect.mapError(useNotSeen, toRefused)
        return yield* refuse(failure, "none")
      })

      /** Answers a request whose payment carries an authorization. */
      const answer = Effect.fnUntraced(function* <Input, Plan, Receipt, E extends { readonly _tag: string }, R>(
        service: PaidService<Input, Plan, Receipt>,
        payment: PresentedPayment,
        admission: Effect.Effect<Input, E, R>
      ): Effect.fn.Return<Answer, Refused<PaymentError | CheckError | E>, R> {
        const repeated = yield* Effect.mapError(replay(payment), toRefused)
        if (Option.isSome(repeated)) return repeated.value
        const prepared = yield* Effect.result(Effect.flatMap(admission, (input) => prepare(service, payment, input)))
        if (Result.isSuccess(prepared)) {
          return yield* Effect.mapError(detached(payment.request, worker.run(prepared.success)), toRefused)
        }
        return yield* conclude(payment, prepared.failure)
      })

      const paymentState = (paymentSignature: string): Effect.Effect<PaymentState> =>
        paymentStateOf(ports, paymentSignature).pipe(
          Effect.timeoutOrElse({ duration: ANSWER_WITHIN, orElse: () => Effect.succeed("unknown" as const) })
        )

      /** Answers a request whose time is over: with what it has claimed, if that has come to its end meanwhile. */
      const late = (payment: PresentedPayment): Effect.Effect<Answer, Refused<PaymentError>> =>
        replay(payment).pipe(
          Effect.timeoutOrElse({ duration: STATE_WITHIN, orElse: () => Effect.succeed(Option.none<Answer>()) }),
          Effect.flatMap(
            Option.match({ onNone: () => undetermined("The request took too long."), onSome: Effect.succeed })
          ),
          Effect.mapError(toRefused)
        )

      /** Replaces the defect of a store that refused to claim the payment, once it shows that nothing was claimed. */
      const withUnclaimed = <A, E>(
        ended: Exit.Exit<A, Refused<E>>,
        paymentSignature: string
      ): Effect.Effect<A, Refused<E | StoreUnavailable>> =>
        Effect.catchCause(ended, (cause) => {
          const unavailable = findStoreUnavailable(cause)
          if (unavailable?.isUndone !== true) return Effect.failCause(cause)
          return paymentStateOf(ports, paymentSignature).pipe(
            Effect.timeout(STATE_WITHIN),
            // The store may still be unavailable.
            Effect.catchCause(() => Effect.succeed("unknown" as const)),
            Effect.flatMap((state): Effect.Effect<never, Refused<E | StoreUnavailable>> =>
              state === "none" ? refuse(unavailable, state) : Effect.failCause(cause)
            )
          )
        })

      const pay = Effect.fnUntraced(function* <Input, Plan, Receipt, E extends { readonly _tag: string }, R>(
        service: PaidService<Input, Plan, Receipt>,
        request: PaidRequest,
        paymentSignature: string,
        admission: Effect.Effect<Input, E, R>
      ): Effect.fn.Return<Answer, Refused<PayError | E>, R> {
        const decoded = yield* Effect.result(rail.decodeProof(paymentSignature))
        const key = yield* Effect.result(keyOf(request, Result.getOrUndefined(decoded)?.identifier))
        if (Result.isFailure(key)) {
          return yield* refuse(key.failure, yield* paymentState(paymentSignature))
        }
        if (Result.isFailure(decoded)) {
          // A header without a signed authorization can't move money.
          const checked = Effect.flatMap(admission, (input) => check(service, request, input))
          return yield* Effect.catch(Effect.andThen(checked, challenge(request, decoded.failure.message)), (error) =>
            refuse(error, "none")
          )
        }
        const proof = decoded.success
        const authenticated = yield* Effect.cached(rail.authenticate(proof))
        const payment = { request, proof, idempotencyKey: key.success, authenticated }
        // In a fiber of its own, since a commit can't be interrupted, and its answer may take long.
        const working = yield* Effect.forkChild(answer(service, payment, admission), { startImmediately: true })
        const ended = yield* Effect.timeoutOption(Fiber.await(working), ANSWER_WITHIN)
        if (Option.isSome(ended)) return yield* withUnclaimed(ended.value, paymentSignature)
        working.interruptUnsafe()
        return yield* late(payment)
      })

      return PaidOperations.of({
        challenge: (request) => issue(request, null),
        quote: Effect.fnUntraced(function* (service, request, input) {
          const flaw = keyFlaw(request)
          if (flaw !== undefined) return yield* flaw
          yield* check(service, request, input)
          return yield* issue(request, null)
        }),
        pay,
        paymentState
      })
    })
  ).pipe(Layer.provide(OperationJournal.layer))
}

/** Checks all of a request but its payment. */
const check = <Input, Plan, Receipt>(
  service: PaidService<Input, Plan, Receipt>,
  { tenant }: PaidRequest,
  input: Input
): Effect.Effect<void, CheckError> =>
  tenant === null ? service.check(null, input) : Effect.andThen(requireActive(tenant), service.check(tenant, input))

const refuse = <E>(error: E, paymentState: PaymentState | undefined): Effect.Effect<never, Refused<E>> =>
  Effect.fail({ error, paymentState })

/** Returns the refusal for an error that has the state of the payment itself. */
const toRefused = (error: PaymentError): Refused<PaymentError> => ({ error, paymentState: undefined })
