import type { CatalogEntry, ErrorCode } from "@agentos/core"

/** Errors of every request. */
const ALWAYS: ReadonlyArray<ErrorCode> = ["RATE_LIMITED", "URI_TOO_LONG", "HEADERS_TOO_LARGE", "INTERNAL_ERROR"]
/** Additional errors of requests with a body. */
const WITH_BODY: ReadonlyArray<ErrorCode> = [
  "INVALID_REQUEST",
  "REQUEST_TIMEOUT",
  "PAYLOAD_TOO_LARGE",
  "SERVICE_UNAVAILABLE",
  "UNSUPPORTED_MEDIA_TYPE"
]

/** Returns every error code of an operation: those of its catalog entry, and those of the HTTP layer. */
export const errorCodesOf = (entry: CatalogEntry): ReadonlySet<ErrorCode> =>
  new Set([
    ...entry.errors,
    ...(entry.authentication === "none" ? (["INVALID_REQUEST"] as const) : []),
    ...(entry.capability === "always" ? [] : (["SERVICE_UNAVAILABLE"] as const)),
    ...(entry.method === "POST" && entry.capability !== "never" ? WITH_BODY : []),
    ...ALWAYS
  ])
