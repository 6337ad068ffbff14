import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { type WebSocket, WebSocketServer } from "ws"
import { HOST, portOf } from "./Peer.ts"

/** The name of the queue, or of the task, whose jobs are events. */
export const QUEUE = "deliver"

/** The payload of a job. */
export interface QueuedEvent {
  /** The token of the socket that receives it. */
  readonly token: string
  readonly eventId: string
  readonly subject: string
  readonly snippet: string
}

/** The sockets of a queue's worker, which speak as much of the realtime protocol as the clients use. */
export interface QueueSockets {
  readonly port: number
  /** Sends an event. Calls `acknowledged` once its client has acknowledged it. */
  readonly deliver: (event: QueuedEvent, acknowledged: () => void) => void
}

type ClientMessage =
  | { readonly type: "session.authenticate"; readonly token: string }
  | { readonly type: "event.ack"; readonly deliveryId: string }

export const openQueueSockets = async (): Promise<QueueSockets> => {
  const sockets = new Map<string, WebSocket>()
  const open = new Map<string, () => void>()
  const server = new WebSocketServer({ host: HOST, port: 0, perMessageDeflate: false })
  server.on("connection", (socket) =>
    socket.on("message", (data: Buffer) => {
      const message = JSON.parse(data.toString("utf8")) as ClientMessage
      if (message.type === "event.ack") {
        open.get(message.deliveryId)?.()
        open.delete(message.deliveryId)
      } else {
        sockets.set(message.token, socket)
        socket.send(`{"type":"session.replay.complete"}`)
      }
    })
  )
  await once(server, "listening")
  return {
    port: portOf(server),
    deliver: (event, acknowledged) => {
      const deliveryId = randomUUID()
      open.set(deliveryId, acknowledged)
      sockets.get(event.token)!.send(JSON.stringify({ type: "event.delivery", deliveryId, event }))
    }
  }
}

/** Collects the items of callers that come while a call of `work` runs, and passes them to the next one. */
export const gather = <Item>(
  limit: number,
  work: (items: ReadonlyArray<Item>) => Promise<unknown>
): ((item: Item) => Promise<void>) => {
  const waiting: Array<{ readonly item: Item; readonly done: () => void; readonly failed: (error: unknown) => void }> =
    []
  let isWorking = false
  const drain = async () => {
    while (waiting.length > 0) {
      const some = waiting.splice(0, limit)
      try {
        await work(some.map(({ item }) => item))
        for (const { done } of some) done()
      } catch (error) {
        for (const { failed } of some) failed(error)
      }
    }
    isWorking = false
  }
  return (item) =>
    new Promise((done, failed) => {
      waiting.push({ item, done, failed })
      if (isWorking) return
      isWorking = true
      void Promise.resolve().then(drain)
    })
}
