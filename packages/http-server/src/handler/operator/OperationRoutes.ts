import {
  ManualRefunds,
  nameTarget,
  OperationAdministration,
  PaymentRail,
  QueryOperationsInput,
  ReceivedTransfer,
  refundByHand,
  RefundOperationInput,
  requireKnown,
  returnByHand,
  ReturnTransferInput,
  SalesAdministration,
  scopeOf,
  StartSalesInput,
  StopSalesInput
} from "@agentos/core"
import { Effect } from "effect"
import { decodeInput } from "../../operation/Decoding.ts"
import { type Answer, bodyOf, dataResponse, long, mutation, parameter, queryOf, read } from "./OperatorRoute.ts"

/** Lists paid operations of all tenants, newest first. */
const listOperations = Effect.map(OperationAdministration, ({ list }): Answer =>
  Effect.flatMap(Effect.flatMap(queryOf(QueryOperationsInput), list), dataResponse)
)

const namedOperation = Effect.map(parameter("operationId"), (id) => id.toLowerCase())

const showOperation = Effect.map(OperationAdministration, ({ find }): Answer =>
  Effect.flatMap(Effect.flatMap(namedOperation, find), dataResponse)
)

/** Lets the completion job take an open operation over at once. */
const retryOperation = Effect.map(OperationAdministration, ({ retry }): Answer =>
  Effect.flatMap(Effect.flatMap(namedOperation, retry), dataResponse)
)

/** Records a refund that the operator made. The body contains its transaction. */
const refundOperation = Effect.map(ManualRefunds, (refunds): Answer =>
  Effect.gen(function* () {
    const { transaction } = yield* bodyOf(RefundOperationInput)
    const refunded = refundByHand(yield* namedOperation, transaction)
    return yield* dataResponse(yield* Effect.provideService(refunded, ManualRefunds, refunds))
  })
)

const decodeReceived = decodeInput(ReceivedTransfer, "path parameter")

/** Records the return of a received transfer that no operation has. The body contains its transaction. */
const returnTransfer = Effect.map(ManualRefunds, (refunds): Answer =>
  Effect.gen(function* () {
    const { transaction, wallet } = yield* bodyOf(ReturnTransferInput)
    const { received } = yield* decodeReceived({ received: yield* parameter("received") })
    const returned = returnByHand({ transaction: received, wallet }, transaction)
    return yield* dataResponse(yield* Effect.provideService(returned, ManualRefunds, refunds))
  })
)

const showSelling = Effect.map(SalesAdministration, ({ list }): Answer =>
  Effect.flatMap(list, (stops) => dataResponse({ stops }))
)

/** Stops the sales that the body names, all services by default. It contains the reason, which customers see. */
const stopSelling = Effect.map(Effect.all([SalesAdministration, PaymentRail]), ([{ stop }, { terms }]): Answer =>
  Effect.gen(function* () {
    const { reason, ...named } = yield* bodyOf(StopSalesInput)
    const scope = scopeOf(named)
    yield* nameTarget(scope)
    yield* requireKnown(named, terms(1n))
    return yield* dataResponse({ stops: yield* stop(scope, reason) })
  })
)

/** Ends the stop that the body names. A request without a body means the stop of all services. */
const startSelling = Effect.map(SalesAdministration, ({ start }): Answer =>
  Effect.gen(function* () {
    const scope = scopeOf(yield* bodyOf(StartSalesInput, {}))
    yield* nameTarget(scope)
    return yield* dataResponse(yield* start(scope))
  })
)

export const routes = Effect.gen(function* () {
  const operation = "/internal/operations/{operationId}"
  return [
    read("operations", "/internal/operations", yield* listOperations),
    read("operation", operation, yield* showOperation),
    mutation("retryOperation", "support", "operation.retry", `${operation}/retry`, yield* retryOperation),
    // Reads the chain for each refund of the payer that is due.
    long(mutation("refundOperation", "money", "operation.refund", `${operation}/refund`, yield* refundOperation)),
    long(
      mutation(
        "returnTransfer",
        "money",
        "transfer.return",
        "/internal/transfers/{received}/return",
        yield* returnTransfer
      )
    ),
    read("selling", "/internal/selling", yield* showSelling),
    mutation("stopSelling", "money", "sales.stop", "/internal/selling/stop", yield* stopSelling),
    mutation("startSelling", "money", "sales.start", "/internal/selling/start", yield* startSelling)
  ]
})
