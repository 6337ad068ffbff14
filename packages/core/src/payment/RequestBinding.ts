import { Effect } from "effect"
import { Hex } from "effect/encoding"
import * as Bytes from "../kernel/Bytes.ts"
import { Keyring } from "../kernel/Keyring.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import type { ChallengeBinding, PaymentProof, PaymentTerms } from "./PaymentTerms.ts"

/** The request that a payment is bound to. The payment is refused for every other request. */
export interface RequestBinding {
  /** The tenant whose token came with the request, or null on a start-here request without one. */
  readonly tenantId: string | null
  readonly method: string
  readonly path: string
  /** The query of the target as sent: see `queryOf`. */
  readonly query: string
  /** SHA-256 of the body's bytes, in hex. */
  readonly bodyHash: string
}

/** Stands for the empty query of a target that ends with `?`. No target contains a space. */
const EMPTY_QUERY = " "

/**
 * Returns the query of a request target, without its `?`; empty if the target has none. `/a?` is another target than
 * `/a`, and has another query.
 */
export const queryOf = (target: string): string => {
  const at = target.indexOf("?")
  return at === -1 ? "" : target.slice(at + 1) || EMPTY_QUERY
}

/** Returns the request as one text. Two requests are equal if their fingerprints are. */
export const fingerprint = (request: RequestBinding): string =>
  `${request.method} ${request.path}?${request.query} ${request.bodyHash}`

/** How long a challenge can be answered after it was issued. */
export const CHALLENGE_LIFETIME = 15 * Timestamp.MINUTE

const NONCE_LENGTH = 16

type BindingFields = Omit<ChallengeBinding, "binding">

const macText = (request: RequestBinding, terms: PaymentTerms, fields: BindingFields): Uint8Array =>
  Bytes.fromText(
    JSON.stringify([
      request.tenantId ?? "bootstrap",
      request.method,
      request.path,
      request.query,
      request.bodyHash,
      terms.network,
      terms.asset,
      terms.amount.toString(),
      terms.payTo,
      terms.maxTimeoutSeconds,
      fields.challengeNonce,
      fields.issuedAt,
      fields.expiresAt
    ])
  )

/** Binds terms to a request, each under a nonce of its own. */
export const bind = (
  keyring: Keyring["Service"],
  request: RequestBinding,
  offered: ReadonlyArray<PaymentTerms>,
  issuedAt: Timestamp.Timestamp
): Effect.Effect<ReadonlyArray<ChallengeBinding>> =>
  Effect.map(keyring.randomBytes(NONCE_LENGTH * offered.length), (nonces) =>
    offered.map((terms, place) => {
      const fields: BindingFields = {
        challengeNonce: Hex.encode(nonces.subarray(NONCE_LENGTH * place, NONCE_LENGTH * (place + 1))),
        issuedAt,
        expiresAt: issuedAt + CHALLENGE_LIFETIME,
        keyId: keyring.activeKeyId
      }
      const mac = keyring.mac(fields.keyId, "challenge", macText(request, terms, fields))!
      return { ...fields, binding: Hex.encode(mac) }
    })
  )

/** Returns the terms with their binding to a request, as its challenge carries them. */
export const boundTerms = (terms: PaymentTerms, binding: ChallengeBinding): PaymentTerms => ({
  ...terms,
  extra: { ...terms.extra, ...binding }
})

/** Why an offered payment does not match this request. */
export type BindingRefusal = "different terms" | "different request" | "challenge expired"

/** Reads a number that `bind` wrote into the terms. Throws for terms made by neither `bind` nor `rebuild`. */
const boundNumber = ({ extra }: PaymentTerms, field: "issuedAt" | "keyId"): number => {
  const value = extra[field]
  if (typeof value !== "number") throw new Error(`the terms have no ${field}`)
  return value
}

/** Returns when the challenge with these terms was issued, by this server's clock. */
export const issuedAt = (terms: PaymentTerms): Timestamp.Timestamp =>
  Timestamp.Timestamp.make(boundNumber(terms, "issuedAt"))

/** Returns the id of the key that authenticates the challenge with these terms. */
export const keyIdOf = (terms: PaymentTerms): number => boundNumber(terms, "keyId")

/** Like `rebuild`, but fails if the challenge has expired. */
export const rebuildFresh = Effect.fnUntraced(function* (
  ...asked: Parameters<typeof rebuild>
): Effect.fn.Return<PaymentTerms, BindingRefusal, Keyring> {
  const terms = yield* rebuild(...asked)
  if (Number(terms.extra["expiresAt"]) <= (yield* Timestamp.now))
    return yield* Effect.fail("challenge expired" as const)
  return terms
})

/**
 * Returns the terms that the proof accepted, rebuilt from this server's offer and the binding that the client echoed.
 * Fails with the reason if they are not our terms for this request. Everything but our own binding fields comes from
 * `offered`, never from the client. Accepts an expired challenge; see `rebuildFresh`.
 */
export const rebuild = Effect.fnUntraced(function* (
  request: RequestBinding,
  offered: ReadonlyArray<PaymentTerms>,
  accepted: PaymentProof["accepted"]
): Effect.fn.Return<PaymentTerms, Exclude<BindingRefusal, "challenge expired">, Keyring> {
  const terms = offered.find(
    (candidate) => candidate.network === accepted.network && candidate.asset === accepted.asset
  )
  if (terms === undefined || !sameTerms(terms, accepted)) return yield* Effect.fail("different terms" as const)
  const { binding, challengeNonce, expiresAt, issuedAt, keyId } = accepted.extra
  if (
    typeof binding !== "string" ||
    typeof challengeNonce !== "string" ||
    typeof issuedAt !== "number" ||
    typeof expiresAt !== "number" ||
    typeof keyId !== "number"
  ) {
    return yield* Effect.fail("different terms" as const)
  }
  const fields: BindingFields = { challengeNonce, issuedAt, expiresAt, keyId }
  const keyring = yield* Keyring
  const mac = keyring.mac(keyId, "challenge", macText(request, terms, fields))
  if (mac === undefined || !Bytes.equalConstantTime(Bytes.fromText(Hex.encode(mac)), Bytes.fromText(binding))) {
    return yield* Effect.fail("different request" as const)
  }
  const echoed = Object.entries(terms.extra).filter(([key]) => key in accepted.extra)
  return { ...terms, extra: { ...Object.fromEntries(echoed), ...fields, binding } }
})

const BINDING_FIELDS: ReadonlySet<string> = new Set(["challengeNonce", "issuedAt", "expiresAt", "keyId", "binding"])

/** Fields of `extra` that challenges of the previous version lack. Those challenges are honored until they expire. */
const ADDED_FIELDS: ReadonlySet<string> = new Set(["nonceTag", "signatures"])

/** Returns whether the echoed terms equal the offered ones, apart from the binding fields. */
const sameTerms = (terms: PaymentTerms, accepted: PaymentProof["accepted"]): boolean => {
  const extra = Object.keys(accepted.extra).filter((key) => !BINDING_FIELDS.has(key))
  const expected = Object.keys(terms.extra).filter((key) => key in accepted.extra || !ADDED_FIELDS.has(key))
  return (
    accepted.scheme === terms.scheme &&
    accepted.amount === terms.amount.toString() &&
    accepted.payTo === terms.payTo &&
    accepted.maxTimeoutSeconds === terms.maxTimeoutSeconds &&
    extra.length === expected.length &&
    extra.every((key) => accepted.extra[key] === terms.extra[key])
  )
}
