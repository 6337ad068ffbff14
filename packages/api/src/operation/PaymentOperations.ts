import { PaymentStatusRecord, Uuid } from "@agentos/core"
import { Schema } from "effect"
import { HttpApiGroup, OpenApi } from "effect/http-api"
import { getEndpoint, postEndpoint } from "./Endpoint.ts"
import { NO_INPUT, operation } from "./Operation.ts"

const status = { data: Schema.Struct({ payment: PaymentStatusRecord }), status: 200 } as const

export const PAYMENT_OPERATIONS = {
  /** The payment is the header PAYMENT-SIGNATURE. A body is not read. */
  readPaymentStatus: operation("readPaymentStatus", { ...NO_INPUT, ...status }),

  getPayment: operation("getPayment", {
    ...NO_INPUT,
    params: Schema.Struct({
      operationId: Uuid.GivenUuid.annotateKey({
        description: "Id of your operation, from the answer to a paid request or from a payment event.",
        examples: ["019ab1cb-1c5d-7f39-8f6f-02a8a0c1d9b4"]
      })
    }),
    ...status
  })
}

export const paymentGroup = HttpApiGroup.make("payments", { topLevel: true })
  .add(postEndpoint(PAYMENT_OPERATIONS.readPaymentStatus), getEndpoint(PAYMENT_OPERATIONS.getPayment))
  .annotate(OpenApi.Description, "The state of payments.")
