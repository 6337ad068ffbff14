import type { ErrorCode, TenantId } from "@agentos/core"
import { Context } from "effect"

/** What becomes known about a request while it is answered, for its log line. */
export class RequestRecord extends Context.Service<
  RequestRecord,
  {
    /** In the body, the X-Request-Id header and the log. */
    readonly requestId: string
    operation?: string
    tenantId?: TenantId
    code?: ErrorCode
    /** Whether it is known that its payment, if it has one, stands for no operation yet. */
    isPaymentNew?: boolean
    /** The request whose stored answer was given again. */
    repeats?: string
  }
>()("@agentos/http-server/edge/RequestRecord") {}
