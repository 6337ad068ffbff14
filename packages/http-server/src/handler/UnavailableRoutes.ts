import { type ApiOperation, OPERATIONS, ServiceUnavailable } from "@agentos/api"
import { Effect } from "effect"
import { operationRoute } from "../operation/OperationRoute.ts"

/** Answers a listed operation that is not available, without asking for input or payment. */
const unavailableRoute = (operation: ApiOperation) =>
  operationRoute(operation, () => Effect.fail(new ServiceUnavailable({ ever: operation.entry.capability !== "never" })))

/** Domain registration, which never has a provider. */
export const routes = [unavailableRoute(OPERATIONS.registerDomain)]
