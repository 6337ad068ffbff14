import { createHmac, timingSafeEqual } from "node:crypto"
import type { IncomingMessage } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { HttpError, type HttpResult, type JsonServer, ok, readBody, startJsonServer } from "../shared/JsonServer.ts"
import { openCertificateAuthority } from "./CertificateAuthority.ts"

/** A running test agent. Its url is the webhook on 127.0.0.1 that answers with plain JSON. */
export interface Agent extends JsonServer {
  /** The PEM file of the certificate authority that clients must trust. */
  readonly caFile: string
  /** Returns the received callbacks, oldest first. */
  readonly messages: () => ReadonlyArray<ReceivedMessage>
}

export interface AgentOptions {
  /** The directory of its certificate authority. */
  readonly dataDir: string
  /** 0, the default, selects a free port. */
  readonly port?: number
  /** A number's callback secret. If set, callbacks without a valid signature are rejected. */
  readonly secret?: string
}

export interface ReceivedMessage {
  readonly at: string
  readonly path: string
  readonly timestamp: string | undefined
  readonly signature: string | undefined
  readonly body: unknown
}

/** The used fields of a callback. */
const AgentMessage = Schema.Struct({
  type: Schema.Literal("agent.message"),
  turn: Schema.Struct({ text: Schema.String })
})
const decode = Schema.decodeUnknownResult(Schema.fromJsonString(AgentMessage))

const messagesMax = 1_000
/** The delay between the chunks of a streamed reply. */
const chunkMillis = 20
/** The maximum age of a signature. */
const ageSecondsMax = 300

/**
 * Starts the sandbox's test agent, the webhook of phone numbers, which repeats each turn. POST / returns
 * `{"text": "You said: …"}`, POST /stream the same in chunks (NDJSON), and POST /hangup adds `"hangup": true`.
 * GET /messages lists the received callbacks. Rejects if the port is not available.
 */
export const startAgent = async ({ dataDir, port = 0, secret }: AgentOptions): Promise<Agent> => {
  const { caFile, certificate, privateKey } = await openCertificateAuthority(dataDir)
  const messages: Array<ReceivedMessage> = []
  const server = await startJsonServer({
    routes: (request) => answer(secret, messages, request),
    port,
    tls: { key: privateKey, cert: certificate }
  })
  return { ...server, url: `${server.url}/`, caFile, messages: () => messages }
}

const answer = async (
  secret: string | undefined,
  messages: Array<ReceivedMessage>,
  request: IncomingMessage
): Promise<HttpResult> => {
  const [path = ""] = (request.url ?? "").split("?", 1)
  if (request.method === "GET" && path === "/messages") return ok({ messages })
  if (!["/", "/stream", "/hangup"].includes(path)) throw new HttpError(404, "no such route")
  if (request.method !== "POST") throw new HttpError(405, "method not allowed")
  const body = (await readBody(request)).toString()
  const [timestamp, signature] = [header(request, "x-service-timestamp"), header(request, "x-service-signature")]
  if (secret !== undefined && !isSigned(secret, timestamp, signature, body)) {
    throw new HttpError(401, "the signature does not match the number's secret")
  }
  const message = decode(body)
  if (Result.isFailure(message)) throw new HttpError(400, "the body is not an agent.message")
  messages.push({ at: new Date().toISOString(), path, timestamp, signature, body: JSON.parse(body) as unknown })
  if (messages.length > messagesMax) messages.shift()
  const text = `You said: ${message.success.turn.text}`
  if (path === "/stream") return { status: 200, lines: chunksOf(text) }
  return ok(path === "/hangup" ? { text, hangup: true } : { text })
}

const header = (request: IncomingMessage, name: string): string | undefined => {
  const value = request.headers[name]
  return Array.isArray(value) ? value[0] : value
}

/** The signature is `v1=` and the hex HMAC-SHA256 of `timestamp.body` under the number's secret. */
const isSigned = (
  secret: string,
  timestamp: string | undefined,
  signature: string | undefined,
  body: string
): boolean => {
  if (timestamp === undefined || signature === undefined || !/^\d{1,12}$/.test(timestamp)) return false
  if (Math.abs(Date.now() / 1_000 - Number(timestamp)) > ageSecondsMax) return false
  const expected = Buffer.from(`v1=${createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex")}`)
  const actual = Buffer.from(signature)
  return actual.length === expected.length && timingSafeEqual(actual, expected)
}

async function* chunksOf(text: string): AsyncGenerator<{ readonly text: string }> {
  for (const chunk of text.match(/\S+\s*/g) ?? []) {
    yield { text: chunk }
    await sleep(chunkMillis)
  }
}
