import { Effect, Option, Result, Schema } from "effect"
import { Keyring } from "../kernel/Keyring.ts"
import type { ProviderError } from "../kernel/ProviderError.ts"
import { checkPayer, hasKey, isPaidByTenant, keyOf, type PaidRequest, priceOf } from "./PaidRequest.ts"
import { type PaymentRequired, undetermined } from "./PaymentError.ts"
import type { PaymentRail, ProofInvalid, ProofMalformed } from "./PaymentRail.ts"
import type { PaymentProof, PaymentTerms } from "./PaymentTerms.ts"
import * as RequestBinding from "./RequestBinding.ts"

/** The payment of a request, as it came. */
export interface PresentedPayment {
  readonly proof: PaymentProof
  /** Succeeds if the payer signed the payment. Computed at most once, on first use. */
  readonly authenticated: Effect.Effect<void, ProofInvalid | ProviderError>
}

/** A proof with the terms of our challenge that it accepts. */
export interface AcceptedProof {
  readonly proof: PaymentProof
  readonly terms: PaymentTerms
}

/** The chain shows the nonce of the authorization as used, and no operation holds it. */
export class AuthorizationUsed extends Schema.TaggedError<AuthorizationUsed>()("AuthorizationUsed", {}) {}

/**
 * Returns the functions that read and check the payments of requests before they are claimed. The payment of one
 * `PaidRequest` value is decoded and authenticated once, by the first function that needs it. `challenge` fails with the
 * challenge for a request whose payment is refused.
 */
export const presentedPayments = (
  rail: PaymentRail["Service"],
  keyring: Keyring["Service"],
  challenge: (request: PaidRequest, reason: string) => Effect.Effect<never, PaymentRequired>
) => {
  const presented = new WeakMap<PaidRequest, Result.Result<PresentedPayment, ProofMalformed>>()

  /** Decodes the payment header of a request, once per request. */
  const present = Effect.fnUntraced(function* (request: PaidRequest, header: string) {
    const known = presented.get(request)
    if (known !== undefined) return yield* Effect.fromResult(known)
    const payment = yield* Effect.result(
      Effect.gen(function* (): Effect.fn.Return<PresentedPayment, ProofMalformed> {
        const proof = yield* rail.decodeProof(header)
        return { proof, authenticated: yield* Effect.cached(rail.authenticate(proof)) }
      })
    )
    presented.set(request, payment)
    return yield* Effect.fromResult(payment)
  })

  /** Returns the key of a request. Decodes its payment only if the request has no Idempotency-Key. */
  const effectiveKey = Effect.fnUntraced(function* (request: PaidRequest) {
    const { paymentSignature } = request
    if (paymentSignature === null || hasKey(request)) return yield* keyOf(request, undefined)
    const payment = yield* Effect.option(present(request, paymentSignature))
    return yield* keyOf(request, Option.getOrUndefined(payment)?.proof.identifier)
  })

  /** Returns the proof and its accepted terms if the right wallet paid for this request. */
  const acceptProof = Effect.fnUntraced(
    function* (request: PaidRequest, header: string) {
      const refuse = (error: { readonly message: string }) => challenge(request, error.message)
      const { authenticated, proof } = yield* Effect.catchTag(present(request, header), "ProofMalformed", refuse)
      const terms = yield* Effect.catch(
        RequestBinding.verifyFresh(request.binding, rail.terms(priceOf(request)), proof.accepted),
        (why) => challenge(request, REFUSALS[why])
      )
      if (rail.isBoundElsewhere(proof, terms, request.resource.url)) {
        return yield* challenge(request, boundElsewhere(request.resource.url))
      }
      yield* Effect.catchTags(authenticated, {
        ProofInvalid: refuse,
        ProviderError: ({ message }) => undetermined(message)
      })
      // The caller has found no operation, and reads the nonce before it answers.
      yield* checkPayer(request, proof, "none")
      return { proof, terms }
    },
    Effect.provideService(Keyring, keyring)
  )

  /**
   * Checks that the payment can settle, by reads that reveal no signature. Fails with `AuthorizationUsed` if used.
   */
  const verify = Effect.fnUntraced(
    function* (request: PaidRequest, { proof, terms }: AcceptedProof) {
      const [refusal, { used }] = yield* Effect.all(
        [
          Effect.as(rail.verify(proof, terms), undefined).pipe(
            Effect.catchTag("ProofInvalid", (error) => Effect.succeed(error))
          ),
          rail.readNonce(proof)
        ],
        { concurrency: 2 }
      )
      if (used) return yield* new AuthorizationUsed()
      if (refusal !== undefined) return yield* challenge(request, refusal.message)
    },
    Effect.catchTag("ProviderError", ({ message }) => undetermined(message))
  )

  /**
   * Returns the request's proof if its payer signed the authorization, even if the payment is invalid otherwise.
   */
  const signedProof = Effect.fnUntraced(
    function* (request: PaidRequest) {
      if (request.paymentSignature === null) return Option.none()
      const { authenticated, proof } = yield* present(request, request.paymentSignature)
      return Option.some(yield* Effect.as(authenticated, proof))
    },
    Effect.catchTags({ ProofMalformed: () => Effect.succeedNone, ProofInvalid: () => Effect.succeedNone })
  )

  /** Returns the terms that a proof accepted if it answers our challenge for this request, even an expired one. */
  const acceptedTerms = (request: PaidRequest, proof: PaymentProof) =>
    RequestBinding.verify(request.binding, rail.terms(priceOf(request)), proof.accepted).pipe(
      Effect.provideService(Keyring, keyring),
      Effect.option,
      Effect.map(
        Option.filter(
          (terms) => !rail.isBoundElsewhere(proof, terms, request.resource.url) && isPaidByTenant(request, proof)
        )
      )
    )

  return { present, effectiveKey, acceptProof, verify, signedProof, acceptedTerms }
}

const boundElsewhere = (url: string): string =>
  "The nonce of the authorization is bound to the challenge of another request, or to another server than " +
  `${new URL(url).origin}. The authorization was not submitted.`

const REFUSALS: Readonly<Record<RequestBinding.BindingRefusal, string>> = {
  "different terms": "The payment accepts terms that this service does not offer",
  "different request": "The payment was made for another request",
  "challenge expired": "The challenge of the payment has expired"
}
