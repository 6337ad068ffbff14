/** An agent that answers phone calls: it verifies each callback and streams its reply sentence by sentence. */
import { createHmac, timingSafeEqual } from "node:crypto"
import { readFileSync } from "node:fs"
import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer } from "node:https"
import { text } from "node:stream/consumers"
import { setTimeout as sleep } from "node:timers/promises"
import { parseArgs } from "node:util"
import { buyNumber } from "./buyNumber.ts"

const option = { type: "string" } as const
const options = { key: option, cert: option, port: option, url: option, sandbox: option }
const { cert = "cert.pem", key = "key.pem", port = "9443", sandbox, url } = parseArgs({ options }).values
const sandboxFile = sandbox ?? new URL("../../../.agentos/sandbox.json", import.meta.url)

// The number's secret, which the service shows only once, when the number is bought. It signs the callbacks with it.
const { AGENTOS_CALLBACK_SECRET } = process.env
const { number, secret } = AGENTOS_CALLBACK_SECRET
  ? { number: "its number", secret: AGENTOS_CALLBACK_SECRET }
  : await buyNumber(url ?? `https://127.0.0.1:${port}/`, sandboxFile)

const bodyBytesMax = 1_048_576
const ageSecondsMax = 300

const isSigned = ({ headers }: IncomingMessage, body: string): boolean => {
  const timestamp = String(headers["x-service-timestamp"])
  const actual = Buffer.from(String(headers["x-service-signature"]))
  const hmac = createHmac("sha256", secret).update(`${timestamp}.${body}`)
  const expected = Buffer.from(`v1=${hmac.digest("hex")}`)
  // An old callback cannot be replayed.
  const isFresh = Math.abs(Date.now() / 1_000 - Number(timestamp)) <= ageSecondsMax
  return isFresh && actual.length === expected.length && timingSafeEqual(actual, expected)
}

/** In place of a model. Each part is spoken while the next one is generated. */
const reply = async function* (said: string): AsyncGenerator<{ text: string; hangup?: boolean }> {
  if (/\bbye\b/i.test(said)) yield { text: "Goodbye.", hangup: true }
  yield { text: `You said: ${said} ` }
  await sleep(200)
  yield { text: "Say bye when that is all." }
}

const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const isSmall = Number(request.headers["content-length"]) <= bodyBytesMax
  const body = isSmall ? await text(request) : ""
  if (!isSigned(request, body)) return void response.writeHead(401, { Connection: "close" }).end()
  const { from, turn } = JSON.parse(body)
  console.log(`${from}: ${turn.text}`)
  response.writeHead(200, { "Content-Type": "application/x-ndjson" })
  for await (const part of reply(turn.text)) response.write(`${JSON.stringify(part)}\n`)
  response.end()
}

const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (request, response) => {
  handle(request, response).catch(() => response.destroy())
})
server.listen(Number(port), () => console.log(`waiting for calls to ${number}`))
