import { Context, Effect, Fiber, FiberSet, Layer, Option, Result, Schema } from "effect"
import { Keyring } from "../kernel/Keyring.ts"
import type { InvalidRequest } from "../kernel/ResourceError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Transactor } from "../kernel/Transactor.ts"
import * as Uuid from "../kernel/Uuid.ts"
import { type Tenant, walletAddress } from "../tenancy/Tenant.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import type { Answer } from "./Answer.ts"
import type { Operation } from "./Operation.ts"
import { OperationStore } from "./OperationStore.ts"
import { WORK_LEASE } from "./OperationJournal.ts"
import { OperationWorker } from "./OperationWorker.ts"
import { checkKey, checkPayer, conflictOf, endpoint, type PaidRequest, priceOf } from "./PaidRequest.ts"
import type { CheckError, PaidService } from "./PaidService.ts"
import {
  IdempotencyConflict,
  OperationDelayed,
  type OperationError,
  type PaymentError,
  PaymentRequired
} from "./PaymentError.ts"
import { PaymentRail } from "./PaymentRail.ts"
import { type PaymentProof, type PaymentTerms, proofKey } from "./PaymentTerms.ts"
import * as RequestBinding from "./RequestBinding.ts"

/**
 * The door to everything that costs money: challenges, proofs, replays. What a
 * service does lies in its `PaidService`; how an operation is carried through
 * its states, in `OperationWorker`.
 */
export class PaidOperations extends Context.Service<
  PaidOperations,
  {
    /**
     * The answer of the operation that this request's payment already stands for, if there is one.
     * Asked before anything else about the request is checked, so that neither an outage nor a
     * changed world hides what was paid for.
     */
    readonly replay: (request: PaidRequest) => Effect.Effect<Option.Option<Answer>, PaymentError | InvalidRequest>
    /** Fails with the challenge for this request, whatever it came with. */
    readonly challenge: (request: PaidRequest, reason: string | null) => Effect.Effect<never, PaymentRequired>
    /** Checks, charges once and fulfils; or says why not. */
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
      const operations = yield* OperationStore
      const tenants = yield* TenantStore
      const transactor = yield* Transactor
      const worker = yield* OperationWorker
      // An operation, once claimed, goes on although the client that asked for it has gone.
      const running = yield* FiberSet.make<Answer, OperationError>()

      const challenge = Effect.fnUntraced(
        function* (request: PaidRequest, reason: string | null) {
          const accepts = yield* Effect.forEach(rail.terms(priceOf(request)), (terms) =>
            RequestBinding.bind(request.binding, terms)
          )
          const header = rail.encodeChallenge({
            error: reason ?? undefined,
            resource: { url: request.resourceUrl, description: request.entry.purpose },
            accepts
          })
          return yield* new PaymentRequired({ challenge: header, reason })
        },
        Effect.provideService(Keyring, keyring)
      )

      /** The operation that stands under the proof or the key of a request, if it is this very request's. */
      const findOperation = Effect.fnUntraced(function* (
        request: PaidRequest,
        proof: PaymentProof,
        idempotencyKey: string
      ) {
        const isProven = yield* Effect.isSuccess(rail.authenticate(proof))
        const found = yield* operations.findByKeys({
          proof: proofKey(proof),
          endpoint: endpoint(request),
          idempotencyKey
        })
        // Nobody can say any more who signed for a token that is no longer taken. Whoever has every byte of what was
        // proven when it was claimed need not prove it again; anybody else is told nothing.
        if (!isProven && !found.some((operation) => operation.proof.digest === proof.digest)) return Option.none()
        const conflict = found.map((operation) => conflictOf(operation, request, proof, idempotencyKey)).find(Boolean)
        if (conflict !== undefined) return yield* conflict
        return Option.fromUndefinedOr(found[0])
      })

      const replay = Effect.fnUntraced(function* (request: PaidRequest) {
        yield* checkKey(request)
        const { idempotencyKey, paymentSignature } = request
        if (paymentSignature === null || idempotencyKey === null) return Option.none()
        const proof = yield* Effect.option(rail.decodeProof(paymentSignature))
        if (Option.isNone(proof)) return Option.none()
        const operation = yield* findOperation(request, proof.value, idempotencyKey)
        if (Option.isNone(operation)) return Option.none()
        yield* checkPayer(request, proof.value)
        return Option.some(yield* detached(request, worker.resume(operation.value)))
      })

      /** Carries on an operation in a fiber of its own, and turns what the worker says into what this request gets. */
      const detached = (request: PaidRequest, work: Effect.Effect<Answer, OperationError>) =>
        Effect.flatMap(FiberSet.run(running, work), Fiber.join).pipe(
          Effect.catchTag("PaymentRefused", (refused) => challenge(request, refused.message))
        )

      /** The proof and the terms it accepted, if it is a payment for this very request by the right wallet. */
      const acceptProof = Effect.fnUntraced(
        function* (request: PaidRequest, header: string, price: bigint) {
          const refuse = (error: { readonly message: string }) => challenge(request, error.message)
          const proof = yield* Effect.catchTag(rail.decodeProof(header), "ProofMalformed", refuse)
          const terms = yield* Effect.catch(
            RequestBinding.rebuild(request.binding, rail.terms(price), proof.accepted),
            (why) => challenge(request, REFUSALS[why])
          )
          yield* Effect.catchTag(rail.authenticate(proof), "ProofInvalid", refuse)
          yield* checkPayer(request, proof)
          return { proof, terms }
        },
        Effect.provideService(Keyring, keyring)
      )

      const verify = Effect.fnUntraced(
        function* (request: PaidRequest, { proof, terms }: AcceptedProof) {
          const refusal = yield* Effect.as(rail.verify(proof, terms), undefined).pipe(
            Effect.catchTag("ProofInvalid", (error) => Effect.succeed(error))
          )
          if (refusal === undefined) return
          // A used authorization must not be answered with 402: its owner would sign, and pay, again. While the chain
          // can't be read, nobody knows whether it is one.
          const { used } = yield* rail.readNonce(proof)
          return yield* used ? usedBefore : challenge(request, refusal.message)
        },
        Effect.catchTag("ProviderError", (error) =>
          Effect.fail(
            new OperationDelayed({
              operationId: null,
              paymentState: "none",
              message: error.message,
              retryAfterSeconds: RETRY_AFTER_SECONDS
            })
          )
        )
      )

      const claim = Effect.fnUntraced(function* <Input, Plan, Receipt>(
        service: PaidService<Input, Plan, Receipt>,
        request: PaidRequest,
        input: Input,
        { proof, terms }: AcceptedProof,
        idempotencyKey: string
      ) {
        const createdAt = yield* Timestamp.now
        const operationId = yield* Uuid.next
        const candidate: Tenant = {
          tenantId: yield* Uuid.next,
          wallet: walletAddress(proof.payer),
          tokenVersion: 1,
          createdAt
        }
        const encodeInput = Schema.encodeEffect(Schema.fromJsonString(service.input))
        const encodePlan = Schema.encodeEffect(Schema.fromJsonString(service.plan))
        return yield* transactor.transact(
          Effect.gen(function* () {
            const tenant = yield* tenants.ensure(candidate)
            const plan = yield* service.prepare({ operationId, tenant, createdAt, attended: true }, input)
            const operation: Operation = {
              operationId,
              tenantId: tenant.tenantId,
              serviceId: service.serviceId,
              endpoint: endpoint(request),
              idempotencyKey,
              fingerprint: RequestBinding.fingerprint(request.binding),
              requestId: request.requestId,
              proof,
              terms,
              input: yield* Effect.orDie(encodeInput(input)),
              plan: yield* Effect.orDie(encodePlan(plan)),
              state: "claimed",
              nonceReadAtBlock: null,
              transaction: null,
              refundNonce: null,
              refundTransaction: null,
              failure: null,
              answer: null,
              fence: 1,
              leasedUntil: null,
              dueAt: null,
              createdAt,
              updatedAt: createdAt
            }
            // A failure undoes what `prepare` reserved.
            return (yield* operations.claim(operation, WORK_LEASE)) ? operation : yield* new ClaimLost()
          })
        )
      })

      /** Everything that must hold before money moves, and then the claim. */
      const prepare = Effect.fnUntraced(function* <Input, Plan, Receipt>(
        service: PaidService<Input, Plan, Receipt>,
        request: PaidRequest,
        input: Input
      ) {
        yield* checkKey(request)
        yield* service.check(request.tenant, input)
        const { idempotencyKey, paymentSignature } = request
        if (paymentSignature === null || idempotencyKey === null) return yield* challenge(request, null)
        const accepted = yield* acceptProof(request, paymentSignature, priceOf(request))
        yield* verify(request, accepted)
        return yield* claim(service, request, input, accepted, idempotencyKey)
      })

      const execute = Effect.fnUntraced(function* <Input, Plan, Receipt>(
        service: PaidService<Input, Plan, Receipt>,
        request: PaidRequest,
        input: Input
      ): Effect.fn.Return<Answer, PaymentError | CheckError> {
        const prepared = yield* Effect.result(prepare(service, request, input))
        if (Result.isSuccess(prepared)) return yield* detached(request, worker.run(prepared.success))
        // A copy of this request may have come first: what it took, spent or claimed is why this one can't.
        const first = yield* replay(request)
        if (Option.isSome(first)) return first.value
        const failure = prepared.failure
        return yield* failure._tag === "ClaimLost" ? Effect.die(failure) : Effect.fail(failure)
      })

      return PaidOperations.of({ replay, challenge, execute })
    })
  )
}

const RETRY_AFTER_SECONDS = 5

const usedBefore = new IdempotencyConflict({
  message: "This authorization has been used before; it buys nothing here. Do not sign another for it.",
  paymentState: "none"
})

interface AcceptedProof {
  readonly proof: PaymentProof
  readonly terms: PaymentTerms
}

/** One of the operation's keys was taken between the look and the claim. */
class ClaimLost extends Schema.TaggedError<ClaimLost>()("ClaimLost", {}) {}

const REFUSALS: Readonly<Record<RequestBinding.BindingRefusal, string>> = {
  "different terms": "The payment accepts other terms than this service offers; pay the terms of this challenge.",
  "different request": "The payment was made for another request; pay the challenge of this one.",
  "challenge expired": "The challenge that was paid has expired; pay this one."
}
