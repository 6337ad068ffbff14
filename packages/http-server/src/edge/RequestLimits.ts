import {
  type ApiError,
  BodyTooLarge,
  type Input,
  inputsOf,
  MediaTypeUnsupported,
  type ApiOperation,
  TooManyHeaders,
  UriTooLong
} from "@agentos/api"
import { invalid, InvalidRequest, isStartHere, type JsonBudget } from "@agentos/core"
import { Predicate } from "effect"
import type { HttpServerRequest } from "effect/http"
import { IncomingMessage } from "node:http"
import { isWebhook } from "./IngressPath.ts"
import type { BodyLimits, Route } from "./Route.ts"

/** Maximum length of a request target, in bytes. Valid targets are far shorter. */
export const TARGET_LIMIT_BYTES = 8 * 1024
/** Maximum size of all headers including the request line. A payment over several networks fits. */
export const HEADERS_LIMIT_BYTES = 32 * 1024

/** Maximum number of headers of a request. */
export const HEADER_COUNT_LIMIT = 100
/** Maximum number of query parameters. No operation has more than 12. */
export const QUERY_PARAMETERS_LIMIT = 32

const KIB = 1024
/**
 * Maximum body length of a service that needs no token, in bytes. Apart from the lists of a sender policy, the longest
 * input has about 2,300 characters that may be non-ASCII, and a URL of 2,048 characters or a signature of 4,096 bytes.
 * That fits even if every non-ASCII character is escaped. So do lists of 200 addresses of common length; an update of
 * the mailbox has room for the longest. The limit is the same with a token, so that it does not depend on a lookup.
 */
const START_BODY_LIMIT_BYTES = 16 * KIB
const DEFAULT_BODY_LIMIT_BYTES = 64 * KIB
/** JSON may escape one byte of text as six: `\u0001`. */
const ESCAPE_FACTOR = 6
/** Base64 needs no escapes, but some encoders escape its slashes: one of 64 characters, unless the file is all ones. */
const BASE64_ESCAPE_FACTOR = 1 + 1 / 16

/**
 * More than any input needs: at most 200 entries of a sender policy, or 20 attachments with three keys each. The bytes outside
 * of strings leave room for indentation.
 */
const DEFAULT_JSON_BUDGET: JsonBudget = {
  depth: 8,
  elements: 256,
  keys: 128,
  keyBytes: 128,
  stringBytes: 24 * KIB,
  plainBytes: 64 * KIB
}

/** The limits of a body without texts that are longer than the default. */
export const DEFAULT_BODY_LIMITS: BodyLimits = { bytes: DEFAULT_BODY_LIMIT_BYTES, json: DEFAULT_JSON_BUDGET }

const lengthOf = (schema: unknown, factor: number): ReadonlyArray<number> => {
  const maxLength = Predicate.hasProperty(schema, "maxLength") ? schema.maxLength : undefined
  return typeof maxLength === "number" && maxLength > DEFAULT_JSON_BUDGET.stringBytes
    ? [Math.ceil(maxLength * factor)]
    : []
}

/** Returns the lengths as written of the long texts inside an array of objects: files in base64. */
const fileLengths = (schema: Input["schema"]): ReadonlyArray<number> => {
  const { items } = schema
  const properties = Predicate.hasProperty(items, "properties") ? items.properties : undefined
  return Predicate.isObject(properties)
    ? Object.values(properties).flatMap((property) => lengthOf(property, BASE64_ESCAPE_FACTOR))
    : []
}

const known = new WeakMap<ApiOperation, BodyLimits>()

/**
 * Returns the limits of an operation's body, computed once, when they are first needed. Each text that may be longer than the default may have its maximum length
 * with every byte escaped. All files together may have the maximum length of one.
 */
export const bodyLimitsOf = (operation: ApiOperation): BodyLimits => {
  const limits = known.get(operation) ?? computeBodyLimits(operation)
  known.set(operation, limits)
  return limits
}

const computeBodyLimits = (operation: ApiOperation): BodyLimits => {
  const { authentication } = operation.entry
  if (isStartHere(operation.entry) || authentication === "sign-in-with-x")
    return { ...DEFAULT_BODY_LIMITS, bytes: START_BODY_LIMIT_BYTES }
  const longTexts = inputsOf(operation).flatMap(({ schema }) => [
    ...lengthOf(schema, ESCAPE_FACTOR),
    ...fileLengths(schema)
  ])
  return {
    bytes: longTexts.reduce((total, length) => total + length, DEFAULT_BODY_LIMIT_BYTES),
    json: { ...DEFAULT_JSON_BUDGET, stringBytes: Math.max(DEFAULT_JSON_BUDGET.stringBytes, ...longTexts) }
  }
}

/** Returns the target of a request as it is written, without the scheme and host that it may have. The URL of a request is normalized. */
export const targetOf = ({ source, url }: HttpServerRequest.HttpServerRequest): string => {
  if (!(source instanceof IncomingMessage)) return url
  const target = (source.url ?? "").replace(/^https?:\/\/[^/?#]*/i, "")
  return target === "" || target.startsWith("?") ? `/${target}` : target
}

/** Returns the path of a request target, without its query. */
export const pathOf = (target: string): string => target.split("?", 1)[0] ?? ""

/**
 * Returns the length of the body that the headers declare, or undefined for a body of unknown length. HTTP/1.1 has none:
 * without headers there is no body. A request of HTTP/2, and one that was made in this process, may have one.
 */
export const declaredLength = ({ headers, source }: HttpServerRequest.HttpServerRequest): number | undefined => {
  const length = headers["content-length"]
  if (length !== undefined) return Number(length)
  if (headers["transfer-encoding"] !== undefined) return undefined
  return source instanceof IncomingMessage || (source instanceof Request && source.body === null) ? 0 : undefined
}

/** Returns whether a request has a body: of a positive length, or of an unknown one. */
export const hasBody = (request: HttpServerRequest.HttpServerRequest): boolean => declaredLength(request) !== 0

const UTF_8 = /^utf-?8$/i

/** Returns the problem with the declared type of a body, if any: only plain JSON in UTF-8 is accepted. */
const jsonFlaw = (headers: HttpServerRequest.HttpServerRequest["headers"]): string | undefined => {
  const [type = "", ...parameters] = (headers["content-type"] ?? "").split(";").map((part) => part.trim())
  if (type.toLowerCase() !== "application/json") {
    return `Content-Type ${type === "" ? "is missing" : `${type.slice(0, 100)} is not supported`}. Send JSON, with Content-Type: application/json.`
  }
  for (const parameter of parameters) {
    const [name = "", value = ""] = parameter.split("=", 2)
    if (name.toLowerCase() === "charset" && !UTF_8.test(value.replaceAll('"', ""))) {
      return "The charset of Content-Type is not supported. Send the body in UTF-8."
    }
  }
  const encoding = headers["content-encoding"]
  return encoding === undefined || encoding === "identity"
    ? undefined
    : "Content-Encoding is not supported. Send the body without it."
}

const BODY_METHODS: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH"])

const hostMissing = invalid("Host", "is required in HTTP/1.1")

/** RFC 9112, section 3.2. */
const lacksHost = ({ headers, source }: HttpServerRequest.HttpServerRequest): boolean =>
  headers["host"] === undefined && source instanceof IncomingMessage && source.httpVersion === "1.1"

/** Headers with a single value, as they are written, by their names in lower case. */
export type SingleHeaders = ReadonlyMap<string, string>

export const singleHeaders = (names: ReadonlyArray<string>): SingleHeaders =>
  new Map(names.map((name) => [name.toLowerCase(), name]))

/**
 * Single-value headers of every request. Node silently joins or drops further values, and a proxy may have used a
 * different one than this server.
 */
const SINGLE_HEADERS = singleHeaders([
  "Authorization",
  "Content-Length",
  "Content-Type",
  "Host",
  "Idempotency-Key",
  "PAYMENT-SIGNATURE",
  "SIGN-IN-WITH-X"
])

/** Returns the first single-value header that appears more than once, if any. */
export const repeatedHeader = (
  rawHeaders: ReadonlyArray<string>,
  names: SingleHeaders = SINGLE_HEADERS
): string | undefined => {
  const seen = new Set<string>()
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = names.get(rawHeaders[index]?.toLowerCase() ?? "")
    if (name === undefined) continue
    if (seen.has(name)) return name
    seen.add(name)
  }
  return undefined
}

/** Returns the error for a repeated single-value header, if any. */
export const repetitionFlaw = (
  { source }: HttpServerRequest.HttpServerRequest,
  names?: SingleHeaders
): ApiError | undefined => {
  const name = source instanceof IncomingMessage ? repeatedHeader(source.rawHeaders, names) : undefined
  return name === undefined ? undefined : invalid(name, "appears more than once. Send it once")
}

/** Returns the error for too many headers or a repeated single-value header, if any. */
const headersFlaw = (request: HttpServerRequest.HttpServerRequest): ApiError | undefined =>
  headerCount(request) > HEADER_COUNT_LIMIT
    ? new TooManyHeaders({ limit: HEADER_COUNT_LIMIT })
    : (repetitionFlaw(request) ?? lengthFlaw(request))

const headerCount = ({ headers, source }: HttpServerRequest.HttpServerRequest): number =>
  source instanceof IncomingMessage ? source.rawHeaders.length / 2 : Object.keys(headers).length

/** Node's parser refuses such a length itself; in the headers of a web request it may be anything. */
const lengthFlaw = ({ headers }: HttpServerRequest.HttpServerRequest): ApiError | undefined =>
  /^\d{1,15}$/.test(headers["content-length"] ?? "0")
    ? undefined
    : invalid("Content-Length", "must be one integer, written in digits")

/**
 * Node spends several microseconds on each one-byte chunk, and no header states the number of chunks: a message in such
 * chunks takes minutes. A body must therefore declare its length.
 */
const lengthRequired = invalid(
  "Content-Length",
  "is required. Send the body as one text instead of a stream, without Transfer-Encoding"
)

const queryTooLong = new InvalidRequest({
  message: `The query has more than ${QUERY_PARAMETERS_LIMIT} parameters. Send fewer`,
  issues: [{ path: "", message: `has more than ${QUERY_PARAMETERS_LIMIT} query parameters` }]
})

const hasTooManyParameters = (target: string): boolean => {
  let count = 0
  for (let at = target.indexOf("?"); at !== -1; at = target.indexOf("&", at + 1)) {
    if (++count > QUERY_PARAMETERS_LIMIT) return true
  }
  return false
}

/** Bodies of providers are not JSON, not even where the provider is not configured. */
const limitsWithoutRoute = (target: string): BodyLimits | null =>
  isWebhook(pathOf(target)) ? null : DEFAULT_BODY_LIMITS

/** Checks a request by its target and headers alone. Returns the first violation of size, type or form, if any. */
export const headerFlaw = (
  request: HttpServerRequest.HttpServerRequest,
  route: Route<unknown> | null
): ApiError | undefined => {
  const { headers, method, url } = request
  if (url.length > TARGET_LIMIT_BYTES) return new UriTooLong({ limitBytes: TARGET_LIMIT_BYTES })
  const flaw = headersFlaw(request)
  if (flaw !== undefined) return flaw
  if (lacksHost(request)) return hostMissing
  if (hasTooManyParameters(url)) return queryTooLong
  if (!BODY_METHODS.has(method) || !hasBody(request)) return undefined
  if (headers["transfer-encoding"] !== undefined) return lengthRequired
  const limits = route === null ? limitsWithoutRoute(url) : route.body
  if (limits === null) return undefined
  const limitBytes = limits.bytes
  if (Number(headers["content-length"] ?? 0) > limitBytes) return new BodyTooLarge({ limitBytes })
  const message = jsonFlaw(headers)
  return message === undefined ? undefined : new MediaTypeUnsupported({ message })
}
