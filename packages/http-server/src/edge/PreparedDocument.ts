import { HttpServerResponse } from "effect/http"
import { createHash } from "node:crypto"
import type { Handler, RequestFacts } from "./Route.ts"

/** Clients may cache a document for five minutes, then revalidate it. */
const CACHE_CONTROL = "public, max-age=300"
const TAG_LENGTH = 22

/** A handler that always answers at once. */
export type PreparedHandler = (...request: Parameters<Handler<never>>) => HttpServerResponse.HttpServerResponse

/** Returns the entity tag of a content, which is its hash. */
export const entityTag = (text: string | Uint8Array): string =>
  `"${createHash("sha256").update(text).digest("base64url").slice(0, TAG_LENGTH)}"`

/** Returns whether If-None-Match names the tag. The comparison is weak (RFC 9110, section 13.1.2). */
export const isCurrent = (ifNoneMatch: string | undefined, tag: string): boolean =>
  ifNoneMatch
    ?.split(",")
    .map((candidate) => candidate.trim().replace(/^W\//, ""))
    .some((candidate) => candidate === "*" || candidate === tag.replace(/^W\//, "")) ?? false

/**
 * Answers with prepared bytes, or with 304 if the client already has the current version. Prepares them on the first
 * request, because the documents take as long as the rest of the server's start.
 */
export const preparedHandler = (
  prepare: () => {
    readonly headers: Readonly<Record<string, string>> & { readonly etag: string }
    readonly answer: (record: RequestFacts) => HttpServerResponse.HttpServerResponse
  }
): PreparedHandler => {
  const build = () => {
    const { answer, headers } = prepare()
    return { answer, tag: headers.etag, notModified: HttpServerResponse.empty({ status: 304, headers }) }
  }
  let prepared: ReturnType<typeof build> | undefined
  return (request, record) => {
    const { answer, notModified, tag } = (prepared ??= build())
    return isCurrent(request.headers["if-none-match"], tag) ? notModified : answer(record)
  }
}

/** Returns the handler of a document that is the same for every client. */
export const preparedDocument = (
  text: () => string,
  contentType: string,
  extra: Readonly<Record<string, string>> = {}
): PreparedHandler =>
  preparedHandler(() => {
    const body = text()
    const headers = { etag: entityTag(body), "cache-control": CACHE_CONTROL, ...extra }
    const full = HttpServerResponse.uint8Array(Buffer.from(body), { contentType, headers })
    return { headers, answer: () => full }
  })
