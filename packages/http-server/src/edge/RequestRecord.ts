import type { ErrorCode, PaymentState, TenantId } from "@agentos/core"
import { Context } from "effect"
import type { CountedLimit } from "./CountedLimit.ts"

/** Facts about a request, collected while it is answered, for its log line. */
export class RequestRecord extends Context.Service<
  RequestRecord,
  {
    /** Appears in the body, the X-Request-Id header and the log. */
    readonly requestId: string
    operation?: string
    tenantId?: TenantId
    code?: ErrorCode
    /** The state of the request's payment as found before the response; missing while it has not been checked. */
    paymentState?: PaymentState
    /** The id of the request whose stored response was repeated. */
    repeats?: string
    /** Additional cost of the work done, for the limit of the address. */
    additionalCost?: number
    /** The rate limits that the request was counted toward so far, for its headers. */
    readonly limits: Array<CountedLimit>
  }
>()("@agentos/http-server/edge/RequestRecord") {}
