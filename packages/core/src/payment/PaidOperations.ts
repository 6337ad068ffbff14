import { Context, Effect, Fiber, FiberSet, Layer, Option, Result, Schema } from "effect"
import { Keyring } from "../kernel/Keyring.ts"
import type { InvalidRequest } from "../kernel/ResourceError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Transactor } from "../kernel/Transactor.ts"
import * as Uuid from "../kernel/Uuid.ts"
import { type Tenant, walletAddress } from "../tenancy/Tenant.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import { requireActive } from "../tenancy/TenantSuspended.ts"
import type { Answer } from "./Answer.ts"
import { challengeIssuer } from "./ChallengeIssuing.ts"
import { OfferReceipts } from "./OfferReceipts.ts"
import type { Operation } from "./Operation.ts"
import { OperationStore } from "./OperationStore.ts"
import { OperationJournal, WORK_LEASE } from "./OperationJournal.ts"
import { PAYMENT_STATES, type PaymentState } from "./OperationState.ts"
import { OperationSteps } from "./OperationStep.ts"
import { OperationWorker } from "./OperationWorker.ts"
import { checkPayer, conflictOf, endpoint, isHeldBy, keyFlaw, type PaidRequest } from "./PaidRequest.ts"
import type { CheckError, PaidService } from "./PaidService.ts"
import {
  IdempotencyConflict,
  type OperationError,
  type PaymentError,
  PaymentRequired,
  PaymentReturned,
  undetermined
} from "./PaymentError.ts"
import { PaymentRail } from "./PaymentRail.ts"
import { type PaymentProof, proofKey } from "./PaymentTerms.ts"
import { type AcceptedProof, type PresentedPayment, presentedPayments } from "./PresentedPayments.ts"
import * as RequestBinding from "./RequestBinding.ts"
import * as UnclaimedPayment from "./UnclaimedPayment.ts"

/**
 * Entry point of all paid requests: challenges, proofs and replays. `PaidService` defines the work of one service;
 * `OperationWorker` advances an operation through its states.
 *
 * The payment of one `PaidRequest` value is decoded and authenticated once, by the first method that needs it.
 */
export class PaidOperations extends Context.Service<
  PaidOperations,
  {
    /**
     * Returns the answer of the operation that already holds this request's payment, or none. Call it before any other
     * check of the request, so that neither an outage nor a changed resource hides the result of a paid operation.
     */
    readonly replay: (request: PaidRequest) => Effect.Effect<Option.Option<Answer>, PaymentError | InvalidRequest>
    /**
     * Handles the payment of a request that is about to be rejected and that has no operation. A transfer that paid us
     * in full after its challenge was issued becomes an operation in `refund_due` that buys nothing, and the request
     * fails with `PaymentReturned`. Returns none if the authorization is unused, or if the request carries no signed
     * authorization; returns the result of `replay` if a copy of this request was claimed meanwhile.
     */
    readonly reclaim: (request: PaidRequest) => Effect.Effect<Option.Option<Answer>, PaymentError | InvalidRequest>
    /**
     * Returns the state of a payment, whoever presents it: that of the operation which holds it, otherwise `none` if the
     * authorization is unused or the header contains none, and `unknown` if it is used or the chain can't be read.
     */
    readonly paymentState: (paymentSignature: string) => Effect.Effect<PaymentState>
    /** Returns the value of PAYMENT-REQUIRED for a request that is not checked. */
    readonly challenge: (request: PaidRequest) => Effect.Effect<string>
    /** Checks a request without payment, and returns the value of PAYMENT-REQUIRED for it. */
    readonly quote: <Input, Plan, Receipt>(
      service: PaidService<Input, Plan, Receipt>,
      request: PaidRequest,
      input: Input
    ) => Effect.Effect<string, CheckError>
    /**
     * Checks the request, charges it once and fulfills it; fails with the reason otherwise, and with the challenge if the
     * request carries no payment.
     */
    readonly execute: <Input, Plan, Receipt>(
      service: PaidService<Input, Plan, Receipt>,
      request: PaidRequest,
      input: Input
    ) => Effect.Effect<Answer, PaymentError | CheckError>
  }
>()("@agentos/core/payment/PaidOperations") {
  static readonly layer = Layer.effect(
    PaidOperations,
    Effect.gen(function* () {
      const rail = yield* PaymentRail
      const keyring = yield* Keyring
      const receipts = yield* OfferReceipts
      const operations = yield* OperationStore
      const tenants = yield* TenantStore
      const transactor = yield* Transactor
      const worker = yield* OperationWorker
      const journal = yield* OperationJournal
      const reach = yield* OperationSteps
      // A claimed operation continues after its client has disconnected.
      const running = yield* FiberSet.make<Answer, OperationError>()

      const issue = challengeIssuer(rail, keyring, receipts)
      /** Fails with the challenge for a request whose payment is refused. */
      const challenge = (
        request: PaidRequest,
        reason: string,
        ended: { readonly endedOperationId?: string } = {}
      ): Effect.Effect<never, PaymentRequired> =>
        Effect.flatMap(issue(request, reason), (header) =>
          Effect.fail(new PaymentRequired({ challenge: header, reason, ...ended }))
        )
      const { acceptProof, acceptedTerms, effectiveKey, present, signedProof, verify } = presentedPayments(
        rail,
        keyring,
        challenge
      )

      /**
       * Finds the operation that holds the request's proof or key. Fails with the conflict if it is another request's.
       */
      const findOperation = Effect.fnUntraced(function* (
        request: PaidRequest,
        { authenticated, proof }: PresentedPayment,
        idempotencyKey: string
      ) {
        const found = yield* operations.findByKeys({
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
        const paymentState = holder === undefined ? yield* unclaimedState(proof) : PAYMENT_STATES[holder.state]
        return yield* new IdempotencyConflict({ message, paymentState })
      })

      /** The state of a payment that no operation holds. */
      const unclaimedState = (proof: PaymentProof): Effect.Effect<"none" | "unknown"> =>
        Effect.match(rail.readNonce(proof), {
          onFailure: () => "unknown",
          onSuccess: ({ used }) => (used ? "unknown" : "none")
        })

      const paymentState = Effect.fnUntraced(function* (paymentSignature: string): Effect.fn.Return<PaymentState> {
        const decoded = yield* Effect.option(rail.decodeProof(paymentSignature))
        // A header without a signed authorization can't move money.
        if (Option.isNone(decoded)) return "none"
        const proof = decoded.value
        // No operation has an empty endpoint, so only the proof is compared.
        const [holder] = yield* operations.findByKeys({ proof: proofKey(proof), endpoint: "", idempotencyKey: "" })
        if (holder !== undefined && holder.proof.digest === proof.digest) return PAYMENT_STATES[holder.state]
        const signed = yield* Effect.result(rail.authenticate(proof))
        if (Result.isFailure(signed)) return signed.failure._tag === "ProofInvalid" ? "none" : "unknown"
        return holder === undefined ? yield* unclaimedState(proof) : PAYMENT_STATES[holder.state]
      })

      const replay = Effect.fnUntraced(function* (request: PaidRequest) {
        const idempotencyKey = yield* effectiveKey(request)
        const { paymentSignature } = request
        if (paymentSignature === null || idempotencyKey === null) return Option.none()
        const payment = yield* Effect.option(present(request, paymentSignature))
        if (Option.isNone(payment)) return Option.none()
        const operation = yield* findOperation(request, payment.value, idempotencyKey)
        if (Option.isNone(operation)) return Option.none()
        yield* checkPayer(request, payment.value.proof, PAYMENT_STATES[operation.value.state])
        return Option.some(yield* detached(request, worker.resume(operation.value)))
      })

      /** Runs the work in its own fiber. Turns `PaymentRefused` into a challenge for this request. */
      const detached = (request: PaidRequest, work: Effect.Effect<Answer, OperationError>) =>
        Effect.flatMap(FiberSet.run(running, work), Fiber.join).pipe(
          Effect.catchTag("PaymentRefused", ({ message, operationId }) =>
            challenge(request, message, { endedOperationId: operationId })
          )
        )

      /** Returns the tenant of the payer's wallet. Creates it if the wallet has none. */
      const tenantOf = Effect.fnUntraced(function* ({ payer }: PaymentProof, createdAt: Timestamp.Timestamp) {
        const tenantId = yield* Uuid.next
        const tenant: Tenant = { tenantId, wallet: walletAddress(payer), tokenVersion: 1, createdAt }
        return yield* tenants.ensure(tenant)
      })

      const claim = Effect.fnUntraced(function* <Input, Plan, Receipt>(
        service: PaidService<Input, Plan, Receipt>,
        request: PaidRequest,
        input: Input,
        accepted: AcceptedProof,
        idempotencyKey: string
      ) {
        const createdAt = yield* Timestamp.now
        const operationId = yield* Uuid.next
        const encodeInput = Schema.encodeEffect(Schema.fromJsonString(service.input))
        const encodePlan = Schema.encodeEffect(Schema.fromJsonString(service.plan))
        const { staging } = service
        const draft = {
          ...newOperation(request, accepted, idempotencyKey),
          operationId,
          createdAt,
          updatedAt: createdAt
        }
        const claimed = (kept: Input) =>
          transactor.transact(
            Effect.gen(function* () {
              const tenant = yield* tenantOf(accepted.proof, createdAt)
              yield* requireActive(tenant)
              const plan = yield* service.prepare(
                { operationId, tenant, createdAt, attended: true, isAuthenticated: request.tenant !== null },
                kept
              )
              const operation: Operation = {
                ...draft,
                tenantId: tenant.tenantId,
                input: yield* Effect.orDie(encodeInput(kept)),
                plan: yield* Effect.orDie(encodePlan(plan))
              }
              // A failure rolls back the reservations of `prepare`.
              return (yield* operations.claim(operation, WORK_LEASE)) ? operation : yield* new ClaimLost()
            }),
            { key: accepted.proof.payer }
          )
        if (staging === undefined) return yield* claimed(input)
        const stored = Effect.tap(staging.store(operationId, input), () => reach("staged", draft))
        return yield* Effect.onError(Effect.flatMap(stored, claimed), () => staging.discard(operationId))
      })

      /**
       * Stores an operation in `refund_due` for a payment without one. Fails with `ClaimLost` if an operation holds it.
       */
      const owe = Effect.fnUntraced(function* (
        request: PaidRequest,
        accepted: AcceptedProof,
        idempotencyKey: string,
        paid: { readonly transaction: string; readonly nonceReadAtBlock: bigint }
      ) {
        const createdAt = yield* Timestamp.now
        const operationId = yield* Uuid.next
        return yield* transactor.transact(
          Effect.gen(function* () {
            const { tenantId } = yield* tenantOf(accepted.proof, createdAt)
            const operation: Operation = {
              ...newOperation(request, accepted, idempotencyKey),
              operationId,
              tenantId,
              createdAt,
              updatedAt: createdAt
            }
            if (!(yield* operations.claim(operation, WORK_LEASE))) return yield* new ClaimLost()
            return yield* journal.oweUnclaimed(operation, { ...paid, failure: UnclaimedPayment.SETTLED_ELSEWHERE })
          })
        )
      })

      const reclaim = Effect.fnUntraced(
        function* (request: PaidRequest) {
          const idempotencyKey = yield* effectiveKey(request)
          const signed = yield* signedProof(request)
          if (Option.isNone(signed) || idempotencyKey === null) return Option.none()
          const proof = signed.value
          const { used } = yield* rail.readNonce(proof)
          // A copy of this request may have been claimed while the nonce was read.
          if (!used) return yield* replay(request)
          const terms = yield* acceptedTerms(request, proof)
          if (Option.isNone(terms)) return yield* usedForAnother
          const { afterBlock, settlement } = yield* UnclaimedPayment.find(rail, proof, terms.value)
          switch (settlement._tag) {
            case "Paid": {
              const paid = { transaction: settlement.transaction, nonceReadAtBlock: afterBlock }
              const owed = yield* Effect.result(owe(request, { proof, terms: terms.value }, idempotencyKey, paid))
              if (Result.isSuccess(owed)) {
                yield* reach("refund_owed", owed.success)
                const { operationId } = owed.success
                return yield* new PaymentReturned({ operationId, paymentState: "refund_due", receipt: null })
              }
              return yield* replay(request)
            }
            case "UsedOtherwise":
              return yield* usedBefore
            case "Unused":
            case "Unsettled":
              return yield* undetermined(USE_NOT_SEEN)
          }
        },
        Effect.catchTag("ProviderError", ({ message }) => undetermined(message))
      )

      /** Checks all of a request but its payment. */
      const check = <Input, Plan, Receipt>(
        service: PaidService<Input, Plan, Receipt>,
        { tenant }: PaidRequest,
        input: Input
      ): Effect.Effect<void, CheckError> =>
        tenant === null
          ? service.check(null, input)
          : Effect.andThen(requireActive(tenant), service.check(tenant, input))

      const quote = <Input, Plan, Receipt>(
        service: PaidService<Input, Plan, Receipt>,
        request: PaidRequest,
        input: Input
      ): Effect.Effect<string, CheckError> => {
        const flaw = keyFlaw(request)
        return flaw === undefined
          ? Effect.flatMap(check(service, request, input), () => issue(request, null))
          : Effect.fail(flaw)
      }

      /** Checks everything that must hold before money moves, then claims the operation. */
      const prepare = Effect.fnUntraced(function* <Input, Plan, Receipt>(
        service: PaidService<Input, Plan, Receipt>,
        request: PaidRequest,
        input: Input
      ) {
        const { paymentSignature } = request
        const idempotencyKey = yield* effectiveKey(request)
        if (paymentSignature === null || idempotencyKey === null) {
          return yield* new PaymentRequired({ challenge: yield* quote(service, request, input), reason: null })
        }
        const accept = acceptProof(request, paymentSignature)
        const payment = Effect.tap(accept, (accepted) => verify(request, accepted))
        // Concurrent, since both wait for other systems. A failure of the service's check takes precedence.
        const [checked, verified] = yield* Effect.all(
          [Effect.result(check(service, request, input)), Effect.result(payment)],
          { concurrency: 2 }
        )
        yield* Effect.fromResult(checked)
        return yield* claim(service, request, input, yield* Effect.fromResult(verified), idempotencyKey)
      })

      const execute = Effect.fnUntraced(function* <Input, Plan, Receipt>(
        service: PaidService<Input, Plan, Receipt>,
        request: PaidRequest,
        input: Input
      ): Effect.fn.Return<Answer, PaymentError | CheckError> {
        const prepared = yield* Effect.result(prepare(service, request, input))
        if (Result.isSuccess(prepared)) return yield* detached(request, worker.run(prepared.success))
        // A copy of this request may have been claimed first and hold the resources or the payment that this one lacks.
        const first = yield* replay(request)
        if (Option.isSome(first)) return first.value
        const failure = prepared.failure
        // The chain could not be read a moment ago: do not read it again.
        if (failure._tag === "OperationDelayed") return yield* failure
        const reclaimed = yield* reclaim(request)
        if (Option.isSome(reclaimed)) return reclaimed.value
        switch (failure._tag) {
          case "ClaimLost":
            return yield* Effect.die(failure)
          case "AuthorizationUsed":
            return yield* undetermined(USE_NOT_SEEN)
          default:
            return yield* Effect.fail(failure)
        }
      })

      return PaidOperations.of({
        replay,
        reclaim,
        paymentState,
        challenge: (request) => issue(request, null),
        quote,
        execute
      })
    })
  ).pipe(Layer.provide(OperationJournal.layer))
}

const usedBefore = new IdempotencyConflict({
  message: "This authorization was already used, so it buys nothing here.",
  paymentState: "none"
})

const usedForAnother = new IdempotencyConflict({
  message:
    "This authorization was already used, and it was signed for another request. Repeat that request with its own " +
    "challenge and access token. Do not sign another authorization.",
  paymentState: "unknown"
})

const USE_NOT_SEEN = "The authorization is used, but the chain does not show yet by which transfer"

/** Returns a new operation without its ids and timestamps. Input and plan are `null` until the caller sets them. */
const newOperation = (
  request: PaidRequest,
  { proof, terms }: AcceptedProof,
  idempotencyKey: string
): Omit<Operation, "operationId" | "tenantId" | "createdAt" | "updatedAt"> => ({
  serviceId: request.entry.serviceId,
  endpoint: endpoint(request),
  idempotencyKey,
  fingerprint: RequestBinding.fingerprint(request.binding),
  requestId: request.requestId,
  proof,
  terms,
  input: "null",
  plan: "null",
  state: "claimed",
  nonceReadAtBlock: null,
  transaction: null,
  refundNonce: null,
  refundTransaction: null,
  failure: null,
  answer: null,
  receipt: null,
  fence: 1,
  leasedUntil: null,
  dueAt: null
})

/** One of the operation's keys was taken between the check and the claim. */
class ClaimLost extends Schema.TaggedError<ClaimLost>()("ClaimLost", {}) {}
