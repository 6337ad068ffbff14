import { createHmac, timingSafeEqual } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import { setTimeout as wait } from "node:timers/promises"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { HttpRefusal, readBody } from "../http/JsonServer.ts"
import { openCertificateAuthority } from "./CertificateAuthority.ts"

/** A talking agent that serves. */
export interface Agent {
  /** https, on 127.0.0.1, with the path of the plain answer. */
  readonly url: string
  readonly port: number
  /** The PEM file with the authority that a client has to trust. */
  readonly caFile: string
  /** The callbacks it got, oldest first. */
  readonly messages: () => ReadonlyArray<ReceivedMessage>
  readonly close: () => Promise<void>
}

export interface AgentOptions {
  /** Where its certificate authority is kept. */
  readonly dataDir: string
  /** 0, which is the default, takes a free port. */
  readonly port?: number
  /** A number's callback secret: callbacks that are not signed with it are refused then. */
  readonly secret?: string
}

export interface ReceivedMessage {
  readonly at: string
  readonly path: string
  readonly timestamp: string | undefined
  readonly signature: string | undefined
  readonly body: unknown
}

/** What the agent needs of a callback; there may be more in it. */
const AgentMessage = Schema.Struct({
  type: Schema.Literal("agent.message"),
  turn: Schema.Struct({ text: Schema.String })
})
const decode = Schema.decodeUnknownResult(Schema.fromJsonString(AgentMessage))

const messagesMax = 1_000
/** Between the pieces of a streamed answer. */
const pieceMillis = 20
/** How old a signature may be, in seconds. */
const ageMax = 300

/**
 * Starts the sandbox's own agent behind a number: it answers each turn by repeating it. POST to `/` is answered with
 * `{"text": "You said: …"}`, to `/stream` with the same in pieces (NDJSON), and to `/hangup` with that and
 * `"hangup": true`. GET /messages lists what it got. Rejects when the port can't be had.
 */
export const startAgent = async (options: AgentOptions): Promise<Agent> => {
  const { caFile, certificate, privateKey } = await openCertificateAuthority(options.dataDir)
  const messages: Array<ReceivedMessage> = []
  const server = createServer({ key: privateKey, cert: certificate }, (request, response) => {
    serve(options.secret, messages, request, response).catch((error: unknown) => {
      if (response.headersSent) return response.destroy()
      const status = error instanceof HttpRefusal ? error.status : 500
      if (status === 500) console.error(error)
      response.writeHead(status, { "Content-Type": "application/json", Connection: "close" })
      return response.end(JSON.stringify({ error: error instanceof HttpRefusal ? error.message : "internal error" }))
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen(options.port ?? 0, "127.0.0.1", resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `https://127.0.0.1:${port}/`,
    port,
    caFile,
    messages: () => messages,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}

const serve = async (
  secret: string | undefined,
  messages: Array<ReceivedMessage>,
  request: IncomingMessage,
  response: ServerResponse
): Promise<void> => {
  const [path = ""] = (request.url ?? "").split("?", 1)
  if (request.method === "GET" && path === "/messages") return json(response, { messages })
  if (!["/", "/stream", "/hangup"].includes(path)) throw new HttpRefusal(404, "no such route")
  if (request.method !== "POST") throw new HttpRefusal(405, "method not allowed")
  const body = (await readBody(request)).toString()
  const [timestamp, signature] = [header(request, "x-service-timestamp"), header(request, "x-service-signature")]
  if (secret !== undefined && !isSigned(secret, timestamp, signature, body)) {
    throw new HttpRefusal(401, "not signed with this number's secret")
  }
  const message = decode(body)
  if (Result.isFailure(message)) throw new HttpRefusal(400, "no agent.message")
  messages.push({ at: new Date().toISOString(), path, timestamp, signature, body: JSON.parse(body) as unknown })
  if (messages.length > messagesMax) messages.shift()
  const text = `You said: ${message.success.turn.text}`
  if (path === "/stream") return stream(response, text)
  return json(response, path === "/hangup" ? { text, hangup: true } : { text })
}

const header = (request: IncomingMessage, name: string): string | undefined => {
  const value = request.headers[name]
  return Array.isArray(value) ? value[0] : value
}

/** `v1=` and the hex HMAC-SHA256, under the number's secret, of the time in unix seconds, a dot, and the body. */
const isSigned = (
  secret: string,
  timestamp: string | undefined,
  signature: string | undefined,
  body: string
): boolean => {
  if (timestamp === undefined || signature === undefined || !/^\d{1,12}$/.test(timestamp)) return false
  if (Math.abs(Date.now() / 1_000 - Number(timestamp)) > ageMax) return false
  const expected = Buffer.from(`v1=${createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex")}`)
  const given = Buffer.from(signature)
  return given.length === expected.length && timingSafeEqual(given, expected)
}

const json = (response: ServerResponse, body: unknown): void => {
  response.writeHead(200, { "Content-Type": "application/json" })
  response.end(JSON.stringify(body))
}

const stream = async (response: ServerResponse, text: string): Promise<void> => {
  response.writeHead(200, { "Content-Type": "application/x-ndjson" })
  for (const piece of text.match(/\S+\s*/g) ?? []) {
    response.write(`${JSON.stringify({ text: piece })}\n`)
    await wait(pieceMillis)
  }
  response.end()
}
