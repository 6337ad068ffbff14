import { createHash } from "node:crypto"
import {
  type ChallengeBinding,
  type ChallengeDocument,
  issuesOf,
  type JsonBudget,
  type PaymentProof,
  type PaymentTerms,
  ProofMalformed,
  type SettledPayment
} from "@agentos/core"
import type { SettleResponse } from "@x402/core/types"
import { Effect, Option, Result, Schema, type SchemaIssue } from "effect"
import { TransferMethodName } from "../network/PaymentNetwork.ts"
import * as Base64Template from "./Base64Template.ts"
import { allowanceFields, allowancesIn, SPONSORING_EXTENSIONS, sponsoringExtensions } from "./GasSponsoring.ts"
import { parseHeaderJson } from "./HeaderJson.ts"
import { Address, Decimal, decodePayload, type FixedFields } from "./PaymentPayload.ts"

/**
 * The headers of x402 version 2 over HTTP: base64 of JSON
 * (x402-specification-v2.md, section 5, and transports-v2/http.md).
 */

/** Length limit of PAYMENT-SIGNATURE in characters: common servers accept no more for all headers together. */
export const HEADER_LENGTH_MAX = 16_384

/**
 * Room for the extensions of a challenge, which clients echo (up to 170 keys, 14 levels deep), and for those of the
 * client. Anyone can send a header.
 */
const JSON_BUDGET: JsonBudget = {
  depth: 16,
  elements: 256,
  keys: 256,
  keyBytes: HEADER_LENGTH_MAX,
  stringBytes: HEADER_LENGTH_MAX,
  plainBytes: HEADER_LENGTH_MAX
}

const VERSION = 2

const Envelope = Schema.Struct({
  x402Version: Schema.Literal(VERSION),
  accepted: Schema.Struct({
    scheme: Schema.String,
    network: Schema.String,
    asset: Address,
    amount: Decimal,
    payTo: Schema.String,
    maxTimeoutSeconds: Schema.Finite,
    extra: Schema.Record(Schema.String, Schema.Unknown)
  }),
  payload: Schema.Unknown,
  extensions: Schema.optionalKey(Schema.Unknown)
})
const decodeEnvelope = Schema.decodeUnknownResult(Envelope)

const IDENTIFIER = "payment-identifier"
const IDENTIFIER_PATTERN = "^[a-zA-Z0-9_-]{16,128}$"

/** x402's extension `payment-identifier` (specs/extensions/payment_identifier.md), as each challenge declares it. */
const IDENTIFIER_DECLARATION = {
  info: { required: false },
  schema: {
    type: "object",
    properties: { required: { type: "boolean" }, id: { type: "string", pattern: IDENTIFIER_PATTERN } },
    required: ["required"]
  }
}

const decodeIdentified = Schema.decodeUnknownOption(
  Schema.Struct({ [IDENTIFIER]: Schema.Struct({ info: Schema.Struct({ id: Schema.Unknown }) }) })
)
const isIdentifier = Schema.is(Schema.String.check(Schema.isPattern(new RegExp(IDENTIFIER_PATTERN))))

/** Returns the identifier in the extensions of a payment, as in `PaymentProof.identifier`. */
const identifierIn = (extensions: unknown): Pick<PaymentProof, "identifier"> =>
  Option.match(decodeIdentified(extensions), {
    onNone: () => ({}),
    onSome: ({ [IDENTIFIER]: { info } }) => ({ identifier: isIdentifier(info.id) ? info.id : "" })
  })

const malformed = (what: string) => Effect.fail(new ProofMalformed({ message: `PAYMENT-SIGNATURE ${what}.` }))

/** Reports the first invalid field, and nothing of its value. */
const invalidAt = (path: string, message = "is not valid") =>
  malformed(
    path === "" ? "must be base64 of a JSON object" : `has an invalid field: ${path.slice(0, PATH_SHOWN)} ${message}`
  )
const PATH_SHOWN = 100

const invalidField = (issue: SchemaIssue.Issue, ...within: ReadonlyArray<string>) =>
  invalidAt([...within, issuesOf(issue)[0]?.path ?? ""].filter(Boolean).join("."))

/** Reports the first field without its required value; undefined if all have it. */
const misfitIn = (fixed: FixedFields, within: string) => {
  const misfit = Object.entries(fixed).find(([, { expected, value }]) => value.toLowerCase() !== expected.toLowerCase())
  if (misfit === undefined) return undefined
  const [path, { expected, what }] = misfit
  return invalidAt(`${within}.${path}`, `must be ${what}, ${expected}`)
}

/** Whether a payment is of another version, and of none that this server could read. */
const isOtherVersion = (json: unknown): boolean =>
  typeof json === "object" && json !== null && (!("x402Version" in json) || json.x402Version !== VERSION)

const isMethod = Schema.is(TransferMethodName)

/** Returns the transfer method of payment requirements: `eip3009` if they name none (scheme_exact_evm.md, "Summary"). */
export const transferMethodOf = ({ extra }: Pick<PaymentProof["accepted"], "extra">): unknown =>
  extra["assetTransferMethod"] ?? "eip3009"

/** Returns why a payload is not one of the accepted transfer method, if it is recognized as one of the other. */
const otherMethodIn = (payload: unknown, method: TransferMethodName): string | undefined => {
  if (typeof payload !== "object" || payload === null) return undefined
  if (method === "eip3009") {
    return "permit2Authorization" in payload
      ? "contains a Permit2 payment. Authorize by EIP-3009 (transferWithAuthorization) instead"
      : undefined
  }
  return "authorization" in payload
    ? "contains an EIP-3009 payment. Authorize by Permit2 (PermitWitnessTransferFrom) instead"
    : undefined
}

/**
 * Decodes PAYMENT-SIGNATURE into a proof; checks only its shape and limits. The text in the proof's `payload`
 * is serialized again from the checked value, so it contains nothing else.
 */
export const decodeProof = (header: string): Effect.Effect<PaymentProof, ProofMalformed> => {
  if (header.length > HEADER_LENGTH_MAX) return malformed(`must have at most ${HEADER_LENGTH_MAX} characters`)
  const bytes = Buffer.from(header, "base64")
  if (header === "" || bytes.toString("base64") !== header) return malformed("must be base64 (RFC 4648, section 4)")
  const parsed = parseHeaderJson(bytes, JSON_BUDGET)
  if (parsed === undefined) return malformed("must be base64 of JSON in UTF-8")
  if ("message" in parsed) return invalidAt(parsed.path, parsed.message)
  const { json, text } = parsed
  // A database cannot store U+0000 or an unpaired surrogate. (The text escapes both.)
  if (/\\u(?:0000|d[89a-f])/.test(text)) return malformed("contains invalid Unicode")
  if (isOtherVersion(json)) return malformed(`must be of x402 version ${VERSION}`)
  const envelope = decodeEnvelope(json)
  if (Result.isFailure(envelope)) return invalidField(envelope.failure.issue)
  const { accepted, extensions } = envelope.success
  const method = transferMethodOf(accepted)
  if (!isMethod(method)) return malformed("accepts a transfer method that this server does not implement")
  const other = otherMethodIn(envelope.success.payload, method)
  if (other !== undefined) return malformed(other)
  const payload = decodePayload(method, envelope.success.payload, accepted.asset)
  if (Result.isFailure(payload)) return invalidField(payload.failure, "payload")
  const { fixed, ...authorized } = payload.success
  const misfit = misfitIn(fixed, "payload")
  if (misfit !== undefined) return misfit
  const [brought, another] = method === "permit2" ? allowancesIn(extensions) : []
  if (another !== undefined) return malformed("brings two allowances for Permit2")
  if (brought !== undefined) {
    const fields = allowanceFields(brought, extensions, { asset: accepted.asset, ...authorized })
    if (Result.isFailure(fields)) return invalidField(fields.failure, "extensions")
    const mismatch = misfitIn(fields.success, `extensions.${SPONSORING_EXTENSIONS[brought]}.info`)
    if (mismatch !== undefined) return mismatch
  }
  return Effect.succeed({
    digest: createHash("sha256").update(header).digest("hex"),
    network: accepted.network,
    asset: accepted.asset,
    ...authorized,
    accepted,
    ...identifierIn(extensions),
    payload: text
  })
}

const decodeSignature = Schema.decodeUnknownSync(
  Schema.fromJsonString(Schema.Struct({ payload: Schema.Struct({ signature: Schema.String }) }))
)

/** Returns the signature in a proof. Throws if the proof was not made by `decodeProof`. */
export const signatureOf = (proof: PaymentProof): string => decodeSignature(proof.payload).payload.signature

/** Converts the terms to payment requirements on the wire (section 5.1.2). */
export const requirementsOf = (terms: PaymentTerms) => ({
  scheme: terms.scheme,
  network: caip2(terms.network),
  asset: terms.asset,
  amount: terms.amount.toString(),
  payTo: terms.payTo,
  maxTimeoutSeconds: terms.maxTimeoutSeconds,
  extra: { ...terms.extra }
})

/** Encodes as `encodePaymentResponseHeader` does, which takes ten times as long for a value with extensions. */
const encodeHeader = (value: SettleResponse): string => Buffer.from(JSON.stringify(value)).toString("base64")

/** Length limit of the reason in a challenge, which the body of the response gives in full. */
const ERROR_LENGTH_MAX = 100

/**
 * Returns the encoder of PAYMENT-REQUIRED (section 5.1) for challenges that differ in their bindings only. Its base64 is that
 * of `encodePaymentRequiredHeader`; all but the bindings is encoded once.
 */
export const challengeEncoder = ({
  accepts,
  error,
  extensions,
  resource
}: ChallengeDocument): ((bindings: ReadonlyArray<ChallengeBinding>) => string) => {
  const common = JSON.stringify({
    x402Version: VERSION,
    ...(error === undefined ? {} : { error: error.slice(0, ERROR_LENGTH_MAX) }),
    resource: { ...resource, tags: [...(resource.tags ?? [])] }
  })
  // The bindings end `extra`, which ends the requirements of the terms.
  const openings = accepts.map((terms) => {
    const requirements = JSON.stringify(requirementsOf(terms))
    return requirements.slice(0, -"}}".length) + (Object.keys(terms.extra).length === 0 ? "" : ",")
  })
  const closing = `],"extensions":${JSON.stringify({ ...extensions, ...sponsoringExtensions(accepts), [IDENTIFIER]: IDENTIFIER_DECLARATION })}}`
  const constants = [...openings, closing].map((text, place) =>
    place === 0 ? `${common.slice(0, -1)},"accepts":[${text}` : place === accepts.length ? `}}${text}` : `}},${text}`
  )
  const encode = Base64Template.make(constants)
  return (bindings) => encode(bindings.map((binding) => JSON.stringify(binding).slice(1, -1)))
}

/**
 * Encodes the value of PAYMENT-RESPONSE (section 5.3). A refunded payment is reported as failed, since it bought nothing;
 * its transaction is still the one that paid. Equal payments give equal values.
 */
export const encodeReceipt = (payment: SettledPayment): string =>
  encodeHeader({
    success: !payment.isRefunded,
    ...(payment.isRefunded ? { errorReason: "refunded" } : {}),
    transaction: payment.transaction,
    network: caip2(payment.network),
    payer: payment.payer,
    amount: payment.amount.toString(),
    ...(Object.keys(payment.extensions).length === 0 ? {} : { extensions: { ...payment.extensions } })
  })

/** A CAIP-2 id in the type that the library declares. */
const caip2 = (network: string): `${string}:${string}` => {
  const [namespace = "", reference = ""] = network.split(":")
  return `${namespace}:${reference}`
}
