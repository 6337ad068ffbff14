import { ERROR_STATUS } from "@agentos/api"
import { ErrorCode } from "@agentos/core"
import { COST_ROWS } from "../edge/RequestCost.ts"
import {
  bodyLimitOf,
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
  INVALID_REQUEST: "Mend what `error.issues` names, by path.",
  AUTH_REQUIRED: "The token is malformed, unknown or revoked: send a valid one, or begin with a start-here service.",
  INVALID_TOKEN:
    "A credential of the other kind, or an expired one: access tokens are for REST, realtime tokens for the WebSocket.",
  PAYMENT_REQUIRED: "Pay the challenge in PAYMENT-REQUIRED and repeat the identical request.",
  FORBIDDEN: "The payment comes from another wallet than the token's: pay from the token's wallet.",
  RESOURCE_NOT_OWNED: "It belongs to another tenant: use one of your own.",
  RESOURCE_NOT_FOUND: "Refresh your ids from the list that `error.next` names; do not guess them.",
  METHOD_NOT_ALLOWED: "Use a method of the Allow header.",
  REQUEST_TIMEOUT: "The request did not arrive in time: send it again.",
  CONFLICT: "The state of things does not allow it, such as an address that is taken: change the request.",
  IDEMPOTENCY_CONFLICT: "Repeat the original request with its key and payment, or use a new key for a new operation.",
  PAYMENT_PENDING: "Wait as long as Retry-After says and repeat the identical request. Do not pay again.",
  ALLOWANCE_EXHAUSTED: "Buy inbound minutes.",
  NUMBER_EXPIRING: "Renew the number first.",
  NUMBER_RELEASED: "The number is gone: buy another.",
  PAYLOAD_TOO_LARGE: "Send a smaller body.",
  URI_TOO_LONG: "Send a shorter request target.",
  UNSUPPORTED_MEDIA_TYPE: "Send JSON in UTF-8, with Content-Type: application/json.",
  UPGRADE_REQUIRED: "Connect with the WebSocket protocol.",
  ONBOARDING_REQUIRED: "Call the start-here service that `error.onboarding` names; nothing was charged.",
  RATE_LIMITED: "Wait as long as Retry-After says.",
  HEADERS_TOO_LARGE: "Send fewer or shorter headers.",
  INTERNAL_ERROR: "Repeat the identical request; if it stays, name the requestId to the operator.",
  PROVIDER_TEMPORARY_FAILURE: "Repeat the identical request with the same key and payment after a while.",
  PROVIDER_REJECTED: "The provider refused for good; what was paid goes back to your wallet.",
  SERVICE_UNAVAILABLE: "This server does not offer it; its catalog says what it does."
}

/** The sections on errors and limits. */
export const errorSections: ReadonlyArray<GuideSection> = [
  {
    anchor: "errors",
    title: "Errors",
    blocks: [
      {
        text: "`error.code` says what happened, `error.retryable` whether the same request may succeed later, `error.next` which call comes next (its body is yours to fill in where it has none), `error.issues` what is wrong with the input, and on paid operations `error.paymentState` what became of the money."
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
          `Bodies: ${bodyLimitOf("/")} bytes; a message to send ${bodyLimitOf("/api/v1/email/messages/send")}, so that any text may be escaped as JSON likes; ${bodyLimitOf("/api/v1/email/mailboxes")} with a declared Content-Length where no token is needed. Objects with a property twice, or one that is not described, are refused.`,
          "A body needs Content-Length: one with Transfer-Encoding is refused with 400. A body that brings less than 128 KiB in 10 seconds, and not its end, is answered with 408. Send large bodies from one address one after the other: beyond 16 MiB at once they are answered with 429, and with 503 while the server has no memory for them.",
          `Request targets: ${TARGET_LIMIT_BYTES} bytes, with ${QUERY_PARAMETERS_LIMIT} query parameters. Headers: ${HEADERS_LIMIT_BYTES} bytes and ${HEADER_COUNT_LIMIT} fields together. A header with one value that comes twice is answered with 400.`,
          "Any origin may call from a browser, and may read PAYMENT-REQUIRED, PAYMENT-RESPONSE, X-Request-Id, RateLimit, RateLimit-Policy and Retry-After; there are no cookies."
        ]
      }
    ]
  },
  {
    anchor: "rate-limits",
    title: "Rate limits",
    blocks: [
      {
        text: "Requests are limited by address (over IPv6 by /64, and by /48 with ten times as much) and by tenant. Each answer says in `RateLimit-Policy` what a limit is (`q` requests in `w` seconds) and in `RateLimit` what is left of it (`r`) and after how many seconds all of it is there again (`t`). A 429 names the limit; wait as long as Retry-After says, then repeat the request. It is answered before anything else is done: nothing is charged by it, and a payment that was sent earlier stays as it is."
      },
      {
        header: ["A request that", "Takes"],
        rows: COST_ROWS.map(([what, cost]) => [what, `${cost}`])
      },
      {
        points: [
          `A handshake of the WebSocket takes 1 from the limit of its address, 10 with a token that is not valid, and has a limit of its own: ${HANDSHAKES.burst} at once, ${HANDSHAKES.perSecond} a second. Beyond it is answered 429.`,
          `A socket may send ${SOCKET_FRAMES.perSecond} frames a second and all sockets of a tenant ${TENANT_FRAMES.perSecond}, pings included. Beyond them a socket is read later, and nothing is lost. One that floods before it authenticates is closed with 4429.`,
          `An address that goes on while ${REFUSALS.perSecond} of its requests a second are refused with 429 finds its new connections closed without an answer, until it slows down.`
        ]
      }
    ]
  }
]
