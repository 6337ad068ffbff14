/**
 * Headers of every answer.
 *
 * CORS: any origin may call and read, since nothing here goes by cookies: a
 * caller shows a token or a payment of its own. Answers say nothing that a
 * browser could run, are never framed, and are not stored unless they say so.
 */
export const COMMON_HEADERS: Readonly<Record<string, string>> = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers":
    "PAYMENT-REQUIRED, PAYMENT-RESPONSE, X-Request-Id, RateLimit, RateLimit-Policy, Retry-After, Allow, ETag, WWW-Authenticate",
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "cross-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY"
}

const TRANSPORT_SECURITY = { "strict-transport-security": "max-age=31536000" }

/** The headers of every answer of a server at `publicUrl`. */
export const commonHeaders = (publicUrl: string): Readonly<Record<string, string>> =>
  publicUrl.startsWith("https:") ? { ...COMMON_HEADERS, ...TRANSPORT_SECURITY } : COMMON_HEADERS

/** What a browser is told before it makes a request for a page of another origin. */
export const preflightHeaders = (allowed: ReadonlyArray<string>): Readonly<Record<string, string>> => ({
  allow: allowed.join(", "),
  "access-control-allow-methods": allowed.join(", "),
  "access-control-allow-headers": "Authorization, Content-Type, Idempotency-Key, PAYMENT-SIGNATURE, If-None-Match",
  "access-control-max-age": "7200"
})
