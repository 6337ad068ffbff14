import { OPERATIONS } from "@agentos/api"
import { invalid, PaymentNetworks, PaymentStatuses, walletAddress } from "@agentos/core"
import { Effect } from "effect"
import { CHAIN_SEARCH_COST, FUNDS_READ_COST } from "../edge/RequestCost.ts"
import { publicRoute, tenantRoute } from "../operation/FreeRoute.ts"
import { paymentSignature } from "../operation/PaidRoute.ts"
import { successResponse, withinDeadline } from "../operation/Responses.ts"

export const routes = Effect.gen(function* () {
  const statuses = yield* PaymentStatuses
  const { list } = yield* PaymentNetworks
  return [
    publicRoute(
      OPERATIONS.listPaymentNetworks,
      Effect.fnUntraced(function* ({ query: { wallet } }, _request, facts) {
        const items = yield* list(wallet === undefined ? undefined : walletAddress(wallet))
        if (wallet !== undefined) facts.additionalCost = items.length * FUNDS_READ_COST
        return successResponse(OPERATIONS.listPaymentNetworks, facts.requestId, { items })
      })
    ),

    publicRoute(
      OPERATIONS.readPaymentStatus,
      Effect.fnUntraced(function* (_input, request, facts) {
        const signature = paymentSignature(request)
        if (signature === null) {
          return yield* invalid("PAYMENT-SIGNATURE", "is required. Send the header of the original request, unchanged")
        }
        const { record: payment, wasSearched } = yield* withinDeadline(statuses.ofPayment(signature))
        if (wasSearched) facts.additionalCost = CHAIN_SEARCH_COST
        return successResponse(OPERATIONS.readPaymentStatus, facts.requestId, { payment })
      })
    ),

    tenantRoute(OPERATIONS.getPayment, (tenant, { params: { operationId } }) =>
      Effect.map(statuses.ofOperation(tenant, operationId), (payment) => ({ payment }))
    )
  ] as const
})
