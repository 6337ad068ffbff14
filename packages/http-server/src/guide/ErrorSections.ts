import { ERROR_RECOVERY, ERROR_STATUS, OPERATIONS } from "@agentos/api"
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
        rows: ErrorCode.literals.map((code) => [`\`${code}\``, `${ERROR_STATUS[code]}`, ERROR_RECOVERY[code]])
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
