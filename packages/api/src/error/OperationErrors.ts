import type { CatalogEntry, ErrorCode } from "@agentos/core"
import { ERROR_STATUS, type ErrorStatus } from "./ErrorStatus.ts"

/** Errors of every request. A header that appears twice is INVALID_REQUEST. */
const ALWAYS: ReadonlyArray<ErrorCode> = [
  "INVALID_REQUEST",
  "RATE_LIMITED",
  "URI_TOO_LONG",
  "HEADERS_TOO_LARGE",
  "INTERNAL_ERROR"
]
/** Additional errors of requests with a body. */
const WITH_BODY: ReadonlyArray<ErrorCode> = [
  "REQUEST_TIMEOUT",
  "PAYLOAD_TOO_LARGE",
  "SERVICE_UNAVAILABLE",
  "UNSUPPORTED_MEDIA_TYPE"
]

const codesByEntry = new WeakMap<CatalogEntry, ReadonlySet<ErrorCode>>()

/** Returns every error code of an operation: those of its catalog entry, and those of the HTTP layer. */
export const errorCodesOf = (entry: CatalogEntry): ReadonlySet<ErrorCode> => {
  const known = codesByEntry.get(entry)
  if (known !== undefined) return known
  const codes = new Set<ErrorCode>([
    ...entry.errors,
    ...ALWAYS,
    // Without a provider no service of its half is available, and without any start-here service there are no tokens.
    ...(entry.capability === "always" && entry.authentication !== "bearer" ? [] : (["SERVICE_UNAVAILABLE"] as const)),
    ...(entry.method === "POST" ? WITH_BODY : [])
  ])
  codesByEntry.set(entry, codes)
  return codes
}

/** Returns the error codes of an operation by status, in ascending order. */
export const errorsByStatus = (entry: CatalogEntry): ReadonlyMap<ErrorStatus, ReadonlyArray<ErrorCode>> =>
  new Map(
    [...Map.groupBy(errorCodesOf(entry), (code) => ERROR_STATUS[code])].toSorted(([left], [right]) => left - right)
  )
