import { type Operation, OPERATIONS, ServiceUnavailable } from "@agentos/api"
import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { operationRoute } from "../operation/OperationRoute.ts"

/** What is listed and can't be had. Nothing is asked of the caller, above all no payment. */
const unavailableRoute = (operation: Operation) =>
  operationRoute(operation, Effect.fail(new ServiceUnavailable({ ever: operation.entry.capability !== "never" })))

/** The registration of domains, which never has a provider. */
export const layer = HttpRouter.addAll([unavailableRoute(OPERATIONS.registerDomain)])
