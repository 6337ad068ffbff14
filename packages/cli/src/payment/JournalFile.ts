import { decimalOf, isOpen, type JournalEntry, type JournalState } from "@agentos/client"
import { Failure } from "@agentos/node/command-line"
import { createHash } from "node:crypto"
import { isRecord, parseJson } from "../file/Json.ts"
import { operationAt, ROUTES } from "../server/Routes.ts"

/*
 * The file of a payment, version 1. It holds an entry of the client, the profile that paid and the service that was bought.
 */

/** A payment of the client in the journal of agentctl. */
export interface StoredEntry extends JournalEntry {
  readonly profile: string
  readonly serviceId: string
}

/** A payment as lists read it: a large body is a file of its own, of which the entry has only the hash. */
export interface ListedEntry extends Omit<StoredEntry, "body"> {
  readonly body: string | null | { readonly sha256: string }
}

/** Adds to a new entry of the client what only agentctl knows. The output has the fields in the order of the file. */
export const storedEntry = (entry: JournalEntry, profile: string): StoredEntry => {
  const { baseUrl, createdAt, id, ...others } = entry
  const { operationId } = others
  const route = Object.hasOwn(ROUTES, operationId) ? ROUTES[operationId as keyof typeof ROUTES] : undefined
  return { id, createdAt, profile, baseUrl, serviceId: route?.serviceId ?? operationId, ...others }
}

/** The longest body in the file of an entry, in characters. Every payment reads the entries of the last day. */
const INLINE_LIMIT = 65_536

/** Whether the body is a file of its own. */
export const isLargeBody = (body: string | null): body is string => body !== null && body.length > INLINE_LIMIT

export const hashOfBody = (body: string): string => createHash("sha256").update(body).digest("hex")

/** The allowed moves between the states of a payment. */
export const JOURNAL_TRANSITIONS: Readonly<Record<JournalState["tag"], ReadonlyArray<JournalState["tag"]>>> = {
  prepared: ["sent", "given-up"],
  sent: ["sent", "answered"],
  // The server is asked again about an open answer; the new answer replaces it.
  answered: ["sent", "answered"],
  "given-up": []
}

/** Returns the entry in its next state. Throws if the move is not allowed, which would be a bug. */
export const advance = (entry: StoredEntry, state: JournalState): StoredEntry => {
  if (JOURNAL_TRANSITIONS[entry.state.tag].includes(state.tag)) return { ...entry, state }
  throw new Failure({
    code: "FAILED",
    message: `Payment ${entry.id} cannot move from ${entry.state.tag} to ${state.tag}.`,
    next: [`agentctl payments show ${entry.id}`]
  })
}

/** Returns the time in a payment id, in milliseconds since 1970; undefined for another kind of id. */
export const timeOfPayment = (id: string): number | undefined =>
  id[14] === "7" ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : undefined

/** Returns when a signed payment expires, in Unix seconds. One without an expiry never expires. */
const validUntil = (paymentSignature: string): number => {
  const header = parseJson(Buffer.from(paymentSignature, "base64").toString("utf8"))
  const payload = isRecord(header) ? header["payload"] : undefined
  // EIP-3009 and Permit2 have different names for it.
  const { authorization, permit2Authorization } = isRecord(payload) ? payload : {}
  const until = isRecord(authorization)
    ? authorization["validBefore"]
    : isRecord(permit2Authorization)
      ? permit2Authorization["deadline"]
      : undefined
  const seconds = Number(until ?? Number.NaN)
  return Number.isSafeInteger(seconds) ? seconds : Number.MAX_SAFE_INTEGER
}

/** Returns an entry for display: without the signed payment, with the amount in USDT, and whether it is open. */
export const shownEntry = (entry: ListedEntry) => {
  const {
    amount,
    asset,
    createdAt,
    network,
    operationId: _derived,
    paymentSignature: _secret,
    payTo,
    validBefore: _signed,
    ...others
  } = entry
  return {
    ...others,
    createdAt: new Date(createdAt).toISOString(),
    quote: { amount: decimalOf(BigInt(amount)), asset, network, payTo, baseUnits: amount },
    open: isOpen(entry)
  }
}

/** Formats the file of an entry, without a large body. */
export const encodeEntry = (entry: StoredEntry): string => {
  const {
    amount,
    asset,
    body: text,
    network,
    operationId: _derived,
    payTo,
    state,
    validBefore: _signed,
    ...others
  } = entry
  const body = isLargeBody(text) ? { sha256: hashOfBody(text) } : text
  return `${JSON.stringify({ version: 1, ...others, body, quote: { amount, asset, network, payTo }, state }, undefined, 2)}\n`
}

const TEXTS = ["id", "profile", "baseUrl", "serviceId", "method", "path", "idempotencyKey", "payer", "paymentSignature"]
const QUOTE_TEXTS = ["asset", "network", "payTo"]
const TAGS: ReadonlyArray<string> = Object.keys(JOURNAL_TRANSITIONS)

const hasTexts = (value: Readonly<Record<string, unknown>>, names: ReadonlyArray<string>): boolean =>
  names.every((name) => typeof value[name] === "string")

const isState = (value: unknown): value is JournalState => {
  if (!isRecord(value) || typeof value["tag"] !== "string" || !TAGS.includes(value["tag"])) return false
  if (value["tag"] === "sent") return typeof value["attempts"] === "number"
  return (
    value["tag"] !== "answered" || (typeof value["status"] === "number" && typeof value["paymentState"] === "string")
  )
}

/** The advice for a journal file that cannot be read. */
export const KEEP_ADVICE = "Do not delete it before you know what it paid for."

/** Parses the file of the entry `id`. Throws a failure that names the file, because its content is money. */
export const decodeEntry = (value: unknown, id: string, path: string): ListedEntry => {
  const invalid = new Failure({
    code: "CONFIGURATION",
    message: `${path} is not a valid payment file. ${KEEP_ADVICE}`
  })
  if (!isRecord(value) || value["version"] !== 1 || value["id"] !== id) throw invalid
  const { body, createdAt, quote, state, version: _version, ...others } = value
  if (typeof others["withToken"] !== "boolean") throw invalid
  if (!hasTexts(value, TEXTS) || typeof createdAt !== "number" || !isRecord(quote) || !isState(state)) throw invalid
  const { amount } = quote
  if (!hasTexts(quote, QUOTE_TEXTS) || typeof amount !== "string" || !/^\d{1,78}$/.test(amount)) throw invalid
  const isBody = body === null || typeof body === "string" || (isRecord(body) && typeof body["sha256"] === "string")
  if (!isBody) throw invalid
  // The payments of a day are found by the times in their ids.
  if ((timeOfPayment(id) ?? createdAt) !== createdAt) throw invalid
  const { asset, network, payTo } = quote
  const entry = { ...others, amount, asset, network, payTo, body, createdAt, state } as unknown as ListedEntry
  return {
    ...entry,
    operationId: operationAt(entry.method, entry.path) ?? entry.serviceId,
    validBefore: validUntil(entry.paymentSignature)
  }
}
