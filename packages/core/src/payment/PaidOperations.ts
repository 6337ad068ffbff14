import { Context, Effect, FiberSet, Layer } from "effect"
import { Keyring } from "../kernel/Keyring.ts"
import { Transactor } from "../kernel/Transactor.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import type { Answer } from "./Answer.ts"
import { OfferReceipts } from "./OfferReceipts.ts"
import { OperationJournal } from "./OperationJournal.ts"
import type { PaymentState } from "./OperationState.ts"
import { OperationSteps } from "./OperationStep.ts"
import { startCounters } from "./SalesMetrics.ts"
import { OperationStore } from "./OperationStore.ts"
import { OperationWorker } from "./OperationWorker.ts"
import { challengeIssuer } from "./ChallengeIssuer.ts"
import { keyFlaw, type PaidRequest } from "./PaidRequest.ts"
import type { CheckError, PaidService } from "./PaidService.ts"
import { check, pay, type PayError, type PaymentParts, paymentState, type Refused } from "./Paying.ts"
import { type OperationError, PaymentRequired } from "./PaymentError.ts"
import { PaymentRail } from "./PaymentRail.ts"
import { paymentChecks } from "./PresentedPayments.ts"
import { requireOffer, Sales, withoutStopped } from "./Sales.ts"
import type { SaleStopped } from "./SalesStop.ts"

/**
 * Entry point of all paid requests: challenges, payments and replays. `PaidService` defines the work of one service;
 * `OperationWorker` advances an operation through its states.
 */
export class PaidOperations extends Context.Service<
  PaidOperations,
  {
    /** Returns the value of PAYMENT-REQUIRED for a request that is not checked, if its service is on sale. */
    readonly challenge: (request: PaidRequest) => Effect.Effect<string, SaleStopped>
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
     * `admission` runs the checks of the host and returns the input. It runs only if no operation holds the payment.
     * Before its failure or another is returned, the chain is asked whether the payment was used, except after one with
     * the tag `RateLimited`, which must cause no queries to the chain. A transfer that paid us in full after its
     * challenge was issued becomes an operation in `refund_due` that buys nothing, and the request fails with
     * `PaymentReturned`.
     *
     * Answers within 24 seconds. If it is not done by then, a claimed operation continues, and the request fails with
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
      yield* startCounters
      const rail = yield* PaymentRail
      const keyring = yield* Keyring
      const sales = yield* Sales
      const offers = (amount: bigint) => withoutStopped(rail.offers(amount), sales.stoppedNetworks())
      const issue = challengeIssuer({ ...rail, offers }, keyring, yield* OfferReceipts)
      const requireOffered = (request: PaidRequest) =>
        Effect.suspend(() => requireOffer(rail, sales.stoppedNetworks(), request))
      const challenge: PaymentParts["challenge"] = (request, reason, more = {}) =>
        Effect.flatMap(issue(request, reason), (header) =>
          Effect.fail(new PaymentRequired({ challenge: header, reason, ...more }))
        )
      const parts: PaymentParts = {
        ports: {
          rail,
          operations: yield* OperationStore,
          tenants: yield* TenantStore,
          transactor: yield* Transactor,
          journal: yield* OperationJournal,
          reach: yield* OperationSteps
        },
        worker: yield* OperationWorker,
        sales,
        running: yield* FiberSet.make<Answer, OperationError>(),
        checks: paymentChecks(rail, keyring, challenge),
        challenge
      }
      return PaidOperations.of({
        challenge: (request) =>
          Effect.andThen(
            Effect.andThen(sales.requireOnSale(request.entry.serviceId), requireOffered(request)),
            issue(request, null)
          ),
        quote: Effect.fnUntraced(function* (service, request, input) {
          const flaw = keyFlaw(request)
          if (flaw !== undefined) return yield* flaw
          yield* check(parts, service, request, input)
          yield* requireOffered(request)
          return yield* issue(request, null)
        }),
        pay: (service, request, paymentSignature, admission) =>
          pay(parts, service, request, paymentSignature, admission),
        paymentState: (paymentSignature) => paymentState(parts, paymentSignature)
      })
    })
  ).pipe(Layer.provide(OperationJournal.layer))
}
