import type { ErrorCode, TenantId } from "@agentos/core"
import { Context } from "effect"
import type { CountedLimit } from "./CountedLimit.ts"

/** What becomes known about a request while it is answered, for its log line. */
export class RequestRecord extends Context.Service<
  RequestRecord,
  {
    /** In the body, the X-Request-Id header and the log. */
    readonly requestId: string
    operation?: string
    tenantId?: TenantId
    code?: ErrorCode
    /** Whether its payment, if it has one, stands for no operation, and the chain showed it unused before anything was answered. */
    isPaymentUnused?: boolean
    /** The request whose stored answer was given again. */
    repeats?: string
    /** The rate limits that it was counted against so far, for its headers. */
    readonly limits: Array<CountedLimit>
  }
>()("@agentos/http-server/edge/RequestRecord") {}
