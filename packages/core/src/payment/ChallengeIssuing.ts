import { Effect } from "effect"
import type { Keyring } from "../kernel/Keyring.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import type { OfferReceipts } from "./OfferReceipts.ts"
import { type PaidRequest, priceOf } from "./PaidRequest.ts"
import type { ChallengeResource, Extensions, PaymentRail } from "./PaymentRail.ts"
import type { ChallengeBinding, PaymentTerms } from "./PaymentTerms.ts"
import * as RequestBinding from "./RequestBinding.ts"

/** The challenge of a service, without the bindings to a request. */
interface Prepared {
  readonly extensions: Extensions
  readonly accepts: ReadonlyArray<PaymentTerms>
  /** The minute whose offers it has. */
  readonly minute: number
  readonly encode: (bindings: ReadonlyArray<ChallengeBinding>) => string
}

/**
 * Returns the function that issues challenges: the value of PAYMENT-REQUIRED for a request, with the reason why its payment
 * was refused. Challenges without a reason are prepared once for a service, its terms and a minute, in which the offers are
 * the same, so that only the bindings are computed for each request.
 */
export const challengeIssuer = (
  rail: PaymentRail["Service"],
  keyring: Keyring["Service"],
  receipts: OfferReceipts["Service"]
): ((request: PaidRequest, reason: string | null) => Effect.Effect<string>) => {
  const known = new WeakMap<ChallengeResource, Prepared>()

  const encoderOf = (
    { extensions, resource }: PaidRequest,
    accepts: ReadonlyArray<PaymentTerms>,
    issuedAt: Timestamp.Timestamp,
    reason: string | null
  ) =>
    rail.challengeEncoder({
      error: reason ?? undefined,
      resource,
      accepts,
      extensions: { ...extensions, ...receipts.offers({ resourceUrl: resource.url, accepts, issuedAt }) }
    })

  const prepare = (request: PaidRequest, accepts: ReadonlyArray<PaymentTerms>, issuedAt: Timestamp.Timestamp) => {
    const minute = Math.floor(issuedAt / Timestamp.MINUTE)
    const { extensions, resource } = request
    const before = known.get(resource)
    if (before?.minute === minute && before.accepts === accepts && before.extensions === extensions)
      return before.encode
    const encode = encoderOf(request, accepts, issuedAt, null)
    known.set(resource, { extensions, accepts, minute, encode })
    return encode
  }

  return (request, reason) =>
    Effect.flatMap(Timestamp.now, (issuedAt) => {
      const accepts = rail.terms(priceOf(request))
      const encode =
        reason === null ? prepare(request, accepts, issuedAt) : encoderOf(request, accepts, issuedAt, reason)
      return Effect.map(RequestBinding.bind(keyring, request.binding, accepts, issuedAt), encode)
    })
}
