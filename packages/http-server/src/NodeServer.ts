import { REALTIME_PATH } from "@agentos/api"
import { Context, Effect, Layer } from "effect"
import { createServer, type IncomingMessage, type Server } from "node:http"
import { answerBrokenRequest } from "./edge/BrokenRequests.ts"
import { HEADERS_LIMIT_BYTES, pathOf } from "./edge/RequestLimits.ts"
import { isRelay } from "./webhook/WebhookPath.ts"

/** How long a client may take over its headers, and over the whole request, in milliseconds. */
const HEADERS_TIMEOUT = 15_000
const REQUEST_TIMEOUT = 60_000
/** How often connections are looked at for that. */
const CHECK_EVERY = 5_000
/** Longer than load balancers keep an idle connection, so that they end it and not we, under a request. */
const KEEP_ALIVE_TIMEOUT = 75_000

/** Two kinds of sockets speak another protocol; a wish for one elsewhere is passed over, as HTTP allows. */
const isUpgrade = ({ headers, url }: IncomingMessage): boolean => {
  const path = pathOf(url ?? "")
  return (path === REALTIME_PATH || isRelay(path)) && headers.upgrade?.toLowerCase() === "websocket"
}

/** Node's own server, on which HTTP requests and WebSocket upgrades share one port. */
export class NodeServer extends Context.Service<NodeServer, Server>()("@agentos/http-server/NodeServer") {
  /** A server that does not listen yet. */
  static readonly layer = Layer.effect(
    NodeServer,
    Effect.sync(() => {
      const server = createServer({
        maxHeaderSize: HEADERS_LIMIT_BYTES,
        headersTimeout: HEADERS_TIMEOUT,
        requestTimeout: REQUEST_TIMEOUT,
        connectionsCheckingInterval: CHECK_EVERY,
        keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
        noDelay: true,
        // Asked for at the edge, which answers in the envelope.
        requireHostHeader: false,
        shouldUpgradeCallback: isUpgrade
      })
      server.on("clientError", answerBrokenRequest)
      // Once the server has stopped listening, a connection that has got its answer is of no more use.
      server.on("request", (_request, response) => {
        response.once("close", () => {
          if (!server.listening) setImmediate(() => server.closeIdleConnections())
        })
      })
      // An expectation that nobody knows may be passed over (RFC 9110, section 10.1.1).
      server.on("checkExpectation", (request, response) => server.emit("request", request, response))
      return server
    })
  )
}
