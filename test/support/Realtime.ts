import { once } from "node:events"
import { WebSocket } from "ws"
import type { Agent } from "./Agent.ts"
import type { SocketOrder } from "./RealtimeRig.ts"

/** A message of the realtime protocol, declared here and not imported. */
export interface RealtimeMessage {
  readonly type: string
  readonly event?: {
    readonly eventId: string
    readonly type: string
    readonly status: string
    readonly resourceId: string
    readonly payload: Record<string, string>
    readonly deliveryCount: number
    readonly createdAt: string
  }
  readonly sessionId?: string
  readonly eventId?: string
  readonly deliveryId?: string
  readonly delivered?: number
  readonly pending?: number
  readonly callId?: string
  readonly turnId?: string
  readonly turn?: { readonly text: string }
  readonly code?: string
  readonly message?: string
}

const OPENED_MILLIS_MAX = 60_000

/** A plain socket of the `ws` package with the received messages in order. */
export class Realtime {
  readonly socket: WebSocket
  private readonly messages: Array<RealtimeMessage> = []
  private waiting: (() => void) | undefined

  private constructor(socket: WebSocket) {
    this.socket = socket
    socket.on("message", (data: Buffer) => {
      this.messages.push(JSON.parse(data.toString("utf8")) as RealtimeMessage)
      this.waiting?.()
    })
  }

  /** Gets a realtime token, connects and authenticates. */
  static async open(agent: Agent, message: Record<string, string> = {}): Promise<Realtime> {
    const reply = await agent.send({ path: "/api/v1/events/realtime-token" })
    const { token, websocketUrl } = reply.body.data["realtime"] as unknown as {
      readonly token: string
      readonly websocketUrl: string
    }
    return Realtime.connect({ url: websocketUrl, token }, message)
  }

  /** Connects to the URL of the order and authenticates. */
  static async connect(order: SocketOrder, message: Record<string, string> = {}): Promise<Realtime> {
    const socket = new WebSocket(order.url, { handshakeTimeout: OPENED_MILLIS_MAX })
    const realtime = new Realtime(socket)
    await once(socket, "open")
    realtime.send({ type: "session.authenticate", token: order.token, ...message })
    return realtime
  }

  /** Waits for the close and returns its code. */
  async closed(): Promise<number> {
    if (this.socket.readyState === WebSocket.CLOSED) throw new Error("the socket was closed before")
    const [code] = (await once(this.socket, "close")) as [number]
    return code
  }

  send(message: object): void {
    this.socket.send(JSON.stringify(message))
  }

  /** Returns the next message; fails after a minute, or if it has another type. */
  async next(type?: string): Promise<RealtimeMessage> {
    const deadline = Date.now() + 60_000
    while (this.messages.length === 0) {
      if (Date.now() > deadline) throw new Error(`no message within 60 s, waiting for ${type ?? "any"}`)
      await new Promise<void>((resolve) => {
        this.waiting = resolve
        setTimeout(resolve, 250)
      })
    }
    const message = this.messages.shift()!
    if (type !== undefined && message.type !== type) {
      throw new Error(`expected ${type}, got ${JSON.stringify(message)}`)
    }
    return message
  }

  close(): void {
    this.socket.close()
  }
}
