import type { JsonObject } from "../schema/JsonSchema.ts"

/** Returns the reference to a header among the components. */
export const headerRef = (name: string): JsonObject => ({ $ref: `#/components/headers/${name}` })

const BASE64: JsonObject = { type: "string", contentEncoding: "base64", pattern: "^[A-Za-z0-9+/]+={0,2}$" }

/** Returns the schema of one or more items with commas between them. */
const listOf = (item: string): JsonObject => ({ type: "string", pattern: `^${item}(?:, ${item})*$` })

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
    schema: BASE64
  },
  PaymentResponse: {
    description:
      "The receipt: base64 of the x402 version 2 SettlementResponse object, with a signed receipt in `extensions`.",
    required: true,
    schema: BASE64
  },
  RefundReceipt: {
    description:
      "The receipt of the refund, in the form of PAYMENT-RESPONSE of a success. Present once the chain shows the refund.",
    schema: BASE64
  },
  RetryAfter: {
    description: "Seconds to wait before repeating the same request unchanged.",
    schema: { type: "integer", minimum: 0 }
  },
  ContentDisposition: {
    description: "`attachment`, with a safe form of the name that the sender chose.",
    required: true,
    schema: { type: "string", pattern: '^attachment; filename="[^"]+"' }
  },
  EntityTag: {
    description:
      "Identifies this version of `data` or of the file. Send it in If-None-Match: the answer is 304 while the version is the same.",
    required: true,
    schema: { type: "string", pattern: '^(?:W/)?"[^"]+"$' }
  },
  NoStore: {
    description: "Caches must not store the response.",
    required: true,
    schema: { type: "string", enum: ["no-store"] }
  },
  Revalidate: {
    description: "Caches may store the response, and must revalidate it with its ETag before each use.",
    required: true,
    schema: { type: "string", enum: ["no-cache"] }
  },
  Link: {
    description:
      "The documents of the API (RFC 8288): the API catalog (`api-catalog`), the OpenAPI and AsyncAPI documents (`service-desc`) and the documentation (`service-doc`).",
    required: true,
    schema: { type: "string", pattern: '^<[^>]+>; rel="[^"]+"' }
  },
  Allow: {
    description: "The methods of the path, comma-separated.",
    required: true,
    schema: { type: "string", pattern: "^[A-Z]+(?:, [A-Z]+)*$" }
  },
  WwwAuthenticate: {
    description:
      '`Bearer error="invalid_token"` (RFC 6750) for an access token that is not valid, `SIGN-IN-WITH-X` for a signed message that is not valid.',
    required: true,
    schema: { type: "string", enum: ['Bearer error="invalid_token"', "SIGN-IN-WITH-X"] }
  },
  RateLimit: {
    description:
      'For each limit that counted the request: the remaining quota (r) and the seconds until the full quota is available (t), as in draft-ietf-httpapi-ratelimit-headers-10: `"address";r=1187;t=1, "tenant";r=1199;t=1`.',
    schema: listOf('"[a-z]+";r=[0-9]+;t=[0-9]+')
  },
  RateLimitPolicy: {
    description:
      'The quota of each limit (q) and its window in seconds (w): `"address";q=1200;w=60, "tenant";q=1200;w=60`.',
    schema: listOf('"[a-z]+";q=[0-9]+;w=[0-9]+')
  }
}

/** Headers of every response. A server without rate limits omits the rate limit headers. */
const COMMON_HEADERS: JsonObject = {
  "X-Request-Id": headerRef("RequestId"),
  RateLimit: headerRef("RateLimit"),
  "RateLimit-Policy": headerRef("RateLimitPolicy")
}

/** Headers of every response that no cache stores. */
export const UNCACHED_HEADERS: JsonObject = { ...COMMON_HEADERS, "Cache-Control": headerRef("NoStore") }

/** Headers of a response that contains a stored file, or that the client has it. */
export const DOWNLOAD_HEADERS: JsonObject = {
  ...UNCACHED_HEADERS,
  "Content-Disposition": headerRef("ContentDisposition"),
  ETag: headerRef("EntityTag")
}

/** Headers of a response that is the same for every client, or that the client has it. */
export const CATALOG_HEADERS: JsonObject = {
  ...COMMON_HEADERS,
  "Cache-Control": headerRef("Revalidate"),
  ETag: headerRef("EntityTag")
}
