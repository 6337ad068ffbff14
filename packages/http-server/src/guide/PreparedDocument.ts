import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { createHash } from "node:crypto"

/** Clients may cache a document for five minutes, then revalidate it. */
const CACHE_CONTROL = "public, max-age=300"
const TAG_LENGTH = 22

/** Returns the entity tag of a text, which is its hash. */
export const entityTag = (text: string): string =>
  `"${createHash("sha256").update(text).digest("base64url").slice(0, TAG_LENGTH)}"`

/** The comparison is weak (RFC 9110, section 13.1.2). */
const isCurrent = (ifNoneMatch: string | undefined, tag: string): boolean =>
  ifNoneMatch
    ?.split(",")
    .map((candidate) => candidate.trim().replace(/^W\//, ""))
    .some((candidate) => candidate === "*" || candidate === tag.replace(/^W\//, "")) ?? false

/** Returns the response, or 304 if the client already has the current version. */
export const unlessCurrent = <E, R>(
  headers: Readonly<Record<string, string>> & { readonly etag: string },
  response: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R | HttpServerRequest.HttpServerRequest> => {
  const notModified = Effect.succeed(HttpServerResponse.empty({ status: 304, headers }))
  return Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
    isCurrent(request.headers["if-none-match"], headers.etag) ? notModified : response
  )
}

/** Prepares a response on the first request, because the documents take as long as the rest of the server's start. */
export const onFirstRequest = <E, R>(
  prepare: () => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R> => {
  let prepared: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R> | undefined
  return Effect.suspend(() => (prepared ??= prepare()))
}

/** Returns a document that is prepared once and served to every client. */
export const preparedDocument = (
  text: () => string,
  contentType: string,
  extra: Readonly<Record<string, string>> = {}
) =>
  onFirstRequest(() => {
    const body = text()
    const headers = { etag: entityTag(body), "cache-control": CACHE_CONTROL, ...extra }
    const bytes = new TextEncoder().encode(body)
    return unlessCurrent(headers, Effect.succeed(HttpServerResponse.uint8Array(bytes, { contentType, headers })))
  })
