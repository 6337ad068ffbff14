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

/** A webhook server that uses only the parts of the adapter, with everything that it received. */
export interface WebhookServer {
  readonly url: string
  readonly addresses: WebhookAddresses
  /** Requests and handshakes with an invalid signature. */
  readonly forged: Array<string>
  readonly inboundCalls: Array<ReturnType<typeof WebhookForm.readVoice>>
  readonly answers: Array<ReturnType<typeof WebhookForm.readAnswer>>
  /** With the service's id of the call; empty for inbound calls. */
  readonly statusReports: Array<{ readonly callId: string; readonly report: WebhookForm.StatusReport["report"] }>
  readonly relayEnds: Array<ReturnType<typeof WebhookForm.readRelayEnd>>
  readonly messages: Array<RelayInbound>
}

/** Starts the server. It answers calls while `acceptsCalls` returns true, and follows the caller's commands. */
export const startWebhookServer = async (authToken: string, acceptsCalls: () => boolean): Promise<WebhookServer> => {
  const token = Redacted.make(authToken)
  const http = createServer()
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve))
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const addresses = webhookAddresses(url)
  const server: WebhookServer = {
    url,
    addresses,
    forged: [],
    inboundCalls: [],
    answers: [],
    statusReports: [],
    relayEnds: [],
    messages: []
  }
  const check = (request: IncomingMessage, address: string, form: URLSearchParams) => {
    const header = request.headers[TwilioSignature.SIGNATURE_HEADER]
    const isOurs = typeof header === "string" && TwilioSignature.verify(token, address, form, header)
    if (!isOurs) server.forged.push(address)
  }
  http.on("request", (request, response) => {
    void text(request).then((body) => {
      const form = new URLSearchParams(body)
      check(request, `${url}${request.url}`, form)
      response.setHeader("Content-Type", Twiml.TWIML_TYPE)
      response.end(answerTo(server, request.url ?? "", form, acceptsCalls()))
    })
  })
  const sockets = new WebSocketServer({ noServer: true })
  http.on("upgrade", (request, socket, head) => {
    check(request, `${url.replace("http", "ws")}${request.url}`, new URLSearchParams())
    sockets.handleUpgrade(request, socket, head, (webSocket) => converse(server, webSocket))
  })
  onTestFinished(async () => {
    for (const client of sockets.clients) client.terminate()
    http.closeAllConnections()
    await new Promise<void>((resolve) => http.close(() => resolve()))
  })
  return server
}

const answerTo = (server: WebhookServer, path: string, form: URLSearchParams, acceptsCalls: boolean): string => {
  const [, kind, callId = ""] = /^\/webhooks\/twilio\/(\w+)(?:\/([^/]+))?$/.exec(path) ?? []
  const connected = (id: string) =>
    Twiml.connect({
      relayUrl: server.addresses.relay(Redacted.make(`token-of-${id}`)),
      actionUrl: server.addresses.resume(id),
      language: "en-US",
      voice: `"Ada" & <co>`
    })
  switch (kind) {
    case "voice":
      server.inboundCalls.push(WebhookForm.readVoice(form))
      return acceptsCalls ? connected("inbound") : Twiml.decline
    case "answer":
      server.answers.push(WebhookForm.readAnswer(form))
      return acceptsCalls ? connected(callId) : Twiml.end
    case "status": {
      const statusReport = Option.getOrThrow(WebhookForm.readStatus(form, Timestamp.Timestamp.make(0)))
      server.statusReports.push({ callId, report: statusReport.report })
      return ""
    }
    case "resume": {
      const end = WebhookForm.readRelayEnd(form)
      server.relayEnds.push(end)
      return Option.getOrThrow(end).outcome === "Broken" ? connected(callId) : Twiml.end
    }
    default:
      throw new Error(`unexpected request: ${path}`)
  }
}

const converse = (server: WebhookServer, socket: WebSocket): void => {
  const say = (token: string) => socket.send(writeRelayMessage({ type: "text", token, last: true }))
  socket.on("message", (data) => {
    const message = Option.getOrThrow(readRelayMessage((data as Buffer).toString()))
    server.messages.push(message)
    if (message.type === "setup") say("Good day.")
    if (message.type === "prompt" && message.voicePrompt === "Break it.") return socket.terminate()
    if (message.type === "prompt" && message.voicePrompt === "End it.") {
      return socket.send(writeRelayMessage({ type: "end" }))
    }
    if (message.type === "prompt") say(`You said: ${message.voicePrompt}`)
  })
}
