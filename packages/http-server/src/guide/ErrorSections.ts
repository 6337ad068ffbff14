import { ERROR_STATUS } from "@agentos/api"
import { ErrorCode } from "@agentos/core"
import { bodyLimitOf, HEADERS_LIMIT_BYTES, TARGET_LIMIT_BYTES } from "../edge/RequestLimits.ts"
import type { GuideSection } from "./GuideBlock.ts"

/** What to do about each error. */
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

/** What can go wrong, and how much of anything there may be. */
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
          `Bodies: ${bodyLimitOf("/")} bytes; a message to send ${bodyLimitOf("/api/v1/email/messages/send")}, so that any text may be escaped as JSON likes. Objects with a property twice, or one that is not described, are refused.`,
          `Request targets: ${TARGET_LIMIT_BYTES} bytes. Headers: ${HEADERS_LIMIT_BYTES} bytes together.`,
          "Requests are limited by address and by tenant, generously; 429 says when to go on.",
          "Any origin may call from a browser, and may read PAYMENT-REQUIRED, PAYMENT-RESPONSE, X-Request-Id and Retry-After; there are no cookies."
        ]
      }
    ]
  }
]
