import { WebSocket } from "ws"
import type { SocketOrder } from "../support/RealtimeRig.ts"
import { type Arrival, type ClientsAnswer, type ClientsCommand, clockMillis } from "./SocketClients.ts"

/** Many clients of the realtime protocol in one process. Each acknowledges every delivery. */
const OPENING_AT_ONCE = 100

const arrivals: Array<Arrival> = []
let open = 0

interface ServerMessage {
  readonly type: string
  readonly deliveryId?: string
  readonly event?: { readonly eventId: string }
}

/** Resolves when the replay of the session ends, or the socket closes. */
const openSocket = ({ token, url }: SocketOrder): Promise<void> =>
  new Promise((resolve) => {
    const socket = new WebSocket(url, { perMessageDeflate: false })
    socket.on("open", () => socket.send(JSON.stringify({ type: "session.authenticate", token })))
    socket.on("message", (data: Buffer) => {
      const at = clockMillis()
      const message = JSON.parse(data.toString("utf8")) as ServerMessage
      if (message.type === "event.delivery" && message.event !== undefined) {
        const { eventId } = message.event
        arrivals.push([eventId, at])
        socket.send(JSON.stringify({ type: "event.ack", eventId, deliveryId: message.deliveryId }))
      }
      if (message.type === "session.replay.complete") {
        open++
        socket.once("close", () => open--)
        resolve()
      }
    })
    socket.on("error", () => resolve())
    socket.on("close", () => resolve())
  })

const openAll = async (sockets: ReadonlyArray<SocketOrder>): Promise<void> => {
  const left = [...sockets].reverse()
  const worker = async () => {
    for (let order = left.pop(); order !== undefined; order = left.pop()) await openSocket(order)
  }
  await Promise.all(Array.from({ length: OPENING_AT_ONCE }, worker))
}

const obey = async (command: ClientsCommand): Promise<ClientsAnswer> => {
  if (command.type === "report") return { type: "report", open, arrivals: arrivals.splice(0) }
  const startedAt = clockMillis()
  await openAll(command.sockets)
  return { type: "opened", open, millis: clockMillis() - startedAt }
}

process.on("message", (command: ClientsCommand) => {
  void obey(command).then((answer) => process.send?.(answer))
})
process.once("disconnect", () => process.exit(0))
