import type { ErrorCode, PaymentState, TenantId } from "@agentos/core"
import { Context } from "effect"
import type { CountedLimit } from "./CountedLimit.ts"
import type { RouteMatch } from "./Routing.ts"

/** Facts about a request, collected while it is answered: its route, and what its response and log line report. */
export class RequestFacts<out R = unknown> {
  /** Appears in the body, the X-Request-Id header and the log. */
  readonly requestId: string
  readonly match: RouteMatch<R>
  /** In milliseconds since the Unix epoch. */
  readonly startedAt: number
  /** The rate limits that the request was counted toward so far, for its headers. */
  readonly limits: Array<CountedLimit> = []
  operation: string | undefined = undefined
  tenantId: TenantId | undefined = undefined
  code: ErrorCode | undefined = undefined
  /** The state of the request's payment as found before the response; undefined while it has not been checked. */
  paymentState: PaymentState | undefined = undefined
  /** The id of the request whose stored response was repeated. */
  repeats: string | undefined = undefined
  /** How the response contradicts the contract. Each is logged as an error. */
  readonly violations: Array<string> = []
  /** Additional cost of the work done, for the limit of the address. */
  additionalCost = 0

  constructor(requestId: string, match: RouteMatch<R>, startedAt: number) {
    this.requestId = requestId
    this.match = match
    this.startedAt = startedAt
  }
}

/** The facts about the current request. */
export class RequestRecord extends Context.Service<RequestRecord, RequestFacts>()(
  "@agentos/http-server/edge/RequestRecord"
) {}
