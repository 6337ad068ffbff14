import type { HttpServerRequest } from "effect/http"
import Negotiator from "negotiator"

export const HTML = "text/html"
export const MARKDOWN = "text/markdown"
export const JSON_TYPE = "application/json"

/** Returns the type that the client prefers, of those that are offered. Without a preference it is the first. */
export const preferred = (
  request: HttpServerRequest.HttpServerRequest,
  ...offered: Array<string>
): string | undefined => new Negotiator({ headers: { ...request.headers } }).mediaType(offered)
