import { PaymentStatusRecord, Uuid } from "@agentos/core"
import { Schema } from "effect"
import { OPERATION_ID, PAYMENT } from "../example/ResourceExamples.ts"
import { NO_INPUT, operation } from "./Operation.ts"

const status = { data: Schema.Struct({ payment: PaymentStatusRecord }), status: 200 } as const

export const PAYMENT_OPERATIONS = {
  /** The payment is the header PAYMENT-SIGNATURE. A body is not read. */
  readPaymentStatus: operation("readPaymentStatus", {
    ...NO_INPUT,
    ...status,
    description:
      "For a client that lost a response or crashed after signing: follow `payment.advice` until it is done or pay. Send the PAYMENT-SIGNATURE header of the original request byte for byte. A header that was encoded anew shows the state and the advice only. It needs no token.",
    example: { data: { payment: PAYMENT } }
  }),

  getPayment: operation("getPayment", {
    ...NO_INPUT,
    params: Schema.Struct({
      operationId: Uuid.GivenUuid.annotateKey({
        description: "Id of your operation, from the answer to a paid request or from a payment event.",
        examples: ["019ab1cb-1c5d-7f39-8f6f-02a8a0c1d9b4"]
      })
    }),
    ...status,
    description:
      "The operation id is in the response of a paid request, in its events and in `PAYMENT_PENDING` messages. Follow `payment.advice` until it is done or pay.",
    example: { params: { operationId: OPERATION_ID }, data: { payment: PAYMENT } }
  })
}
