/**
 * Headers of every response.
 *
 * CORS: any origin may call and read, because nothing depends on cookies: a caller sends its own token or payment.
 * Responses contain nothing that a browser could execute, are never framed, and are not stored unless they say so.
 */
export const COMMON_HEADERS: Readonly<Record<string, string>> = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers":
    "PAYMENT-REQUIRED, PAYMENT-RESPONSE, X-Request-Id, RateLimit, RateLimit-Policy, Retry-After, Allow, Content-Disposition, ETag, Link, WWW-Authenticate",
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "cross-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY"
}

const TRANSPORT_SECURITY = { "strict-transport-security": "max-age=31536000" }

/** Returns the headers of every response of a server at `publicUrl`. */
export const commonHeaders = (publicUrl: string): Readonly<Record<string, string>> =>
  publicUrl.startsWith("https:") ? { ...COMMON_HEADERS, ...TRANSPORT_SECURITY } : COMMON_HEADERS

/**
 * Returns the headers of a CORS preflight response. `@x402/fetch` sends Access-Control-Expose-Headers, a response
 * header, with its payments, and `mppx` sends Accept-Payment. X-PAYMENT is refused with a reason that a browser may read.
 */
export const preflightHeaders = (allowed: ReadonlyArray<string>): Readonly<Record<string, string>> => ({
  allow: allowed.join(", "),
  "access-control-allow-methods": allowed.join(", "),
  "access-control-allow-headers":
    "Authorization, Content-Type, Idempotency-Key, PAYMENT-SIGNATURE, SIGN-IN-WITH-X, If-None-Match, Access-Control-Expose-Headers, Accept-Payment, X-PAYMENT",
  "access-control-max-age": "7200"
})
