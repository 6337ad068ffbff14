import { Timestamp } from "@agentos/core"
import {
  readRelayMessage,
  type RelayInbound,
  Twiml,
  TwilioSignature,
  type WebhookAddresses,
  webhookAddresses,
  WebhookForm,
  writeRelayMessage
} from "@agentos/provider-twilio"
import { Option, Redacted } from "effect"
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import { onTestFinished } from "vitest"
import { type WebSocket, WebSocketServer } from "ws"

/** What the service's side of a carrier was told, read by the adapter. */
export interface TwilioSide {
  readonly url: string
  readonly addresses: WebhookAddresses
  /** Requests and handshakes whose signature did not hold. */
  readonly forged: Array<string>
  readonly arrivals: Array<ReturnType<typeof WebhookForm.readVoice>>
  readonly answers: Array<ReturnType<typeof WebhookForm.readAnswer>>
  /** By our id of the call; empty for inbound ones. */
  readonly news: Array<{ readonly callId: string; readonly report: WebhookForm.StatusReport["report"] }>
  readonly relayEnds: Array<ReturnType<typeof WebhookForm.readRelayEnd>>
  readonly messages: Array<RelayInbound>
}

/** A service that speaks with the adapter's parts alone. It answers calls while they are welcome, and does as it is told. */
export const startTwilioSide = async (authToken: string, isWelcome: () => boolean): Promise<TwilioSide> => {
  const token = Redacted.make(authToken)
  const answering = createServer()
  await new Promise<void>((resolve) => answering.listen(0, "127.0.0.1", resolve))
  const url = `http://127.0.0.1:${(answering.address() as AddressInfo).port}`
  const addresses = webhookAddresses(url)
  const side: TwilioSide = {
    url,
    addresses,
    forged: [],
    arrivals: [],
    answers: [],
    news: [],
    relayEnds: [],
    messages: []
  }
  const check = (request: IncomingMessage, address: string, form: URLSearchParams) => {
    const header = request.headers[TwilioSignature.SIGNATURE_HEADER]
    const isOurs = typeof header === "string" && TwilioSignature.verify(token, address, form, header)
    if (!isOurs) side.forged.push(address)
  }
  answering.on("request", (request, response) => {
    void text(request).then((body) => {
      const form = new URLSearchParams(body)
      check(request, `${url}${request.url}`, form)
      response.setHeader("Content-Type", Twiml.TWIML_TYPE)
      response.end(answerTo(side, request.url ?? "", form, isWelcome()))
    })
  })
  const sockets = new WebSocketServer({ noServer: true })
  answering.on("upgrade", (request, socket, head) => {
    check(request, `${url.replace("http", "ws")}${request.url}`, new URLSearchParams())
    sockets.handleUpgrade(request, socket, head, (webSocket) => converse(side, webSocket))
  })
  onTestFinished(async () => {
    for (const client of sockets.clients) client.terminate()
    answering.closeAllConnections()
    await new Promise<void>((resolve) => answering.close(() => resolve()))
  })
  return side
}

const answerTo = (side: TwilioSide, path: string, form: URLSearchParams, isWelcome: boolean): string => {
  const [, kind, callId = ""] = /^\/webhooks\/twilio\/(\w+)(?:\/([^/]+))?$/.exec(path) ?? []
  const connected = (id: string) =>
    Twiml.connect({
      relayUrl: side.addresses.relay(Redacted.make(`token-of-${id}`)),
      actionUrl: side.addresses.resume(id),
      language: "en-US",
      voice: `"Ada" & <co>`
    })
  switch (kind) {
    case "voice":
      side.arrivals.push(WebhookForm.readVoice(form))
      return isWelcome ? connected("inbound") : Twiml.decline
    case "answer":
      side.answers.push(WebhookForm.readAnswer(form))
      return isWelcome ? connected(callId) : Twiml.end
    case "status": {
      const news = Option.getOrThrow(WebhookForm.readStatus(form, Timestamp.Timestamp.make(0)))
      side.news.push({ callId, report: news.report })
      return ""
    }
    case "resume": {
      const end = WebhookForm.readRelayEnd(form)
      side.relayEnds.push(end)
      return Option.getOrThrow(end).outcome === "Broken" ? connected(callId) : Twiml.end
    }
    default:
      throw new Error(`nobody asked for ${path}`)
  }
}

const converse = (side: TwilioSide, socket: WebSocket): void => {
  const say = (token: string) => socket.send(writeRelayMessage({ type: "text", token, last: true }))
  socket.on("message", (data) => {
    const message = Option.getOrThrow(readRelayMessage((data as Buffer).toString()))
    side.messages.push(message)
    if (message.type === "setup") say("Good day.")
    if (message.type === "prompt" && message.voicePrompt === "Break it.") return socket.terminate()
    if (message.type === "prompt" && message.voicePrompt === "End it.") {
      return socket.send(writeRelayMessage({ type: "end" }))
    }
    if (message.type === "prompt") say(`You said: ${message.voicePrompt}`)
  })
}
