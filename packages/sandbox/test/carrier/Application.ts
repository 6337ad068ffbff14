import { createHmac } from "node:crypto"
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { vi } from "vitest"
import { type WebSocket, WebSocketServer } from "ws"

/** A webhook request from the carrier. */
export interface ReceivedRequest {
  readonly path: string
  readonly method: string
  readonly form: Readonly<Record<string, string>>
  readonly isSigned: boolean
  readonly idempotencyToken: string | undefined
}

/** A ConversationRelay message from the carrier. */
export type Message = { readonly type: string } & Readonly<Record<string, unknown>>

/** The application's end of a ConversationRelay socket. */
export interface Relay {
  readonly path: string
  readonly isSigned: boolean
  readonly messages: ReadonlyArray<Message>
  readonly send: (message: unknown) => void
  readonly sendRaw: (text: string) => void
  readonly speak: (text: string) => void
  /** Waits for the nth message of a type, counted from 1. */
  readonly message: (type: string, number?: number) => Promise<Message>
  readonly socket: WebSocket
  /** Returns the close code, or undefined while the socket is open. */
  readonly closeCode: () => number | undefined
  readonly closed: () => Promise<number>
}

/** A document, a document with a status, or undefined for no response. */
export type Reply = string | { readonly status: number; readonly body: string } | undefined

/** The account's webhook server. */
export interface Application {
  readonly url: string
  readonly relayUrl: string
  readonly received: Array<ReceivedRequest>
  readonly relays: Array<Relay>
  /** The replies by path; an empty document by default. */
  readonly replies: Map<string, Reply | ((request: ReceivedRequest) => Reply | Promise<Reply>)>
  /** Whether WebSocket handshakes are accepted. */
  readonly accepts: { current: boolean }
  /** Waits for the nth request to a path, counted from 1. */
  readonly request: (path: string, number?: number) => Promise<ReceivedRequest>
  readonly requests: (path: string) => ReadonlyArray<ReceivedRequest>
  /** Waits for the nth socket, counted from 1. */
  readonly relay: (number?: number) => Promise<Relay>
  readonly close: () => Promise<void>
}

/** Computes the signature independently, from Twilio's description. */
const sign = (token: string, url: string, form: Readonly<Record<string, string>>): string => {
  let text = url
  for (const name of Object.keys(form).toSorted()) text += name + form[name]
  return createHmac("sha1", token).update(text).digest("base64")
}

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

const waitOptions = { timeout: 60_000, interval: 3 }

/** Waits until the function returns a value. */
export const until = <Value>(read: () => Value | undefined): Promise<Value> =>
  vi.waitFor(() => {
    const value = read()
    if (value === undefined) throw new Error("no value yet")
    return value
  }, waitOptions)

/** Starts the account's webhook server on a free port. */
export const startApplication = async (authToken: string): Promise<Application> => {
  const received: Array<ReceivedRequest> = []
  const relays: Array<Relay> = []
  const replies: Application["replies"] = new Map()
  const accepts = { current: true }
  const server = createServer((request, response) => {
    void bodyOf(request).then(async (body) => {
      const [path = "", query = ""] = (request.url ?? "").split("?", 2)
      const address = `http://${request.headers.host}${request.url}`
      const isPost = request.method === "POST"
      const form = Object.fromEntries(new URLSearchParams(isPost ? body : query))
      const entry: ReceivedRequest = {
        path,
        method: request.method ?? "",
        form,
        isSigned: request.headers["x-twilio-signature"] === sign(authToken, address, isPost ? form : {}),
        idempotencyToken: request.headers["i-twilio-idempotency-token"] as string | undefined
      }
      received.push(entry)
      const found = replies.get(path) ?? "<Response/>"
      const reply = typeof found === "function" ? await found(entry) : found
      if (reply === undefined) return undefined
      const { body: text, status } = typeof reply === "string" ? { status: 200, body: reply } : reply
      response.writeHead(status, { "Content-Type": "text/xml" })
      return response.end(text)
    })
  })
  const sockets = new WebSocketServer({ noServer: true })
  server.on("upgrade", (request, socket, head) => {
    if (!accepts.current) return socket.destroy()
    return sockets.handleUpgrade(request, socket, head, (webSocket) => {
      const address = `ws://${request.headers.host}${request.url}`
      const isSigned = request.headers["x-twilio-signature"] === sign(authToken, address, {})
      relays.push(makeRelay(request.url ?? "", isSigned, webSocket))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const requests = (path: string) => received.filter((request) => request.path === path)
  return {
    url: `http://${address}`,
    relayUrl: `ws://${address}/relay`,
    received,
    relays,
    replies,
    accepts,
    requests,
    request: (path, number = 1) => until(() => requests(path)[number - 1]),
    relay: (number = 1) => until(() => relays[number - 1]),
    close: () =>
      new Promise((resolve) => {
        for (const client of sockets.clients) client.terminate()
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}

const makeRelay = (path: string, isSigned: boolean, socket: WebSocket): Relay => {
  const messages: Array<Message> = []
  let closeCode: number | undefined
  socket.on("message", (data) => messages.push(JSON.parse((data as Buffer).toString()) as Message))
  socket.on("close", (code) => {
    closeCode = code
  })
  const sendRaw = (text: string) => socket.send(text)
  const send = (message: unknown) => sendRaw(JSON.stringify(message))
  return {
    path,
    isSigned,
    messages,
    send,
    sendRaw,
    speak: (text) => send({ type: "text", token: text, last: true }),
    message: (type, number = 1) => until(() => messages.filter((message) => message.type === type)[number - 1]),
    socket,
    closeCode: () => closeCode,
    closed: () => until(() => closeCode)
  }
}
