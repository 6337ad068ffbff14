import { Effect } from "effect"
import { Base64Url, Hex } from "effect/encoding"
import * as Bytes from "../kernel/Bytes.ts"
import * as CanonicalJson from "../kernel/CanonicalJson.ts"
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

/** Random bytes of a challenge: with its time, no other challenge has them. A multiple of 3, as base64 has no padding then. */
const NONCE_LENGTH = 9
const NONCE_CHARACTERS = 12
/** Bytes of the MAC over the terms (RFC 2104, section 5), which follows in `challengeNonce`. Headers have 8 KiB in all. */
const TERMS_MAC_LENGTH = 12
/** Length of `challengeNonce` in the version before the MAC over the terms: 16 random bytes in hexadecimal. */
const FORMER_NONCE_CHARACTERS = 32

type BindingFields = Omit<ChallengeBinding, "binding">

/** Terms as they are written in a challenge. */
type WrittenTerms = Pick<
  PaymentProof["accepted"],
  "scheme" | "network" | "asset" | "amount" | "payTo" | "maxTimeoutSeconds" | "extra"
>

const written = (terms: PaymentTerms): WrittenTerms => ({ ...terms, amount: terms.amount.toString() })

/**
 * The MAC over the request and the fields of the challenge. It also covers most of the terms, because servers of the version
 * before `termsMac` compute it so.
 */
const requestMac = (
  keyring: Keyring["Service"],
  request: RequestBinding,
  terms: WrittenTerms,
  fields: BindingFields
): string | undefined => {
  const text = JSON.stringify([
    request.tenantId ?? "bootstrap",
    request.method,
    request.path,
    request.query,
    request.bodyHash,
    terms.network,
    terms.asset,
    terms.amount,
    terms.payTo,
    terms.maxTimeoutSeconds,
    fields.challengeNonce,
    fields.issuedAt,
    fields.expiresAt
  ])
  const mac = keyring.mac(fields.keyId, "challenge", text)
  return mac === undefined ? undefined : Hex.encode(mac)
}

/** Returns all of the terms in canonical JSON, with every field of `extra` but the binding. Undefined if they are not JSON. */
const canonical = (terms: WrittenTerms): string | undefined => {
  const { amount, asset, maxTimeoutSeconds, network, payTo, scheme } = terms
  return CanonicalJson.encode({ scheme, network, asset, amount, payTo, maxTimeoutSeconds, extra: ownExtra(terms) })
}

/** A rail returns the same terms for an amount, again and again. */
const offeredTexts = new WeakMap<PaymentTerms, string>()

/** Returns the canonical JSON of terms that a rail offers. */
const canonicalOffer = (terms: PaymentTerms): string => {
  const known = offeredTexts.get(terms)
  if (known !== undefined) return known
  const text = canonical(written(terms))
  if (text === undefined) throw new Error("the terms of a rail are not JSON")
  offeredTexts.set(terms, text)
  return text
}

/**
 * The MAC over all of the terms, also over fields that this version does not know: `terms` is their canonical JSON. The
 * message is canonical too, since its members are sorted.
 */
const termsMac = (
  keyring: Keyring["Service"],
  nonce: string,
  terms: string,
  { expiresAt, issuedAt, keyId }: Omit<BindingFields, "challengeNonce">
): string | undefined => {
  const text = `{"expiresAt":${JSON.stringify(expiresAt)},"issuedAt":${JSON.stringify(issuedAt)},"nonce":${JSON.stringify(nonce)},"terms":${terms}}`
  const mac = keyring.mac(keyId, "challenge-terms", text)
  return mac === undefined ? undefined : Base64Url.encode(mac.subarray(0, TERMS_MAC_LENGTH))
}

const isMac = (mac: string | undefined, text: string): boolean =>
  mac !== undefined && Bytes.equalConstantTime(Bytes.fromText(mac), Bytes.fromText(text))

/** Binds terms to a request, each under a nonce of its own. */
export const bind = (
  keyring: Keyring["Service"],
  request: RequestBinding,
  offered: ReadonlyArray<PaymentTerms>,
  issuedAt: Timestamp.Timestamp
): Effect.Effect<ReadonlyArray<ChallengeBinding>> =>
  Effect.map(keyring.randomBytes(NONCE_LENGTH * offered.length), (nonces) =>
    offered.map((terms, place) => {
      const nonce = Base64Url.encode(nonces.subarray(NONCE_LENGTH * place, NONCE_LENGTH * (place + 1)))
      const times = { issuedAt, expiresAt: issuedAt + CHALLENGE_LIFETIME, keyId: keyring.activeKeyId }
      const fields: BindingFields = {
        challengeNonce: nonce + termsMac(keyring, nonce, canonicalOffer(terms), times)!,
        ...times
      }
      return { ...fields, binding: requestMac(keyring, request, written(terms), fields)! }
    })
  )

/** Returns the terms with their binding to a request, as its challenge carries them. */
export const boundTerms = (terms: PaymentTerms, binding: ChallengeBinding): PaymentTerms => ({
  ...terms,
  extra: { ...terms.extra, ...binding }
})

/** Why an offered payment does not match this request. */
export type BindingRefusal = "different terms" | "different request" | "challenge expired"

/** Reads a number that `bind` wrote into the terms. Throws for terms made by neither `bind` nor `verify`. */
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

/** Like `verify`, but fails if the challenge has expired. */
export const verifyFresh = Effect.fnUntraced(function* (
  ...asked: Parameters<typeof verify>
): Effect.fn.Return<PaymentTerms, BindingRefusal, Keyring> {
  const terms = yield* verify(...asked)
  if (Number(terms.extra["expiresAt"]) <= (yield* Timestamp.now))
    return yield* Effect.fail("challenge expired" as const)
  return terms
})

/**
 * Returns the terms that the proof accepted, exactly as a server of this deployment signed them: another version or an
 * earlier configuration may have offered others than this server does now. Fails with the reason if they are not our terms
 * for this request. Accepts an expired challenge; see `verifyFresh`.
 */
export const verify = Effect.fnUntraced(function* (
  request: RequestBinding,
  offered: ReadonlyArray<PaymentTerms>,
  accepted: PaymentProof["accepted"]
): Effect.fn.Return<PaymentTerms, Exclude<BindingRefusal, "challenge expired">, Keyring> {
  const keyring = yield* Keyring
  const bound = bindingIn(accepted)
  const terms = bound === undefined ? undefined : termsIn(accepted)
  if (bound === undefined || terms === undefined) return yield* Effect.fail("different terms" as const)
  const isOurs = isLegacy(bound) ? isOfferedExtra(accepted, offered) : isSigned(keyring, accepted, bound)
  if (!isOurs) return yield* Effect.fail("different terms" as const)
  return isMac(requestMac(keyring, request, accepted, bound), bound.binding)
    ? terms
    : yield* Effect.fail("different request" as const)
})

/**
 * Returns the terms that a client echoed if this deployment signed them for any request; undefined otherwise. Also undefined
 * for a challenge of the version before, whose terms can only be verified with the request.
 */
export const signedTerms = (
  keyring: Keyring["Service"],
  accepted: PaymentProof["accepted"]
): PaymentTerms | undefined => {
  const bound = bindingIn(accepted)
  return bound !== undefined && isSigned(keyring, accepted, bound) ? termsIn(accepted) : undefined
}

const isSigned = (keyring: Keyring["Service"], accepted: WrittenTerms, bound: ChallengeBinding): boolean => {
  const { challengeNonce } = bound
  const terms = canonical(accepted)
  if (terms === undefined) return false
  const mac = termsMac(keyring, challengeNonce.slice(0, NONCE_CHARACTERS), terms, bound)
  return isMac(mac, challengeNonce.slice(NONCE_CHARACTERS))
}

/** Returns the binding fields that a client echoed, without verification. */
const bindingIn = ({ extra }: WrittenTerms): ChallengeBinding | undefined => {
  const { binding, challengeNonce, expiresAt, issuedAt, keyId } = extra
  return typeof binding === "string" &&
    typeof challengeNonce === "string" &&
    typeof issuedAt === "number" &&
    typeof expiresAt === "number" &&
    typeof keyId === "number"
    ? { binding, challengeNonce, issuedAt, expiresAt, keyId }
    : undefined
}

const isPlain = (entry: readonly [string, unknown]): entry is [string, string | number] =>
  typeof entry[1] === "string" || typeof entry[1] === "number"

const DECIMAL = /^(?:0|[1-9]\d{0,77})$/

/**
 * Returns the terms that a client echoed, without verification; undefined for terms that no server can have signed. Only
 * texts and numbers remain of `extra`: a field of another kind is of a newer version, and has no meaning here.
 */
const termsIn = (accepted: PaymentProof["accepted"]): PaymentTerms | undefined => {
  const { amount, asset, maxTimeoutSeconds, network, payTo, scheme } = accepted
  if (scheme !== "exact" || !DECIMAL.test(amount)) return undefined
  const extra = Object.fromEntries(Object.entries(accepted.extra).filter(isPlain))
  return { scheme, network, asset, amount: BigInt(amount), payTo, maxTimeoutSeconds, extra }
}

const BINDING_FIELDS: ReadonlySet<string> = new Set(["challengeNonce", "issuedAt", "expiresAt", "keyId", "binding"])

/** Returns `extra` as a client receives it, without the binding. JSON has no undefined, which a host's own rail may write. */
const ownExtra = ({ extra }: WrittenTerms): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(extra).filter(([key, value]) => !BINDING_FIELDS.has(key) && value !== undefined))

/** Returns whether a challenge is of the version before `termsMac`. Such challenges are honored until they expire. */
const isLegacy = ({ challengeNonce }: ChallengeBinding): boolean => challengeNonce.length === FORMER_NONCE_CHARACTERS

/** Fields of `extra` that challenges of the versions before may lack. */
const ADDED_FIELDS: ReadonlySet<string> = new Set(["decimals", "nonceTag", "primaryType", "signatures"])

/** Returns whether `extra`, which `requestMac` does not cover, is that of an offered option. */
const isOfferedExtra = (accepted: WrittenTerms, offered: ReadonlyArray<PaymentTerms>): boolean => {
  const echoed = ownExtra(accepted)
  const terms = offered.find(({ asset, network }) => network === accepted.network && asset === accepted.asset)
  if (terms === undefined) return false
  const expected = Object.keys(terms.extra).filter((key) => key in echoed || !ADDED_FIELDS.has(key))
  return (
    Object.keys(echoed).length === expected.length &&
    Object.keys(echoed).every((key) => echoed[key] === terms.extra[key])
  )
}
