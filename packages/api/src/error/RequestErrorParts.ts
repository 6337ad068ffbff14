import { serviceEntry, type ServiceId, Usdt } from "@agentos/core"
import { Match } from "effect"
import type { Onboarding } from "./ErrorEnvelope.ts"
import type { ErrorParts, FailedRequest } from "./ErrorParts.ts"
import { again, callOf } from "./NextCalls.ts"
import type { RequestError } from "./RequestError.ts"

/** Closes the connection, because the rest of this request cannot be separated from the next one. */
const close = { Connection: "close" }

const onboarding = (serviceId: ServiceId): Onboarding => {
  const { inputs, method, path, price } = serviceEntry(serviceId)
  if (price === null) throw new Error(`${serviceId} is no start-here service`)
  return {
    serviceId,
    method,
    endpoint: path,
    price: Usdt.toPrice(price),
    requiredInput: inputs.filter(({ required }) => required).map(({ description, name }) => ({ name, description }))
  }
}

/** Maps each request error to its response. The compiler checks that none is missing. */
export const requestErrorParts = (error: RequestError, request: FailedRequest): ErrorParts =>
  Match.valueTags(error, {
    RouteUnknown: ({ path }): ErrorParts => ({
      code: "RESOURCE_NOT_FOUND",
      message: `Nothing is at ${path}.`,
      next: callOf("discovery.api")
    }),
    MethodNotAllowed: ({ allowed, method, path }): ErrorParts => ({
      code: "METHOD_NOT_ALLOWED",
      message: `${path} does not take ${method}; it takes ${allowed.join(", ")}.`,
      next: allowed.map((allowedMethod) => again({ method: allowedMethod, path })).find(Boolean),
      headers: { Allow: allowed.join(", ") }
    }),
    RequestTimedOut: (): ErrorParts => ({
      code: "REQUEST_TIMEOUT",
      message: "The request did not arrive in time.",
      retryable: true,
      headers: close
    }),
    BodyTooLarge: ({ limitBytes }): ErrorParts => ({
      code: "PAYLOAD_TOO_LARGE",
      message: `The body is longer than ${limitBytes} bytes.`
    }),
    UriTooLong: ({ limitBytes }): ErrorParts => ({
      code: "URI_TOO_LONG",
      message: `The request target is longer than ${limitBytes} bytes.`
    }),
    HeadersTooLarge: ({ limitBytes }): ErrorParts => ({
      code: "HEADERS_TOO_LARGE",
      message: `The headers are longer than ${limitBytes} bytes together.`,
      headers: close
    }),
    TooManyHeaders: ({ limit }): ErrorParts => ({
      code: "HEADERS_TOO_LARGE",
      message: `The request has more than ${limit} headers.`,
      headers: close
    }),
    BodyMemoryExhausted: ({ exhausted, retryAfterSeconds }): ErrorParts => ({
      ...(exhausted === "share"
        ? {
            code: "RATE_LIMITED",
            message: `Your requests in progress hold too much memory. Send large bodies one after the other; retry in ${retryAfterSeconds} s.`
          }
        : {
            code: "SERVICE_UNAVAILABLE",
            message: `The server is receiving too many large bodies. Retry in ${retryAfterSeconds} s.`
          }),
      retryable: true,
      next: again(request),
      headers: { "Retry-After": `${retryAfterSeconds}` }
    }),
    MediaTypeUnsupported: ({ message }): ErrorParts => ({ code: "UNSUPPORTED_MEDIA_TYPE", message }),
    UpgradeRequired: (): ErrorParts => ({
      code: "UPGRADE_REQUIRED",
      message:
        "This path speaks the WebSocket protocol alone: connect to it with the credential of the realtime token.",
      next: callOf("events.realtime-token"),
      headers: { Upgrade: "websocket", Connection: "Upgrade" }
    }),
    OnboardingRequired: ({ startWith }): ErrorParts => ({
      code: "ONBOARDING_REQUIRED",
      message: `This needs an access token. ${startWith} gives one with its answer; then repeat this request with Authorization: Bearer <ACCESS_TOKEN>.`,
      next: callOf(startWith),
      onboarding: onboarding(startWith)
    }),
    OperatorRefused: (): ErrorParts => ({
      code: "AUTH_REQUIRED",
      message: "This is for who runs the server: send Authorization: Bearer <AGENTOS_OPERATOR_TOKEN>.",
      headers: { "WWW-Authenticate": "Bearer" }
    }),
    RateLimited: ({ limit, retryAfterSeconds }): ErrorParts => ({
      code: "RATE_LIMITED",
      message: `${limit === undefined ? "Too many requests" : `Rate limit exceeded: ${limit}`}. Retry after ${retryAfterSeconds} s.`,
      retryable: true,
      next: again(request),
      headers: { "Retry-After": `${retryAfterSeconds}` }
    }),
    ServiceUnavailable: ({ ever }): ErrorParts => ({
      code: "SERVICE_UNAVAILABLE",
      message: ever
        ? "This server has no provider for this service; its catalog says what it offers."
        : "This service is reserved, and not available in this version.",
      next: callOf("discovery.services")
    }),
    InternalError: ({ withPayment }): ErrorParts => ({
      code: "INTERNAL_ERROR",
      message: withPayment
        ? "Something failed on the server. Repeat the identical request, with the same Idempotency-Key and PAYMENT-SIGNATURE: it is charged once at most."
        : "Something failed on the server.",
      retryable: true,
      ...(withPayment ? { paymentState: "unknown" } : {}),
      next: again(request)
    })
  })
