import { serviceEntry, type ServiceId, Usdt } from "@agentos/core"
import { Match } from "effect"
import { describeInput, inputsOf } from "../operation/Inputs.ts"
import { operationOf } from "../operation/Operations.ts"
import type { ErrorParts, FailedRequest, Onboarding } from "./ErrorEnvelope.ts"
import { callOf, retryOf } from "./NextCalls.ts"
import type { RequestError } from "./RequestError.ts"

/** Closes the connection, because the rest of this request cannot be separated from the next one. */
const close = { Connection: "close" }

const signIn = callOf("auth.token")

const onboarding = (serviceId: ServiceId): Onboarding => {
  const entry = serviceEntry(serviceId)
  const { method, path, price } = entry
  if (price === null || method === "DELETE") throw new Error(`${serviceId} is not a start-here service`)
  return {
    serviceId,
    method,
    endpoint: path,
    price: Usdt.toPrice(price),
    requiredInput: inputsOf(operationOf(entry))
      .filter(({ required }) => required)
      .map((input) => ({ name: input.name, description: describeInput(input) }))
  }
}

const OPERATOR_DELAYED = {
  no: "The server could not finish the request in time. Nothing was changed. Repeat it later.",
  yes: "The change was made, and the audit has its record. Only its answer took too long. Do not repeat the request: read what it changed. If the answer had a new token, rotate the token of that operator.",
  unknown:
    "The server could not finish the request in time. Whether it changed something is not known. Read the audit before you repeat it."
}

/** Maps each request error to its response. The compiler checks that none is missing. */
export const requestErrorParts = (error: RequestError, request: FailedRequest): ErrorParts =>
  Match.valueTags(error, {
    RouteUnknown: ({ path }): ErrorParts => ({
      code: "RESOURCE_NOT_FOUND",
      message: `No route for ${request.method} ${path}. GET ${callOf("discovery.api").path} lists the services.`,
      next: callOf("discovery.api")
    }),
    MethodNotAllowed: ({ allowed, method, path }): ErrorParts => ({
      code: "METHOD_NOT_ALLOWED",
      message: `${path} does not allow ${method}. Use ${allowed.join(", ")}.`,
      next: allowed.map((allowedMethod) => retryOf({ method: allowedMethod, path })).find(Boolean),
      headers: { Allow: allowed.join(", ") }
    }),
    RequestTimedOut: (): ErrorParts => ({
      code: "REQUEST_TIMEOUT",
      message: "The request did not arrive in time. Send it again.",
      retryable: true,
      headers: close
    }),
    BodyTooLarge: ({ limitBytes }): ErrorParts => ({
      code: "PAYLOAD_TOO_LARGE",
      message: `The body exceeds ${limitBytes} bytes. Send a smaller one.`
    }),
    UriTooLong: ({ limitBytes }): ErrorParts => ({
      code: "URI_TOO_LONG",
      message: `The request target exceeds ${limitBytes} bytes. Send a shorter one.`
    }),
    HeadersTooLarge: ({ limitBytes }): ErrorParts => ({
      code: "HEADERS_TOO_LARGE",
      message: `The headers exceed ${limitBytes} bytes in total. Send fewer or shorter ones.`,
      headers: close
    }),
    TooManyHeaders: ({ limit }): ErrorParts => ({
      code: "HEADERS_TOO_LARGE",
      message: `The request has more than ${limit} headers. Send fewer.`,
      headers: close
    }),
    BodyMemoryExhausted: ({ exhausted, retryAfterSeconds }): ErrorParts => ({
      ...(exhausted === "share"
        ? {
            code: "RATE_LIMITED",
            message: `Your requests in progress use too much memory. Send large bodies one at a time. Retry in ${retryAfterSeconds} s.`
          }
        : {
            code: "SERVICE_UNAVAILABLE",
            message: `The server is receiving too many large bodies. Retry in ${retryAfterSeconds} s.`
          }),
      retryable: true,
      next: retryOf(request),
      headers: { "Retry-After": `${retryAfterSeconds}` }
    }),
    MediaTypeUnsupported: ({ message }): ErrorParts => ({ code: "UNSUPPORTED_MEDIA_TYPE", message }),
    UpgradeRequired: (): ErrorParts => ({
      code: "UPGRADE_REQUIRED",
      message: `WebSocket upgrade required. Connect with a realtime token from GET ${callOf("events.realtime-token").path}.`,
      next: callOf("events.realtime-token"),
      headers: { Upgrade: "websocket", Connection: "Upgrade" }
    }),
    OnboardingRequired: ({ startWith }): ErrorParts => ({
      code: "ONBOARDING_REQUIRED",
      message: `Access token required. A wallet that has bought here before signs in to get its token, which is free: ${signIn.method} ${signIn.path}. A new wallet gets its token with its first purchase: call ${startWith}. Then repeat this request with Authorization: Bearer <ACCESS_TOKEN>.`,
      next: callOf(startWith),
      onboarding: onboarding(startWith)
    }),
    OperatorRefused: ({ setting }): ErrorParts => ({
      code: "AUTH_REQUIRED",
      message: `Operator token required. Send Authorization: Bearer <${setting}>.`,
      headers: { "WWW-Authenticate": "Bearer" }
    }),
    OperatorForbidden: ({ needed, operator, role }): ErrorParts => ({
      code: "FORBIDDEN",
      message: `The operator ${operator} has the role ${role}. This route needs ${needed}. Nothing was changed.`
    }),
    CrossSiteSignIn: ({ publicUrl, setting }): ErrorParts => ({
      code: "FORBIDDEN",
      message: `A page of another site can't sign in here. Sign in outside of a browser or from a page at ${publicUrl}, or ask the operator to list the page's origin in ${setting}.`
    }),
    RateLimited: ({ limit, retryAfterSeconds }): ErrorParts => ({
      code: "RATE_LIMITED",
      message: `${limit === undefined ? "Too many requests" : `Rate limit exceeded: ${limit}`}. Retry in ${retryAfterSeconds} s.`,
      retryable: true,
      next: retryOf(request),
      headers: { "Retry-After": `${retryAfterSeconds}` }
    }),
    ServiceUnavailable: ({ ever }): ErrorParts => ({
      code: "SERVICE_UNAVAILABLE",
      message: ever
        ? "This server has no provider for this service. See the catalog for the services that it offers."
        : "This service is reserved and not available in this version. See the catalog for other services.",
      next: callOf("discovery.services")
    }),
    ServerStopping: (): ErrorParts => ({
      code: "SERVICE_UNAVAILABLE",
      message: "The server is stopping and did not process the request. Repeat the identical request later.",
      retryable: true,
      headers: { "Retry-After": "5" }
    }),
    StorageUnavailable: ({ withPayment }): ErrorParts => {
      const isUnknown = withPayment && request.paymentState !== "none"
      return {
        code: "SERVICE_UNAVAILABLE",
        message: isUnknown
          ? "The database of this server is not available at the moment. Repeat the identical request with the same Idempotency-Key and PAYMENT-SIGNATURE. You are charged at most once."
          : "The database of this server is not available at the moment. Repeat the identical request later.",
        retryable: true,
        ...(isUnknown ? { paymentState: "unknown" } : {}),
        next: retryOf(request),
        headers: { "Retry-After": "5" }
      }
    },
    ServerBusy: (): ErrorParts => ({
      code: "SERVICE_UNAVAILABLE",
      message: "The server is busy and did not begin to process the request. Repeat the identical request later.",
      retryable: true,
      next: retryOf(request),
      headers: { "Retry-After": "5" }
    }),
    DownloadsUnavailable: ({ reason }): ErrorParts => ({
      code: "SERVICE_UNAVAILABLE",
      message:
        reason === "building"
          ? "The packages are being packed for the first time. Repeat the request in a moment."
          : "The packages could not be packed. The log of this server has the cause. Repeat the request to try again.",
      retryable: true,
      next: retryOf(request),
      headers: { "Retry-After": "5" }
    }),
    RequestDelayed: (): ErrorParts => ({
      code: "SERVICE_UNAVAILABLE",
      message:
        "The server did not finish the request in time, and may have done what it asks for. Repeat the identical request later.",
      retryable: true,
      next: retryOf(request),
      headers: { "Retry-After": "5" }
    }),
    OperatorDelayed: ({ changed }): ErrorParts => ({
      code: "SERVICE_UNAVAILABLE",
      message: OPERATOR_DELAYED[changed],
      retryable: changed === "no",
      ...(changed === "no" ? { headers: { "Retry-After": "5" } } : {})
    }),
    InternalError: ({ withPayment }): ErrorParts => ({
      code: "INTERNAL_ERROR",
      message: withPayment
        ? "Internal error. Repeat the identical request with the same Idempotency-Key and PAYMENT-SIGNATURE. You are charged at most once."
        : "Internal error. Retry the request. If it fails again, report the requestId to the operator.",
      retryable: true,
      ...(withPayment ? { paymentState: "unknown" } : {}),
      next: retryOf(request)
    })
  })
