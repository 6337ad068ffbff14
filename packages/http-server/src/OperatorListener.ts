import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Context, Effect, Layer } from "effect"
import { HttpServerError } from "effect/http"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { answerBrokenRequest } from "./connection/BrokenRequests.ts"
import { HEADERS_LIMIT_BYTES } from "./edge/RequestLimits.ts"
import * as HttpApi from "./HttpApi.ts"
import { ListenerSettings, ServerSettings } from "./ServerSettings.ts"

/** The address where the operator's routes are served, away from the port of clients; null without an operator token. */
export class OperatorListener extends Context.Service<
  OperatorListener,
  { readonly host: string; readonly port: number } | null
>()("@agentos/http-server/OperatorListener") {
  /** Listens when it is built. On release it answers no further request, and cuts those that take longer than a moment. */
  static readonly layer = Layer.effect(
    OperatorListener,
    Effect.gen(function* () {
      const { operator } = yield* ListenerSettings
      const { operatorToken } = yield* ServerSettings
      if (operator === null || operatorToken === null) return null
      const answer = yield* NodeHttpServer.makeHandler(yield* HttpApi.makeOperator, { scope: yield* Effect.scope })
      const server = createServer({ maxHeaderSize: HEADERS_LIMIT_BYTES, requireHostHeader: false }, answer)
      server.on("clientError", answerBrokenRequest)
      const listening = Effect.callback<void, HttpServerError.ServeError>((resume) => {
        server.once("error", (cause) => resume(Effect.fail(new HttpServerError.ServeError({ cause }))))
        server.listen(operator.port, operator.host, () => resume(Effect.void))
      })
      yield* Effect.acquireRelease(listening, () =>
        Effect.sync(() => {
          server.close()
          server.closeAllConnections()
        })
      )
      const { address: host, port } = server.address() as AddressInfo
      return { host, port }
    })
  )
}
