import { Effect } from "effect"
import { ServerSettings } from "../../ServerSettings.ts"
import * as AccessRoutes from "./AccessRoutes.ts"
import { consoleRoutes } from "./Console.ts"
import * as JobRoutes from "./JobRoutes.ts"
import * as MailRoutes from "./MailRoutes.ts"
import * as OperationRoutes from "./OperationRoutes.ts"
import { serveOperators } from "./OperatorRoute.ts"
import * as TenantRoutes from "./TenantRoutes.ts"
import * as WebhookRoutes from "./WebhookRoutes.ts"

/** Every route for operators. */
export const operatorRoutes = Effect.gen(function* () {
  return [
    ...(yield* JobRoutes.routes),
    ...(yield* OperationRoutes.routes),
    ...(yield* TenantRoutes.routes),
    ...(yield* MailRoutes.routes),
    ...(yield* WebhookRoutes.routes),
    ...(yield* AccessRoutes.routes)
  ]
})

/** Serves the routes for operators, and the console over them. They exist only if the server has an operator token. */
export const routes = Effect.gen(function* () {
  const { operatorToken } = yield* ServerSettings
  if (operatorToken === null) return []
  return [...(yield* serveOperators(operatorToken, yield* operatorRoutes)), ...consoleRoutes]
})
