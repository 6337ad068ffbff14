import { Effect } from "effect"
import type { Keyring } from "../kernel/Keyring.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import type { OfferReceipts } from "./OfferReceipts.ts"
import { type PaidRequest, priceOf } from "./PaidRequest.ts"
import type { ChallengeResource, Extensions, PaymentRail } from "./PaymentRail.ts"
import type { ChallengeBinding, PaymentTerms } from "./PaymentTerms.ts"
import * as RequestBinding from "./RequestBinding.ts"

/**
 * Length limit of PAYMENT-REQUIRED in characters. Apache and Varnish pass headers of at most 8,173 and 8,174 characters by
 * default, with their names.
 */
export const CHALLENGE_LENGTH_MAX = 8_144

/** The challenge of a service, without the bindings to a request. */
interface Prepared {
  readonly extensions: Extensions
  /** All terms of the price, and those that the challenge has room for. */
  readonly all: ReadonlyArray<PaymentTerms>
  readonly accepts: ReadonlyArray<PaymentTerms>
  /** The minute whose offers it has. */
  readonly minute: number
  readonly encode: Encode
}

type Encode = (bindings: ReadonlyArray<ChallengeBinding>) => string

const isSame = (one: ReadonlyArray<PaymentTerms>, other: ReadonlyArray<PaymentTerms>): boolean =>
  one === other || (one.length === other.length && one.every((terms, place) => terms === other[place]))

/** Returns the terms on the networks that the client names, in its order; all of them if it names none of theirs. */
const namedBy = ({ networks }: PaidRequest, terms: ReadonlyArray<PaymentTerms>): ReadonlyArray<PaymentTerms> => {
  const named = [...new Set(networks)].flatMap((network) => terms.filter((one) => one.network === network))
  return named.length === 0 ? terms : named
}

/**
 * Returns the function that issues challenges: the value of PAYMENT-REQUIRED for a request, with the reason why its payment
 * was refused. It offers the first of the terms that fit into `CHALLENGE_LENGTH_MAX`, and one of them at least; a client that
 * can pay by others names their networks.
 *
 * Challenges without a reason, for clients that name no network, are prepared once for a service, its terms and a minute, in
 * which the offers are the same, so that only the bindings are computed for each request.
 */
export const challengeIssuer = (
  rail: Pick<PaymentRail["Service"], "offers" | "terms" | "challengeEncoder">,
  keyring: Keyring["Service"],
  receipts: Pick<OfferReceipts["Service"], "offers">
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

  /** Encodes as many of the terms as fit. `prepared` is called with them. */
  const encodeFitting = (
    request: PaidRequest,
    accepts: ReadonlyArray<PaymentTerms>,
    issuedAt: Timestamp.Timestamp,
    reason: string | null,
    prepared: (accepts: ReadonlyArray<PaymentTerms>, encode: Encode) => void
  ): Effect.Effect<string> => {
    const encode = encoderOf(request, accepts, issuedAt, reason)
    return Effect.flatMap(RequestBinding.bind(keyring, request.binding, accepts, issuedAt), (bindings) => {
      const header = encode(bindings)
      if (header.length > CHALLENGE_LENGTH_MAX && accepts.length > 1)
        return encodeFitting(request, accepts.slice(0, -1), issuedAt, reason, prepared)
      prepared(accepts, encode)
      return Effect.succeed(header)
    })
  }

  return (request, reason) =>
    Effect.flatMap(Timestamp.now, (issuedAt) => {
      const offers = rail.offers(priceOf(request))
      // A refused payment is answered with a challenge also where nothing is offered.
      const all = offers.length === 0 ? rail.terms(priceOf(request)) : offers
      const { extensions, networks, resource } = request
      if (reason !== null || networks.length > 0)
        return encodeFitting(request, namedBy(request, all), issuedAt, reason, () => undefined)
      const minute = Math.floor(issuedAt / Timestamp.MINUTE)
      const before = known.get(resource)
      if (before?.minute === minute && isSame(before.all, all) && before.extensions === extensions)
        return Effect.map(RequestBinding.bind(keyring, request.binding, before.accepts, issuedAt), before.encode)
      return encodeFitting(request, all, issuedAt, null, (accepts, encode) =>
        known.set(resource, { extensions, all, accepts, minute, encode })
      )
    })
}
