import { createHmac } from "node:crypto"
import { WebSocket } from "ws"
import { call, callPaid, dataOf, freshWallet, type TestAnswer, textAt } from "../support/TestClient.ts"
import type { TestServer } from "../support/TestServer.ts"

/** The account's secret, and the server's public URL as known to the carrier. */
export const CARRIER_TOKEN = "0123456789abcdef0123456789abcdef"
export const PUBLIC_URL = "http://agentos.test"

/** Signs as https://www.twilio.com/docs/usage/security describes, for forms without repeated fields. */
export const signatureOf = (
  url: string,
  form: Readonly<Record<string, string>> = {},
  token = CARRIER_TOKEN,
  hash = "sha1"
): string => {
  const fields = Object.entries(form).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const text = url + fields.map(([name, value]) => `${name}${value}`).join("")
  return createHmac(hash, token).update(text).digest("base64")
}

const FORM_TYPE = "application/x-www-form-urlencoded"

/** Sends a request like the carrier. Other headers simulate another sender. */
export const ask = (
  server: TestServer,
  path: string,
  form: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {}
): Promise<TestAnswer> =>
  call(server, "POST", path, {
    body: new URLSearchParams(form).toString(),
    headers: {
      "content-type": `${FORM_TYPE}; charset=UTF-8`,
      "x-twilio-signature": signatureOf(`${PUBLIC_URL}${path}`, form),
      ...headers
    }
  })

/** Creates a wallet that has bought a number, and returns it with its token. */
export const newNumber = async (server: TestServer, more: Readonly<Record<string, string>> = {}) => {
  const wallet = freshWallet()
  const body = { agentName: "Ada", agentWebhookUrl: "https://agent.example/voice", ...more }
  const answer = await callPaid(server, "/api/v1/phone/purchase-us-number-30-days", { body }, wallet)
  const data = dataOf(answer)
  return {
    wallet,
    token: textAt(data, "authentication", "accessToken"),
    phoneNumberId: textAt(data, "phoneNumberId"),
    number: textAt(data, "number")
  }
}
export type BoughtNumber = Awaited<ReturnType<typeof newNumber>>

/** Places a call of one minute. Returns its id, and the carrier's id. */
export const placeCall = async (
  server: TestServer,
  number: BoughtNumber,
  more: Readonly<Record<string, string>> = {}
) => {
  const body = { phoneNumberId: number.phoneNumberId, toNumber: "+12025550150", ...more }
  const answer = await callPaid(server, "/api/v1/phone/call-1-minute", { body, token: number.token }, number.wallet)
  const callId = textAt(dataOf(answer), "call", "callId")
  const placed = server.carrier.calls.find((one) => one.callId === callId)
  if (placed === undefined) throw new Error("the carrier was not asked to place the call")
  return { callId, providerCallId: placed.providerCallId }
}
export type PlacedCall = Awaited<ReturnType<typeof placeCall>>

/** Simulates that the called person answers. Returns the response to the carrier and the path of its relay. */
export const answerCall = async (server: TestServer, { callId, providerCallId }: PlacedCall) => {
  const form = { CallSid: providerCallId, CallStatus: "in-progress", From: "+14155550100", To: "+12025550150" }
  const answer = await ask(server, `/webhooks/twilio/answer/${callId}`, form)
  return { answer, relay: relayOf(answer.text) }
}

/** Returns the path of the relay that a TwiML document connects to. */
export const relayOf = (twiml: string): string =>
  new RegExp(`url="${PUBLIC_URL.replace("http", "ws")}([^"]*)"`).exec(twiml)?.[1] ?? ""

/** The carrier's end of a relay. */
export class RelayClient {
  readonly socket: WebSocket
  readonly received: Array<unknown> = []
  readonly closed: Promise<number>

  constructor(port: number, path: string, signature = signatureOf(`${PUBLIC_URL.replace("http", "ws")}${path}`)) {
    this.socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers: { "X-Twilio-Signature": signature } })
    this.socket.on("message", (data: Buffer) => this.received.push(JSON.parse(data.toString("utf8"))))
    this.closed = new Promise((resolve) => this.socket.once("close", resolve))
  }

  /** The status of the handshake: 101, or that of the refusal. */
  get status(): Promise<number> {
    return new Promise((resolve) => {
      this.socket.once("open", () => resolve(101))
      this.socket.once("unexpected-response", (request, response) => {
        resolve(response.statusCode ?? 0)
        request.destroy()
      })
      this.socket.on("error", () => resolve(0))
    })
  }

  send(...messages: ReadonlyArray<unknown>): void {
    for (const message of messages) this.socket.send(JSON.stringify(message))
  }

  setUp(callSid: string): void {
    this.send({ type: "setup", sessionId: "VX1", callSid, accountSid: "AC1", direction: "inbound" })
  }

  say(voicePrompt: string): void {
    this.send({ type: "prompt", voicePrompt, lang: "en-US", last: true })
  }
}
