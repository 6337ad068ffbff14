import type { JsonObject } from "../schema/JsonSchema.ts"

/** Returns the reference to a header among the components. */
export const headerRef = (name: string): JsonObject => ({ $ref: `#/components/headers/${name}` })

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
export const COMMON_HEADERS: JsonObject = {
  "X-Request-Id": headerRef("RequestId"),
  RateLimit: headerRef("RateLimit"),
  "RateLimit-Policy": headerRef("RateLimitPolicy")
}

/** Headers of a response that contains stored bytes. */
export const DOWNLOAD_HEADERS: JsonObject = {
  "Content-Disposition": headerRef("ContentDisposition"),
  ETag: headerRef("EntityTag")
}
