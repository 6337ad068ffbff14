import { OPERATIONS } from "@agentos/api"
import { invalid, PaymentStatuses } from "@agentos/core"
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { CHAIN_SEARCH_COST } from "../edge/RequestCost.ts"
import { RequestRecord } from "../edge/RequestRecord.ts"
import { publicRoute, tenantRoute } from "../operation/FreeRoute.ts"
import { paymentSignature } from "../operation/PaidRoute.ts"
import { successResponse } from "../operation/SuccessResponse.ts"

export const routes = Effect.gen(function* () {
  const statuses = yield* PaymentStatuses
  return [
    publicRoute(
      OPERATIONS.readPaymentStatus,
      Effect.fnUntraced(function* () {
        const signature = paymentSignature(yield* HttpServerRequest.HttpServerRequest)
        if (signature === null) {
          return yield* invalid("PAYMENT-SIGNATURE", "is required. Send the header of the original request, unchanged")
        }
        const { record: payment, wasSearched } = yield* statuses.ofPayment(signature)
        if (wasSearched) (yield* RequestRecord).additionalCost = CHAIN_SEARCH_COST
        return yield* successResponse(OPERATIONS.readPaymentStatus, { payment })
      })
    ),

    tenantRoute(OPERATIONS.getPayment, (tenant, { params: { operationId } }) =>
      Effect.map(statuses.ofOperation(tenant, operationId), (payment) => ({ payment }))
    )
  ] as const
})
