import type { ErrorCode, TenantId } from "@agentos/core"
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
    /**
     * True if the chain showed, before the response, that the request's payment is unused. It belongs to no operation.
     */
    isPaymentUnused?: boolean
    /** The id of the request whose stored response was repeated. */
    repeats?: string
    /** The rate limits that the request was counted toward so far, for its headers. */
    readonly limits: Array<CountedLimit>
  }
>()("@agentos/http-server/edge/RequestRecord") {}
