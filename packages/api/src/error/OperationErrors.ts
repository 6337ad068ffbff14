import type { CatalogEntry, ErrorCode } from "@agentos/core"

/** What any request may be answered, whatever the operation. */
const ALWAYS: ReadonlyArray<ErrorCode> = ["RATE_LIMITED", "URI_TOO_LONG", "HEADERS_TOO_LARGE", "INTERNAL_ERROR"]
/** What a request with a body may be answered besides. */
const WITH_BODY: ReadonlyArray<ErrorCode> = [
  "INVALID_REQUEST",
  "REQUEST_TIMEOUT",
  "PAYLOAD_TOO_LARGE",
  "SERVICE_UNAVAILABLE",
  "UNSUPPORTED_MEDIA_TYPE"
]

/** Every code that an operation may answer: those of its catalog entry, and those of the layer beneath. */
export const errorCodesOf = (entry: CatalogEntry): ReadonlySet<ErrorCode> =>
  new Set([
    ...entry.errors,
    ...(entry.authentication === "none" ? (["INVALID_REQUEST"] as const) : []),
    ...(entry.capability === "always" ? [] : (["SERVICE_UNAVAILABLE"] as const)),
    ...(entry.method === "POST" && entry.capability !== "never" ? WITH_BODY : []),
    ...ALWAYS
  ])
