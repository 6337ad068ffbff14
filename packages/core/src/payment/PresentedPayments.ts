import { Effect, Option, Schema } from "effect"
import { Keyring } from "../kernel/Keyring.ts"
import type { ProviderError } from "../kernel/ProviderError.ts"
import { checkPayer, isPaidByTenant, type PaidRequest, priceOf } from "./PaidRequest.ts"
import { type PaymentRequired, undetermined } from "./PaymentError.ts"
import type { PaymentRail, ProofInvalid } from "./PaymentRail.ts"
import type { PaymentProof, PaymentTerms } from "./PaymentTerms.ts"
import * as RequestBinding from "./RequestBinding.ts"

/** A request with the payment that came with it, before any check. */
export interface PresentedPayment {
  readonly request: PaidRequest
  readonly proof: PaymentProof
  /** The Idempotency-Key of the request, or the identifier in the payment. */
  readonly idempotencyKey: string
  /** Succeeds if the payer signed the payment. Computed at most once, on first use. */
  readonly authenticated: Effect.Effect<void, ProofInvalid | ProviderError>
}

/** The chain shows the nonce of the authorization as used, and no operation holds it. */
export class AuthorizationUsed extends Schema.TaggedError<AuthorizationUsed>()("AuthorizationUsed", {}) {}

/**
 * Returns the functions that check payments before they are claimed. `challenge` fails with the challenge for a request
 * whose payment is refused.
 */
export const paymentChecks = (
  rail: PaymentRail["Service"],
  keyring: Keyring["Service"],
  challenge: (
    request: PaidRequest,
    reason: string,
    more?: { readonly remedy?: string }
  ) => Effect.Effect<never, PaymentRequired>
) => {
  /** Returns the terms that the payment accepts, if the right wallet paid for this request. */
  const accept = Effect.fnUntraced(
    function* ({ authenticated, proof, request }: PresentedPayment) {
      const offered = rail.terms(priceOf(request))
      const terms = yield* Effect.catch(RequestBinding.verifyFresh(request.binding, offered, proof.accepted), (why) =>
        challenge(request, reasonOf(why, offered, proof))
      )
      if (rail.isBoundElsewhere(proof, terms, request.resource.url)) {
        return yield* challenge(request, boundElsewhere(request.resource.url))
      }
      yield* Effect.catchTags(authenticated, {
        ProofInvalid: ({ message }) => challenge(request, message),
        ProviderError: ({ message }) => undetermined(message)
      })
      // No operation was found, and the nonce is read before the request is answered.
      yield* checkPayer(request, proof, "none")
      return terms
    },
    Effect.provideService(Keyring, keyring)
  )

  /** Checks that the payment can settle, by reads that reveal no signature. Fails with `AuthorizationUsed` if used. */
  const verify = Effect.fnUntraced(
    function* ({ proof, request }: PresentedPayment, terms: PaymentTerms) {
      const [refusal, { used }] = yield* Effect.all(
        [
          Effect.as(rail.verify(proof, terms), undefined).pipe(
            Effect.catchTags({
              ProofInvalid: (error) => Effect.succeed(error),
              AllowanceRequired: (error) => Effect.succeed(error)
            })
          ),
          rail.readNonce(proof)
        ],
        { concurrency: 2 }
      )
      if (used) return yield* new AuthorizationUsed()
      if (refusal === undefined) return
      if (refusal._tag === "AllowanceRequired") return yield* refusal
      return yield* challenge(request, refusal.message, remedyOf(refusal))
    },
    Effect.catchTag("ProviderError", ({ message }) => undetermined(message))
  )

  /** Returns the terms that a payment accepts if it answers our challenge for its request, even an expired one. */
  const acceptedTerms = ({ proof, request }: PresentedPayment) =>
    RequestBinding.verify(request.binding, rail.terms(priceOf(request)), proof.accepted).pipe(
      Effect.provideService(Keyring, keyring),
      Effect.option,
      Effect.map(
        Option.filter(
          (terms) => !rail.isBoundElsewhere(proof, terms, request.resource.url) && isPaidByTenant(request, proof)
        )
      )
    )

  return {
    acceptedTerms,
    /** Returns the terms of a payment that can be claimed: made for this request, and able to settle. */
    check: (payment: PresentedPayment) => Effect.tap(accept(payment), (terms) => verify(payment, terms))
  }
}

const remedyOf = ({ remedy }: ProofInvalid) => (remedy === undefined ? {} : { remedy })

const boundElsewhere = (url: string): string =>
  "The nonce of the authorization is bound to the challenge of another request, or to another server than " +
  `${new URL(url).origin}. The authorization was not submitted.`

const reasonOf = (
  why: RequestBinding.BindingRefusal,
  offered: ReadonlyArray<PaymentTerms>,
  { accepted }: PaymentProof
): string => {
  const difference = why === "different terms" ? findDifference(offered, accepted) : undefined
  return difference === undefined ? REFUSALS[why] : `${REFUSALS[why]}: ${difference}`
}

const REFUSALS: Readonly<Record<RequestBinding.BindingRefusal, string>> = {
  "different terms": "The payment accepts terms that this service does not offer",
  "different request": "The payment was made for another request",
  "challenge expired": "The challenge of the payment has expired"
}

type Accepted = PaymentProof["accepted"]

/** The fields of `extra` without which a payment cannot be matched with its challenge. */
const BINDING_FIELDS = ["challengeNonce", "issuedAt", "expiresAt", "keyId", "binding"]

/** Returns the text that a client reads which decodes UTF-8 as Latin-1, for example by `atob` alone. */
const garble = (text: string): string => String.fromCharCode(...new TextEncoder().encode(text))

const fieldIn = (terms: PaymentTerms, accepted: Accepted): string | undefined => {
  const same = (a: string, b: string) => a === b
  if (!same(terms.network, accepted.network) || !same(terms.asset, accepted.asset)) return "asset"
  if (!same(terms.payTo, accepted.payTo)) return "payTo"
  if (!same(terms.amount.toString(), accepted.amount)) return "amount"
  if (terms.maxTimeoutSeconds !== accepted.maxTimeoutSeconds) return "maxTimeoutSeconds"
  if (!same(terms.scheme, accepted.scheme)) return "scheme"
  const changed = Object.entries(terms.extra).find(([key, value]) => accepted.extra[key] !== value)
  return changed === undefined ? undefined : `extra.${changed[0]}`
}

/**
 * Returns a sentence about how the terms that a client echoed differ from those that are offered for its token; undefined if
 * no difference is found. It contains no text of the client.
 */
export const findDifference = (offered: ReadonlyArray<PaymentTerms>, accepted: Accepted): string | undefined => {
  const terms = offered.find(
    ({ asset, network }) => network === accepted.network && asset.toLowerCase() === accepted.asset.toLowerCase()
  )
  if (terms === undefined) return "No option of the challenge has its network and asset."
  const missing = [...Object.keys(terms.extra), ...BINDING_FIELDS].find((key) => !(key in accepted.extra))
  if (missing !== undefined) {
    return `accepted.extra lacks ${missing}. Send the chosen option of the challenge as accepted, with all its fields.`
  }
  const field = fieldIn(terms, accepted)
  if (field === undefined) return undefined
  const { name } = terms.extra
  return field === "extra.name" && typeof name === "string" && accepted.extra["name"] === garble(name)
    ? "accepted.extra.name was decoded as Latin-1, for example by atob. Decode the PAYMENT-REQUIRED header as UTF-8."
    : `accepted.${field} is not that of the challenge. Send the chosen option of the challenge as accepted, unchanged.`
}
