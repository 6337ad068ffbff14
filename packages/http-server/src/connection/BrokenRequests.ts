import {
  type ApiError,
  HeadersTooLarge,
  RateLimited,
  RequestTimedOut,
  ServerStopping,
  toWireError,
  UpgradeRequired,
  UriTooLong
} from "@agentos/api"
import { invalid, InvalidRequest } from "@agentos/core"
import { randomUUID } from "node:crypto"
import { STATUS_CODES } from "node:http"
import type { Duplex } from "node:stream"
import { HEADERS_LIMIT_BYTES, TARGET_LIMIT_BYTES } from "../edge/RequestLimits.ts"
import { COMMON_HEADERS } from "../edge/ResponseHeaders.ts"

/** Node's error for a request that it could not parse. */
export interface ReadingError extends Error {
  readonly code?: string
  /** The bytes in which parsing failed. */
  readonly rawPacket?: Uint8Array
}

/** How long a client may read the response and close its half of the connection, in milliseconds. */
const LINGER = 1_000

const notHttp = new InvalidRequest({ message: "The request is not valid HTTP/1.1", issues: [] })

/** RFC 9112, section 6.3: the length is ambiguous, and the bytes that follow may be another request. */
const lengthAmbiguous = invalid(
  "Content-Length",
  "appears more than once, or together with Transfer-Encoding. Send Content-Length once and no Transfer-Encoding"
)

/** Returns whether the first line alone is longer than a target may be. */
const isTargetTooLong = (packet: Uint8Array | undefined): boolean => {
  const lineEnd = packet?.indexOf(0x0a) ?? 0
  return lineEnd === -1 || lineEnd > TARGET_LIMIT_BYTES
}

const apiErrorOf = ({ code, rawPacket }: ReadingError): ApiError => {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return isTargetTooLong(rawPacket)
        ? new UriTooLong({ limitBytes: TARGET_LIMIT_BYTES })
        : new HeadersTooLarge({ limitBytes: HEADERS_LIMIT_BYTES })
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new RequestTimedOut()
    case "HPE_UNEXPECTED_CONTENT_LENGTH":
      return lengthAmbiguous
    default:
      return notHttp
  }
}

/**
 * Answers a request that could not be parsed, in the envelope like all others, and closes its connection, because the
 * start of a next request on it is unknown.
 */
export const answerBrokenRequest = (error: ReadingError, socket: Duplex): void => {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy()
    return
  }
  refuse(apiErrorOf(error), socket)
}

/** Answers a handshake that violates the WebSocket protocol, also in the envelope, and names the supported version. */
export const answerBrokenHandshake = (socket: Duplex): void =>
  refuse(new UpgradeRequired(), socket, { "sec-websocket-version": "13" })

/**
 * Answers a handshake that exceeds a rate limit. Nothing is left to read from it, so its connection is closed at once.
 */
export const answerRefusedHandshake = (socket: Duplex, retryAfterSeconds: number): void => {
  socket.end(errorText(new RateLimited({ retryAfterSeconds })), () => socket.destroy())
}

/** A response that does not pass through the routes. Its connection is closed afterwards. */
interface BareResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const bareResponse = (error: ApiError, more: Readonly<Record<string, string>> = {}): BareResponse => {
  const requestId = randomUUID()
  const { body, headers, status } = toWireError(error, {
    requestId,
    method: "",
    path: "",
    entry: null,
    capabilities: { email: false, phone: false },
    paymentState: "none"
  })
  const text = JSON.stringify(body)
  return {
    status,
    headers: {
      ...COMMON_HEADERS,
      ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
      ...more,
      connection: "close",
      "content-type": "application/json",
      "content-length": `${Buffer.byteLength(text)}`,
      "x-request-id": requestId
    },
    body: text
  }
}

/** Makes the response to a request that arrives after the server has begun to stop. */
export const stoppingResponse = (): BareResponse => bareResponse(new ServerStopping())

/** Formats the complete response to an error, after which the connection is closed. */
const errorText = (error: ApiError, more?: Readonly<Record<string, string>>): string => {
  const { body, headers, status } = bareResponse(error, more)
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...head, "", body].join("\r\n")
}

const refuse = (error: ApiError, socket: Duplex, more: Readonly<Record<string, string>> = {}): void => {
  socket.end(errorText(error, more))
  // The server's timeouts no longer apply to this socket. Closing it at once would be too early: data that the client
  // still sends would discard the response in transit.
  const lingering = setTimeout(() => socket.destroy(), LINGER).unref()
  socket.once("close", () => clearTimeout(lingering))
}
