import { type CatalogEntry, type ErrorCode, IDEMPOTENCY_KEY_LIMIT, Usdt } from "@agentos/core"
import { errorsByStatus } from "../operation/Endpoint.ts"
import { type Bytes, isBytes, type Operation, takesBody } from "../operation/Operation.ts"
import { inputsOf, requiresBody } from "../operation/Inputs.ts"
import { cleanSchema, isObject, type JsonObject } from "./JsonSchema.ts"

/**
 * The names of the security schemes among the components of the document. Directories of x402 recognize a token by this
 * name (@agentcash/discovery 1.7).
 */
export const ACCESS_TOKEN = "apiKey"
export const SIGN_IN = "signInWithX"

const headerRef = (name: string): JsonObject => ({ $ref: `#/components/headers/${name}` })

/** Response headers that several operations share. */
export const HEADERS: JsonObject = {
  RequestId: {
    description: "The requestId of the body. It also appears in the server's log.",
    required: true,
    schema: { type: "string", format: "uuid" }
  },
  PaymentRequired: {
    description: "The challenge: base64 of the x402 version 2 PaymentRequired object.",
    required: true,
    schema: { type: "string" }
  },
  PaymentResponse: {
    description:
      "The receipt: base64 of the x402 version 2 SettlementResponse object, with a signed receipt in `extensions`.",
    required: true,
    schema: { type: "string" }
  },
  RetryAfter: {
    description: "Seconds to wait before repeating the same request unchanged.",
    schema: { type: "integer", minimum: 0 }
  },
  ContentDisposition: {
    description: "`attachment`, with a safe form of the name that the sender chose.",
    required: true,
    schema: { type: "string" }
  },
  EntityTag: {
    description: "Identifies the bytes, which never change. A request with it in If-None-Match is answered with 304.",
    required: true,
    schema: { type: "string" }
  },
  RateLimit: {
    description:
      'For each limit that counted the request: the remaining quota (r) and the seconds until the full quota is available (t), as in draft-ietf-httpapi-ratelimit-headers-10: `"address";r=1187;t=1, "tenant";r=1199;t=1`.',
    schema: { type: "string" }
  },
  RateLimitPolicy: {
    description:
      'The quota of each limit (q) and its window in seconds (w): `"address";q=1200;w=60, "tenant";q=1200;w=60`.',
    schema: { type: "string" }
  }
}

/** Headers of every response. A server without rate limits omits the rate limit headers. */
const COMMON_HEADERS: JsonObject = {
  "X-Request-Id": headerRef("RequestId"),
  RateLimit: headerRef("RateLimit"),
  "RateLimit-Policy": headerRef("RateLimitPolicy")
}

/** Headers of a response that contains stored bytes. */
const DOWNLOAD_HEADERS: JsonObject = {
  "Content-Disposition": headerRef("ContentDisposition"),
  ETag: headerRef("EntityTag")
}

const PAYMENT_PARAMETERS: ReadonlyArray<JsonObject> = [
  {
    name: "PAYMENT-SIGNATURE",
    in: "header",
    required: false,
    description:
      "The payment: base64 of the x402 version 2 PaymentPayload. Omit it on the first request, which returns the challenge. It is required on the paid repetition. The authorization's nonce is random, or bound to the challenge: `extra.nonceTag`, then the first 24 bytes of SHA-256 over the ASCII text of `extra.binding`. A nonce with that tag is accepted with its own challenge only.",
    schema: { type: "string" }
  },
  {
    name: "Idempotency-Key",
    in: "header",
    required: true,
    description:
      "A unique key that you choose for this operation. Reuse it only to repeat the identical request with the same body and payment. A request without PAYMENT-SIGNATURE returns the challenge even without this key.",
    schema: { type: "string", minLength: 1, maxLength: IDEMPOTENCY_KEY_LIMIT }
  }
]

const STATUS_PARAMETERS: ReadonlyArray<JsonObject> = [
  {
    name: "PAYMENT-SIGNATURE",
    in: "header",
    required: true,
    description: "The payment: the header of the original request, byte for byte. It is not submitted.",
    schema: { type: "string" }
  }
]

const headerParameters = ({ entry, name }: Operation): ReadonlyArray<JsonObject> => {
  if (name === "readPaymentStatus") return STATUS_PARAMETERS
  return entry.price === null ? [] : PAYMENT_PARAMETERS
}

const security = (entry: CatalogEntry): ReadonlyArray<JsonObject> => {
  switch (entry.authentication) {
    case "bearer":
      return [{ [ACCESS_TOKEN]: [] }]
    case "sign-in-with-x":
      return [{ [SIGN_IN]: [] }]
    default:
      return []
  }
}

/** Returns the payment in the form that directories of x402 read (@agentcash/discovery, SPECIFICATION.md, section 7). */
const paymentInfo = (price: Usdt.Usdt, networks: ReadonlyArray<string>): JsonObject => ({
  price: { mode: "fixed", currency: "USD", ...Usdt.toPrice(price) },
  protocols: [{ x402: { version: 2, scheme: "exact", networks: [...networks] } }]
})

const terms = (entry: CatalogEntry): string =>
  [
    entry.price === null ? "Free." : `Costs ${Usdt.toDecimal(entry.price)} ${Usdt.ASSET}, paid by x402 version 2.`,
    entry.authentication === "x402-bootstrap"
      ? "Needs no access token: the response contains one. A token that you send must be that of the paying wallet."
      : ""
  ]
    .filter(Boolean)
    .join(" ")

const errorHeaders = (codes: ReadonlyArray<ErrorCode>, status: number): JsonObject => ({
  ...COMMON_HEADERS,
  ...(status === 402 ? { "PAYMENT-REQUIRED": headerRef("PaymentRequired") } : {}),
  ...(codes.some((code) => RETRY_LATER.has(code)) ? { "Retry-After": headerRef("RetryAfter") } : {})
})

const RETRY_LATER: ReadonlySet<ErrorCode> = new Set([
  "PAYMENT_PENDING",
  "RATE_LIMITED",
  "PROVIDER_TEMPORARY_FAILURE",
  "SERVICE_UNAVAILABLE"
])

const errorResponses = (entry: CatalogEntry): JsonObject =>
  Object.fromEntries(
    [...errorsByStatus(entry)].map(([status, codes]) => [
      `${status}`,
      {
        description: codes.join(", "),
        headers: errorHeaders(codes, status),
        content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } }
      }
    ])
  )

const bytesContent = ({ contentType }: Bytes): JsonObject => ({
  [contentType]: { schema: { type: "string", format: "binary" } }
})

/** Returns the generated success response; empty for an operation that never succeeds. */
const successResponses = (self: Operation, generated: JsonObject): JsonObject => {
  const responses = generated["responses"]
  const success = isObject(responses) ? responses[`${self.status}`] : undefined
  if (!isObject(success) || self.entry.capability === "never") return {}
  return {
    [`${self.status}`]: {
      description: self.status === 201 ? "Success. A resource was created." : "Success.",
      headers: {
        ...COMMON_HEADERS,
        ...(isBytes(self.data) ? DOWNLOAD_HEADERS : {}),
        ...(self.entry.price === null ? {} : { "PAYMENT-RESPONSE": headerRef("PaymentResponse") })
      },
      content: isBytes(self.data) ? bytesContent(self.data) : cleanSchema(success["content"] ?? {}, true)
    }
  }
}

/** Returns the path and query parameters. */
const parameters = (self: Operation): ReadonlyArray<JsonObject> =>
  inputsOf(self).flatMap(({ description, in: place, name, required, schema }) =>
    place === "body" ? [] : [{ name, in: place, required, description, schema }]
  )

const requestBody = (self: Operation, generated: JsonObject): JsonObject => {
  const body = cleanSchema(generated["requestBody"] ?? {}, false)
  return { ...(isObject(body) ? body : {}), required: requiresBody(self) }
}

/** The server that a document describes. */
export interface DocumentedServer {
  readonly serverUrl: string
  /** CAIP-2 ids of the networks on which it accepts payments. */
  readonly networks: ReadonlyArray<string>
}

/** Returns the document of one operation: schemas from the generator, everything else from the catalog. */
export const operationDocument = (
  self: Operation,
  generated: JsonObject,
  { networks, serverUrl }: DocumentedServer
): JsonObject => {
  const { entry } = self
  return {
    operationId: self.name,
    tags: generated["tags"] ?? [],
    summary: entry.purpose,
    description: terms(entry),
    externalDocs: { url: `${serverUrl}${entry.guide}` },
    ...(entry.serviceId === null ? {} : { "x-service-id": entry.serviceId }),
    ...(entry.extension === undefined ? {} : { "x-extension": entry.extension }),
    ...(entry.price === null
      ? {}
      : { "x-price": { ...Usdt.toPrice(entry.price) }, "x-payment-info": paymentInfo(entry.price, networks) }),
    ...(entry.authentication === "unavailable" ? { deprecated: true } : {}),
    security: security(entry),
    parameters: [...parameters(self), ...headerParameters(self)],
    ...(takesBody(self) ? { requestBody: requestBody(self, generated) } : {}),
    responses: { ...successResponses(self, generated), ...errorResponses(entry) }
  }
}
