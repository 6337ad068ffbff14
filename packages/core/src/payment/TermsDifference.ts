import type { PaymentProof, PaymentTerms } from "./PaymentTerms.ts"

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
