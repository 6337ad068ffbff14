import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect, Layer, ManagedRuntime } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { once } from "node:events"
import { createServer } from "node:http"
import { answerParent } from "../compare/ChildModule.ts"
import type { ConstantOptions } from "./nodeHttpMain.ts"
import { HOST, portOf } from "./Peer.ts"

/** Effect's router on Node's server, without its log. It answers 304 to a client that has the document. */
answerParent(async ({ documents }: ConstantOptions): Promise<number> => {
  const routes = documents.map(([path, text, etag]) => {
    const full = HttpServerResponse.uint8Array(new TextEncoder().encode(text), {
      contentType: "application/json",
      headers: { etag }
    })
    const current = HttpServerResponse.empty({ status: 304, headers: { etag } })
    return HttpRouter.add("GET", path as `/${string}`, (request: HttpServerRequest.HttpServerRequest) =>
      Effect.succeed(request.headers["if-none-match"] === etag ? current : full)
    )
  })
  const server = createServer()
  const [first, ...others] = routes
  const application = HttpRouter.serve(Layer.mergeAll(first!, ...others), {
    disableLogger: true,
    disableListenLog: true
  })
  const runtime = ManagedRuntime.make(
    Layer.provide(
      application,
      NodeHttpServer.layer(() => server, { host: HOST, port: 0 })
    )
  )
  await runtime.context()
  if (!server.listening) await once(server, "listening")
  return portOf(server)
})
