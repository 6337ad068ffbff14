import { REALTIME_PATH } from "@agentos/api"
import { Ingress, type SocketEndpoint } from "@agentos/core"
import { Context, Effect, Layer } from "effect"
import { type IncomingMessage, Server, type ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { answerBrokenRequest } from "./BrokenRequests.ts"
import { LingeringClose } from "./LingeringClose.ts"
import { HEADER_COUNT_LIMIT, HEADERS_LIMIT_BYTES, pathOf } from "../edge/RequestLimits.ts"
import { matchPath } from "../edge/IngressPath.ts"

/** Time limits for receiving the headers and the whole request, in milliseconds. */
const HEADERS_TIMEOUT = 15_000
const REQUEST_TIMEOUT = 60_000
/** Interval between checks of those limits, in milliseconds. */
const CHECK_EVERY = 5_000
/**
 * In milliseconds. Longer than load balancers keep an idle connection, so that they close it first and no request is
 * cut.
 */
const KEEP_ALIVE_TIMEOUT = 75_000

/**
 * How long an idle connection of a stopping server may still bring a request, in milliseconds: the client may have sent it
 * before it could know.
 */
const LAST_REQUEST_WITHIN = 500

/** Maximum number of unanswered requests on one connection. */
const PIPELINED_MAX = 16

/** An unread body is parsed for at most one socket read, because it may consist of one-byte chunks. */
const UNREAD_BYTES = 8 * 1024

/** Only two kinds of paths accept WebSocket upgrades. An upgrade request elsewhere is ignored, as HTTP allows. */
const isUpgrade =
  (endpoints: ReadonlyArray<SocketEndpoint>) =>
  ({ headers, url }: IncomingMessage): boolean => {
    if (headers.upgrade?.toLowerCase() !== "websocket") return false
    const path = pathOf(url ?? "")
    return path === REALTIME_PATH || endpoints.some((endpoint) => matchPath(endpoint.path, path) !== undefined)
  }

interface Connection {
  /** Its requests that are being answered, in their order. */
  readonly unanswered: Array<ServerResponse>
  /** Whether a request was dropped. Then all that follow are. */
  hasDropped: boolean
}

/**
 * A server that answers at most 16 requests of a connection at a time. Node parses everything that one socket read
 * contains, up to 2,000 small requests, before anything else runs. Requests beyond the limit are dropped, and the
 * connection is closed after the other responses. Emits `dropRequest` for the first dropped request.
 *
 * `close` loses no request of a connection that is in use: the next response on each announces that it is the last one.
 */
class BoundedServer extends Server {
  /**
   * The connections that have brought a request. A set of all responses would change with each of them, and the tables that it
   * leaves behind would keep responses in memory until the next collection of old objects.
   */
  readonly #connections = new Map<Socket, Connection>()
  readonly #lingering = new LingeringClose()
  #isStopping = false
  /** False from `close` until `LAST_REQUEST_WITHIN` has passed. */
  #closesIdle = true

  override emit(event: string | symbol, ...given: Array<unknown>): boolean {
    if (event === "request") {
      const [request, response] = given as [IncomingMessage, ServerResponse]
      const connection = this.#connectionOf(request.socket)
      if (this.#isExcess(connection, request)) return true
      connection.unanswered.push(response)
      if (connection.unanswered.length === PIPELINED_MAX) response.setHeader("Connection", "close")
      response.once("close", () => this.#closed(connection, response))
      if (this.#isStopping) {
        // The same read of the socket may contain further requests: the first must not be answered as the last.
        this.#announceEnd()
        setImmediate(() => this.#handle(request, response))
        return true
      }
      return this.#handle(request, response)
    }
    return super.emit(event as string, ...(given as []))
  }

  #handle(request: IncomingMessage, response: ServerResponse): boolean {
    const isHandled = super.emit("request", request, response)
    this.#lingering.watch(request, response)
    return isHandled
  }

  override close(callback?: (error?: Error) => void): this {
    this.#isStopping = true
    this.#closesIdle = false
    this.#announceEnd()
    setTimeout(() => {
      this.#closesIdle = true
      this.closeIdleConnections()
    }, LAST_REQUEST_WITHIN).unref()
    return super.close(callback)
  }

  override closeIdleConnections(): void {
    if (this.#closesIdle) super.closeIdleConnections()
  }

  /** Makes the last response of each connection close it. The earlier ones of a pipeline keep it open. */
  #announceEnd(): void {
    for (const { unanswered } of this.#connections.values()) {
      for (const response of unanswered) response.shouldKeepAlive = response !== unanswered.at(-1)
    }
  }

  #connectionOf(socket: Socket): Connection {
    const known = this.#connections.get(socket)
    if (known !== undefined) return known
    const made: Connection = { unanswered: [], hasDropped: false }
    this.#connections.set(socket, made)
    socket.once("close", () => this.#connections.delete(socket))
    return made
  }

  #closed({ unanswered }: Connection, response: ServerResponse): void {
    unanswered.splice(unanswered.indexOf(response), 1)
    // Once the server has stopped listening, close each connection as soon as its response is sent.
    if (!this.listening) setImmediate(() => this.closeIdleConnections())
  }

  #isExcess(connection: Connection, request: IncomingMessage): boolean {
    if (connection.unanswered.length < PIPELINED_MAX && !connection.hasDropped) return false
    if (!connection.hasDropped) super.emit("dropRequest", request, request.socket)
    connection.hasDropped = true
    return true
  }
}

/** Node's own server. HTTP requests and WebSocket upgrades share one port. */
export class NodeServer extends Context.Service<NodeServer, Server>()("@agentos/http-server/connection/NodeServer") {
  /** A server that does not listen yet. */
  static readonly layer = Layer.effect(
    NodeServer,
    Effect.map(Ingress, (providers) => {
      const server = new BoundedServer({
        maxHeaderSize: HEADERS_LIMIT_BYTES,
        headersTimeout: HEADERS_TIMEOUT,
        requestTimeout: REQUEST_TIMEOUT,
        connectionsCheckingInterval: CHECK_EVERY,
        keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
        noDelay: true,
        highWaterMark: UNREAD_BYTES,
        // The edge checks for the header and answers in the envelope.
        requireHostHeader: false,
        shouldUpgradeCallback: isUpgrade(providers.flatMap(({ sockets }) => sockets))
      })
      // Node drops headers beyond this count silently; the edge refuses requests that have fewer than that but too
      // many.
      server.maxHeadersCount = 2 * HEADER_COUNT_LIMIT
      server.on("clientError", answerBrokenRequest)
      // Unknown expectations may be ignored (RFC 9110, section 10.1.1).
      server.on("checkExpectation", (request, response) => server.emit("request", request, response))
      return server
    })
  )
}
