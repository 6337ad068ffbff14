import { type ClientRequest, type IncomingMessage, request as httpRequest } from "node:http"
import { Agent, type AgentOptions, request as httpsRequest } from "node:https"
import type { Socket } from "node:net"
import { AgentUnreachable } from "@agentos/core"
import { Effect, type Scope } from "effect"
import { BadAnswer } from "./AnswerReader.ts"
import type { CallbackUrl } from "./CallbackUrl.ts"
import { lookupOf, mayBeConnected, NotPublic, type ResolveHost } from "./HostAddresses.ts"

/** Maximum size of an answer's status line and headers, in bytes. */
const HEAD_MAX = 16_384
/**
 * Limits of all that a connection receives until the answer has ended: interim answers, headers, framing and body count.
 * Each unit costs processor time, however small it is.
 */
const INTERIM_MAX = 8
const WIRE_BYTES_MAX = 131_072
const READS_MAX = 4_096
/** TLS 1.3 servers offer tickets after the handshake, usually two. */
const TICKETS_MAX = 16

export interface Exchange {
  readonly agent: Agent
  readonly resolve: ResolveHost
  readonly target: CallbackUrl
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Reads the answer, and calls `done` at its end, or earlier if the rest is not needed or reading fails. */
  readonly read: (response: IncomingMessage, done: (error?: Error) => void) => void
}

/** Opens the connections that exchanges keep for later ones. They close with the scope. */
export const openConnections = (limits: AgentOptions): Effect.Effect<Agent, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => new Agent({ keepAlive: true, ...limits })),
    (agent) => Effect.sync(() => agent.destroy())
  )

export const unreachable = (reason: AgentUnreachable["reason"], message: string) =>
  new AgentUnreachable({ reason, message })

const codeOf = (error: Error): string => {
  const code = "code" in error && typeof error.code === "string" ? error.code : ""
  return /^[A-Z][A-Z0-9_]{1,60}$/.test(code) ? code : "no code"
}

/** Reports only the tenant's host and an error code, because a message of Node may contain addresses. */
const toUnreachable = (host: string, error: Error): AgentUnreachable => {
  if (error instanceof AgentUnreachable) return error
  if (error instanceof BadAnswer) return unreachable("answer", `The answer of ${host} ${error.message}.`)
  if (error instanceof NotPublic)
    return unreachable("address", `The host ${host} has no address on the public internet.`)
  const code = codeOf(error)
  return code.startsWith("HPE_")
    ? unreachable("answer", `The answer of ${host} is not HTTP as it has to be (${code}).`)
    : unreachable("connection", `The connection to ${host} failed (${code}).`)
}

/**
 * Checks the peer before the first byte of the request is sent: on connect for a new connection, at once for a kept
 * one.
 */
const checkSocket = (socket: Socket, isAllowed: boolean, refuse: (why: Error) => void): void => {
  const check = () => {
    const { remoteAddress } = socket
    // If the peer has closed the connection, its address is unknown, whether public or not.
    if (remoteAddress === undefined) refuse(Object.assign(new Error("the peer has gone"), { code: "ECONNRESET" }))
    else if (!mayBeConnected(remoteAddress, isAllowed)) refuse(new NotPublic("connected to no public address"))
  }
  if (socket.connecting) socket.once("connect", check)
  else check()
}

/** Limits the traffic that the connection receives for this request. Returns the function that ends the count. */
const limitReceived = (request: ClientRequest, socket: Socket, refuse: (why: BadAnswer) => void): (() => void) => {
  let bytes = 0
  let reads = 0
  let tickets = 0
  let interims = 0
  const onData = (piece: Buffer) => {
    bytes += piece.length
    if (bytes > WIRE_BYTES_MAX) refuse(new BadAnswer(`takes more than ${WIRE_BYTES_MAX} bytes on the wire`))
    else if (++reads > READS_MAX) refuse(new BadAnswer(`arrives in more than ${READS_MAX} pieces`))
  }
  const onTicket = () => {
    if (++tickets > TICKETS_MAX) refuse(new BadAnswer(`comes with more than ${TICKETS_MAX} TLS session tickets`))
  }
  request.on("information", () => {
    if (++interims > INTERIM_MAX) refuse(new BadAnswer(`has more than ${INTERIM_MAX} interim responses`))
  })
  // Before the HTTP parser's listener, which handles all responses in a piece at once.
  socket.prependListener("data", onData)
  socket.on("session", onTicket)
  return () => {
    socket.off("data", onData)
    socket.off("session", onTicket)
  }
}

/**
 * Performs one request. Fails with the reason if there is no complete answer. The connection is closed if the exchange
 * is interrupted or ends before the answer does; otherwise it is kept for the next request.
 */
export const exchangeOnce = (exchange: Exchange): Effect.Effect<void, AgentUnreachable> =>
  Effect.callback((resume) => {
    const { target } = exchange
    const { ca, isAllowed } = target
    const options = {
      method: "POST",
      host: target.host,
      port: target.port,
      path: target.path,
      headers: exchange.headers,
      maxHeaderSize: HEAD_MAX,
      lookup: lookupOf(exchange.resolve, isAllowed)
    }
    const request = target.isPlain
      ? httpRequest({ ...options, agent: false })
      : httpsRequest({
          ...options,
          agent: exchange.agent,
          rejectUnauthorized: true,
          minVersion: "TLSv1.2",
          ...(ca === undefined ? {} : { ca })
        })
    let isDone = false
    let endCount: () => void = () => undefined
    const finish = (isWhole: boolean, error?: Error) => {
      if (isDone) return
      isDone = true
      endCount()
      if (!isWhole) request.destroy()
      resume(error === undefined ? Effect.void : Effect.fail(toUnreachable(target.host, error)))
    }
    request.on("socket", (socket) => {
      checkSocket(socket, isAllowed, (why) => request.destroy(why))
      endCount = limitReceived(request, socket, (why) => finish(false, why))
    })
    request.on("error", (error) => finish(false, error))
    request.on("response", (response) =>
      exchange.read(response, (error) => finish(error === undefined && response.complete, error))
    )
    request.end(exchange.body)
    return Effect.sync(() => {
      isDone = true
      endCount()
      request.destroy()
    })
  })
