/** An agent that answers phone calls at a public URL: it verifies each callback and streams its reply. */
import { AgentOs } from "@agentos/client"
import { createHmac, timingSafeEqual } from "node:crypto"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer } from "node:https"
import { dirname } from "node:path"
import { text } from "node:stream/consumers"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { privateKeyToAccount } from "viem/accounts"

const option = { type: "string" } as const
const options = { key: option, cert: option, port: option, url: option, sandbox: option, state: option, wallet: option }
const { values } = parseArgs({ options })
const { cert = "cert.pem", key = "key.pem", port = "9443", sandbox, state, url, wallet: index = "0" } = values
const sandboxFile = sandbox ?? new URL("../../../.agentos/sandbox.json", import.meta.url)

// The service and the paying wallet: from the environment, or from a sandbox on this machine.
const { AGENTOS_BASE_URL, AGENTOS_PRIVATE_KEY } = process.env
const readSandbox = () => JSON.parse(readFileSync(sandboxFile, "utf8"))
const baseUrl: string = AGENTOS_BASE_URL ?? readSandbox().baseUrl
const wallet = privateKeyToAccount(AGENTOS_PRIVATE_KEY ?? readSandbox().wallets[Number(index)].privateKey)
const agent = await AgentOs.connect(baseUrl, { wallet, spend: { perCall: "5.00", perDay: "8.00" } })
// A file for each wallet, because another wallet has another number.
const stateFile = state ?? fileURLToPath(new URL(`../.agentos/number-${wallet.address}.json`, import.meta.url))

/** Returns the number of an earlier run and its secret; undefined if this wallet has no such number here. */
const knownNumber = async (): Promise<{ number: string; secret: string } | undefined> => {
  if (!existsSync(stateFile)) return undefined
  const known = JSON.parse(readFileSync(stateFile, "utf8"))
  return (await agent.phoneNumbers.find(known.number)) && known
}

/** Buys a US number, whose callbacks go to a URL, and ten minutes of calls to it. */
const buyNumber = async (agentWebhookUrl: string) => {
  const { callbackVerificationSecret, number, phoneNumberId } = await agent.call("purchaseUsNumber", {
    agentName: "Answering agent",
    agentWebhookUrl,
    beginMessage: "Hello, this is an agent."
  })
  // The secret is shown only now: the service signs the callbacks with it.
  mkdirSync(dirname(stateFile), { recursive: true })
  const bought = { number, secret: callbackVerificationSecret }
  writeFileSync(stateFile, JSON.stringify(bought), { mode: 0o600 })
  await agent.call("addInboundMinutes", { phoneNumberId })
  return bought
}

const { number, secret } = (await knownNumber()) ?? (await buyNumber(url ?? `https://127.0.0.1:${port}/`))

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
  if (/\bbye\b/i.test(said)) return yield { text: "Goodbye.", hangup: true }
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
