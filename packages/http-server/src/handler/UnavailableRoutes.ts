import { type Operation, OPERATIONS, ServiceUnavailable } from "@agentos/api"
import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { operationRoute } from "../operation/OperationRoute.ts"

/** What is listed and can't be had. Nothing is asked of the caller, above all no payment. */
const unavailableRoute = (operation: Operation) =>
  operationRoute(operation, Effect.fail(new ServiceUnavailable({ ever: operation.entry.capability !== "never" })))

/** Telephony, which has no provider yet, and the registration of domains, which never has one. */
export const layer = HttpRouter.addAll([
  unavailableRoute(OPERATIONS.purchaseUsNumber),
  unavailableRoute(OPERATIONS.purchaseCanadaNumber),
  unavailableRoute(OPERATIONS.renewNumber),
  unavailableRoute(OPERATIONS.callOneMinute),
  unavailableRoute(OPERATIONS.callFiveMinutes),
  unavailableRoute(OPERATIONS.extendCall),
  unavailableRoute(OPERATIONS.addInboundMinutes),
  unavailableRoute(OPERATIONS.releaseNumber),
  unavailableRoute(OPERATIONS.listNumbers),
  unavailableRoute(OPERATIONS.getCall),
  unavailableRoute(OPERATIONS.getTranscript),
  unavailableRoute(OPERATIONS.registerDomain)
])
