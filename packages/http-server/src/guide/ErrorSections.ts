import { ERROR_STATUS, OPERATIONS } from "@agentos/api"
import { ErrorCode } from "@agentos/core"
import { COST_ROWS } from "../edge/RequestCost.ts"
import {
  bodyLimitsOf,
  DEFAULT_BODY_LIMITS,
  HEADER_COUNT_LIMIT,
  HEADERS_LIMIT_BYTES,
  QUERY_PARAMETERS_LIMIT,
  TARGET_LIMIT_BYTES
} from "../edge/RequestLimits.ts"
import { REFUSALS } from "../edge/ConnectionGate.ts"
import { HANDSHAKES, SOCKET_FRAMES, TENANT_FRAMES } from "../edge/SocketLimits.ts"
import type { GuideSection } from "./GuideBlock.ts"

/** The recommended action for each error. */
const RECOVERY: Readonly<Record<ErrorCode, string>> = {
  INVALID_REQUEST: "Fix each issue in `error.issues`: `path` is the invalid part.",
  AUTH_REQUIRED: "The token is malformed, unknown or revoked. Send a valid one, or call a start-here service.",
  INVALID_TOKEN:
    "The token is of the wrong kind or has expired. Use access tokens for REST and realtime tokens for the WebSocket.",
  PAYMENT_REQUIRED: "Pay the challenge in PAYMENT-REQUIRED, then repeat the identical request.",
  FORBIDDEN: "The payment comes from another wallet than the token's. Pay from the token's wallet.",
  RESOURCE_NOT_OWNED: "The resource belongs to another tenant. Use one of your own.",
  RESOURCE_NOT_FOUND: "Refresh your ids from the list in `error.next`. Do not guess ids.",
  METHOD_NOT_ALLOWED: "Use a method from the Allow header.",
  REQUEST_TIMEOUT: "The request did not arrive in time. Send it again.",
  CONFLICT: "The request conflicts with the current state, such as an address that is taken. Change the request.",
  IDEMPOTENCY_CONFLICT: "Repeat the original request with its key and payment, or use a new key for a new operation.",
  PAYMENT_PENDING: "Wait for the seconds in Retry-After, then repeat the identical request. Do not pay again.",
  ALLOWANCE_EXHAUSTED: "Buy inbound minutes.",
  NUMBER_EXPIRING: "Renew the number first.",
  NUMBER_RELEASED: "The number was released or has expired. Buy another number.",
  PAYLOAD_TOO_LARGE: "Send a smaller body.",
  URI_TOO_LONG: "Send a shorter request target.",
  UNSUPPORTED_MEDIA_TYPE: "Send JSON in UTF-8, with Content-Type: application/json.",
  UPGRADE_REQUIRED: "Connect with the WebSocket protocol.",
  ONBOARDING_REQUIRED: "Call the start-here service in `error.onboarding`. Nothing was charged.",
  RATE_LIMITED: "Wait for the seconds in Retry-After, then repeat the request.",
  HEADERS_TOO_LARGE: "Send fewer or shorter headers.",
  INTERNAL_ERROR: "Repeat the identical request. If it fails again, report the requestId to the operator.",
  PROVIDER_TEMPORARY_FAILURE:
    "Wait for the seconds in Retry-After, then repeat the identical request with the same key and payment.",
  PROVIDER_REJECTED: "The provider refused permanently. The payment is refunded to your wallet.",
  SERVICE_UNAVAILABLE: "This server does not offer the service. See its catalog for the services that it offers."
}

/** The sections on errors and limits. */
export const errorSections = (): ReadonlyArray<GuideSection> => [
  {
    anchor: "errors",
    title: "Errors",
    blocks: [
      {
        text: "`error.code` identifies the error. `error.retryable` is true if the same request may succeed later. `error.next` is the call to make next (without a body, fill it in yourself). `error.issues` lists the invalid parts of the input. On paid operations, `error.paymentState` is the state of the payment."
      },
      {
        header: ["Code", "Status", "What to do"],
        rows: ErrorCode.literals.map((code) => [`\`${code}\``, `${ERROR_STATUS[code]}`, RECOVERY[code]])
      }
    ]
  },
  {
    anchor: "limits",
    title: "Limits",
    blocks: [
      {
        points: [
          `Bodies: ${DEFAULT_BODY_LIMITS.bytes} bytes; ${bodyLimitsOf(OPERATIONS.sendMessage).bytes} for a message to send, so that every character of text and html may be escaped in JSON; ${bodyLimitsOf(OPERATIONS.createMailbox).bytes} for services that need no token. Objects with a duplicate or unknown property are refused.`,
          "A body needs Content-Length: a body with Transfer-Encoding returns 400. A body that delivers less than 128 KiB in 10 seconds, and is not complete, returns 408. Send large bodies from one address one at a time: above 32 MiB in total they return 429, and 503 while the server has no memory for them.",
          `Request targets: ${TARGET_LIMIT_BYTES} bytes, with ${QUERY_PARAMETERS_LIMIT} query parameters. Headers: ${HEADERS_LIMIT_BYTES} bytes and ${HEADER_COUNT_LIMIT} fields together. A repeated header that allows one value only returns 400.`,
          "Browsers may call from any origin, and may read PAYMENT-REQUIRED, PAYMENT-RESPONSE, X-Request-Id, RateLimit, RateLimit-Policy and Retry-After. There are no cookies."
        ]
      }
    ]
  },
  {
    anchor: "rate-limits",
    title: "Rate limits",
    blocks: [
      {
        text: "Requests are limited per address (for IPv6 per /64, and per /48 with ten times the quota) and per tenant. Each response has the limits in `RateLimit-Policy` (`q` requests in `w` seconds), and in `RateLimit` the remaining quota (`r`) and the seconds until the full quota is available again (`t`). A 429 names the exceeded limit. Wait for the seconds in Retry-After, then repeat the request. A 429 is returned before the request is processed: it charges nothing, and an earlier payment keeps its state."
      },
      {
        header: ["A request that", "Costs"],
        rows: COST_ROWS.map(([what, cost]) => [what, `${cost}`])
      },
      {
        points: [
          `A WebSocket handshake costs 1 from the limit of its address, or 10 with an invalid token. Handshakes also have a separate limit: ${HANDSHAKES.burst} at once and ${HANDSHAKES.perSecond} per second. Handshakes above it return 429.`,
          `A socket may send ${SOCKET_FRAMES.perSecond} frames per second, and all sockets of a tenant together ${TENANT_FRAMES.perSecond}, pings included. Above that, the server reads the socket more slowly; nothing is lost. A socket that sends too many frames before it authenticates is closed with 4429.`,
          `If more than ${REFUSALS.perSecond} requests per second from one address are refused with 429, its new connections are closed without a response until it slows down.`
        ]
      }
    ]
  }
]
