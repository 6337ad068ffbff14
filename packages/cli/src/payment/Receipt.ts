import { Failure } from "@agentos/node/command-line"
import { createPublicKey, verify } from "node:crypto"
import type { Context } from "../context/Context.ts"
import { isRecord, parseJson } from "../file/Json.ts"
import { Server } from "../server/Server.ts"
import type { StoredEntry } from "./JournalFile.ts"

/** The fields that a service signs in a receipt (x402 extension `offer-receipt`, section 5.2). */
export interface ReceiptFields {
  readonly version: number
  readonly network: string
  readonly resourceUrl: string
  readonly payer: string
  /** Unix seconds. */
  readonly issuedAt: number
  readonly transaction: string
  /** The transaction of the payment, if the receipt is that of its refund. */
  readonly refundOf?: string
}

/** A receipt whose signature and fields are right for its payment. */
export interface VerifiedReceipt {
  readonly receipt: ReceiptFields
  /** The id of the key that signed. */
  readonly keyId: string
  /** The receipt as signed. Anyone can verify it. */
  readonly jws: string
}

/** The only version of the fields. */
const VERSION = 1

const partOf = (text: string | undefined): unknown => parseJson(Buffer.from(text ?? "", "base64url").toString("utf8"))

const isReceipt = (value: unknown): value is ReceiptFields =>
  isRecord(value) &&
  value["version"] === VERSION &&
  ["network", "resourceUrl", "payer", "transaction"].every((name) => typeof value[name] === "string") &&
  Number.isSafeInteger(value["issuedAt"]) &&
  ["string", "undefined"].includes(typeof value["refundOf"])

const wrong = (entry: StoredEntry, why: string): Failure =>
  new Failure({
    code: "FAILED",
    message: `The receipt of payment ${entry.id} is not valid: ${why}. Do not rely on it.`,
    next: [`agentctl payments show ${entry.id}`]
  })

/** Returns the receipt in the journal. Throws NOT_FOUND if the payment has none. */
const storedReceipt = (entry: StoredEntry): { readonly jws: string; readonly transaction: string | null } => {
  const { state } = entry
  if (state.tag === "answered" && typeof state.receipt === "string")
    return { jws: state.receipt, transaction: state.transaction }
  throw new Failure({
    code: "NOT_FOUND",
    message: `Payment ${entry.id} has no receipt. A service signs one when it delivers or refunds.`,
    next: [`agentctl payments resume ${entry.id}`]
  })
}

/** Returns the field of a receipt that is not that of its payment; undefined if all are. */
const mismatchOf = (receipt: ReceiptFields, entry: StoredEntry, transaction: string | null): string | undefined => {
  const isRefund = receipt.refundOf !== undefined
  if (receipt.network !== entry.network) return "network"
  if (receipt.payer.toLowerCase() !== entry.payer.toLowerCase()) return "payer"
  if ((receipt.refundOf ?? receipt.transaction) !== transaction) return isRefund ? "refundOf" : "transaction"
  return isRefund || receipt.resourceUrl.endsWith(entry.path) ? undefined : "resourceUrl"
}

/** Reads the public key with an id from the DID document of the server that was paid. */
const fetchKey = async (context: Context, entry: StoredEntry, keyId: string) => {
  const path = new URL(entry.baseUrl).pathname === "/" ? "/.well-known/did.json" : "/did.json"
  const answer = await new Server(context, entry.baseUrl, undefined).send({ method: "GET", path, repeatable: true })
  const document = answer.status === 200 ? answer.json : undefined
  const methods: unknown = isRecord(document) ? document["verificationMethod"] : undefined
  if (!Array.isArray(methods))
    throw new Failure({ code: "UNEXPECTED_ANSWER", message: `${entry.baseUrl}${path} is not a DID document.` })
  const method: unknown = methods.find((candidate: unknown) => isRecord(candidate) && candidate["id"] === keyId)
  const jwk = isRecord(method) ? method["publicKeyJwk"] : undefined
  if (!isRecord(jwk) || jwk["crv"] !== "Ed25519" || typeof jwk["x"] !== "string")
    throw wrong(entry, `${entry.baseUrl} does not publish its key ${keyId}`)
  return createPublicKey({ format: "jwk", key: { kty: "OKP", crv: "Ed25519", x: jwk["x"] } })
}

/**
 * Verifies the receipt in the journal: its signature (JWS with EdDSA, RFC 8037) with the key that the server publishes,
 * and its fields against the payment.
 */
export const verifyReceipt = async (context: Context, entry: StoredEntry): Promise<VerifiedReceipt> => {
  const { jws, transaction } = storedReceipt(entry)
  const [header, payload, signature] = jws.split(".")
  const [fields, receipt] = [partOf(header), partOf(payload)]
  const keyId = isRecord(fields) && fields["alg"] === "EdDSA" ? fields["kid"] : undefined
  if (typeof keyId !== "string" || !isReceipt(receipt)) throw wrong(entry, "it is not a receipt of version 1 as JWS")
  const key = await fetchKey(context, entry, keyId)
  const isSigned = verify(null, Buffer.from(`${header}.${payload}`), key, Buffer.from(signature ?? "", "base64url"))
  if (!isSigned) throw wrong(entry, `it is not signed by ${keyId}`)
  const mismatch = mismatchOf(receipt, entry, transaction)
  if (mismatch !== undefined) throw wrong(entry, `its ${mismatch} is not that of the payment`)
  return { receipt, keyId, jws }
}
