import { type ApiError, BodyTooLarge, MediaTypeUnsupported, OPERATIONS, UriTooLong } from "@agentos/api"
import { BODY_LIMIT_BYTES, InvalidRequest } from "@agentos/core"
import type { HttpServerRequest } from "effect/http"
import { IncomingMessage } from "node:http"
import { FORM_LIMIT_BYTES, isWebhook } from "../webhook/WebhookPath.ts"

/** Longest request target, in bytes: no legal one comes near it. */
export const TARGET_LIMIT_BYTES = 8 * 1024
/** All headers together, the request line included: a payment over several networks has room. */
export const HEADERS_LIMIT_BYTES = 32 * 1024

const KIB = 1024
const DEFAULT_BODY_LIMIT_BYTES = 256 * KIB
/** JSON may write one byte of text as six: `\u0001`. */
const ESCAPE_FACTOR = 6

/**
 * Longest body of a path, in bytes. A message may have a text and an HTML part of
 * the full length, every byte of them escaped; nothing else needs more than the default.
 */
export const bodyLimitOf = (path: string): number => {
  if (isWebhook(path)) return FORM_LIMIT_BYTES
  return path === OPERATIONS.sendMessage.entry.path
    ? 2 * BODY_LIMIT_BYTES * ESCAPE_FACTOR + DEFAULT_BODY_LIMIT_BYTES
    : DEFAULT_BODY_LIMIT_BYTES
}

/** The path of a request target, without its query. */
export const pathOf = (target: string): string => target.split("?", 1)[0] ?? ""

/** Whether a body comes with the request, however long. */
const hasBody = (headers: HttpServerRequest.HttpServerRequest["headers"]): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0

const UTF_8 = /^utf-?8$/i

/** What the carrier sends. */
const formFlaw = (headers: HttpServerRequest.HttpServerRequest["headers"]): string | undefined =>
  /^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(headers["content-type"] ?? "")
    ? undefined
    : "Send the body as a form."

/** What is wrong with how a body is declared, if anything: only plain JSON in UTF-8 is read. */
const jsonFlaw = (headers: HttpServerRequest.HttpServerRequest["headers"]): string | undefined => {
  const [type = "", ...parameters] = (headers["content-type"] ?? "").split(";").map((part) => part.trim())
  if (type.toLowerCase() !== "application/json") {
    return `Send the body as JSON, with Content-Type: application/json${type === "" ? "" : `; ${type.slice(0, 100)} is not read`}.`
  }
  for (const parameter of parameters) {
    const [name = "", value = ""] = parameter.split("=", 2)
    if (name.toLowerCase() === "charset" && !UTF_8.test(value.replaceAll('"', ""))) {
      return "Send the body in UTF-8, as JSON is."
    }
  }
  const encoding = headers["content-encoding"]
  return encoding === undefined || encoding === "identity" ? undefined : "Send the body without Content-Encoding."
}

const BODY_METHODS: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH"])

const hostMissing = new InvalidRequest({
  message: "HTTP/1.1 asks for a Host header",
  issues: [{ path: "Host", message: "required" }]
})

/** RFC 9112, section 3.2. */
const lacksHost = ({ headers, source }: HttpServerRequest.HttpServerRequest): boolean =>
  headers["host"] === undefined && source instanceof IncomingMessage && source.httpVersion === "1.1"

/** What is too long about a request, or of the wrong kind, by its target and headers alone. */
export const headerFlaw = (request: HttpServerRequest.HttpServerRequest): ApiError | undefined => {
  const { headers, method, url } = request
  if (url.length > TARGET_LIMIT_BYTES) return new UriTooLong({ limitBytes: TARGET_LIMIT_BYTES })
  if (lacksHost(request)) return hostMissing
  if (!BODY_METHODS.has(method) || !hasBody(headers)) return undefined
  const limitBytes = bodyLimitOf(pathOf(url))
  if (Number(headers["content-length"] ?? 0) > limitBytes) return new BodyTooLarge({ limitBytes })
  const message = isWebhook(pathOf(url)) ? formFlaw(headers) : jsonFlaw(headers)
  return message === undefined ? undefined : new MediaTypeUnsupported({ message })
}
