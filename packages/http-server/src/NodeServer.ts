import { REALTIME_PATH } from "@agentos/api"
import { Context, Effect, Layer } from "effect"
import { type IncomingMessage, Server, type ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { answerBrokenRequest } from "./edge/BrokenRequests.ts"
import { HEADER_COUNT_LIMIT, HEADERS_LIMIT_BYTES, pathOf } from "./edge/RequestLimits.ts"
import { isRelay } from "./webhook/WebhookPath.ts"

/** How long a client may take over its headers, and over the whole request, in milliseconds. */
const HEADERS_TIMEOUT = 15_000
const REQUEST_TIMEOUT = 60_000
/** How often connections are looked at for that. */
const CHECK_EVERY = 5_000
/** Longer than load balancers keep an idle connection, so that they end it and not we, under a request. */
const KEEP_ALIVE_TIMEOUT = 75_000

/** Requests of one connection that wait for their answers. */
const PIPELINED_MAX = 16

/** Of a body that nobody reads, no more than one read of its socket is parsed: it may be in chunks of one byte. */
const UNREAD_BYTES = 8 * 1024

/** Two kinds of sockets speak another protocol; a wish for one elsewhere is passed over, as HTTP allows. */
const isUpgrade = ({ headers, url }: IncomingMessage): boolean => {
  const path = pathOf(url ?? "")
  return (path === REALTIME_PATH || isRelay(path)) && headers.upgrade?.toLowerCase() === "websocket"
}

/**
 * A server that answers at most 16 requests of a connection at a time. Node parses all that one read of a socket holds,
 * 2,000 small requests, before anything else runs. What is beyond is dropped, and the connection is closed after the
 * answers to the others. Emits `dropRequest` for the first request that is dropped.
 */
class BoundedServer extends Server {
  readonly #waiting = new WeakMap<Socket, number>()

  override emit(event: string | symbol, ...given: Array<unknown>): boolean {
    if (event === "request" && this.#isExcess(given[0] as IncomingMessage, given[1] as ServerResponse)) return true
    return super.emit(event as string, ...(given as []))
  }

  #isExcess(request: IncomingMessage, response: ServerResponse): boolean {
    const { socket } = request
    const count = (this.#waiting.get(socket) ?? 0) + 1
    this.#waiting.set(socket, count)
    if (count === PIPELINED_MAX + 1) super.emit("dropRequest", request, socket)
    if (count > PIPELINED_MAX) return true
    response.once("close", () => this.#waiting.set(socket, (this.#waiting.get(socket) ?? 0) - 1))
    if (count === PIPELINED_MAX) response.setHeader("Connection", "close")
    return false
  }
}

/** Node's own server, on which HTTP requests and WebSocket upgrades share one port. */
export class NodeServer extends Context.Service<NodeServer, Server>()("@agentos/http-server/NodeServer") {
  /** A server that does not listen yet. */
  static readonly layer = Layer.effect(
    NodeServer,
    Effect.sync(() => {
      const server = new BoundedServer({
        maxHeaderSize: HEADERS_LIMIT_BYTES,
        headersTimeout: HEADERS_TIMEOUT,
        requestTimeout: REQUEST_TIMEOUT,
        connectionsCheckingInterval: CHECK_EVERY,
        keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
        noDelay: true,
        highWaterMark: UNREAD_BYTES,
        // Asked for at the edge, which answers in the envelope.
        requireHostHeader: false,
        shouldUpgradeCallback: isUpgrade
      })
      // Node drops what is beyond silently; the edge refuses requests with fewer.
      server.maxHeadersCount = 2 * HEADER_COUNT_LIMIT
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
