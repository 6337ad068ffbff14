import { Logger, run } from "graphile-worker"
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { type WebSocket, WebSocketServer } from "ws"
import { answerParent } from "../compare/ChildModule.ts"
import { HOST, portOf } from "./Peer.ts"

export interface GraphileOptions {
  readonly databaseUrl: string
}

/** The payload of a job. */
export interface GraphileEvent {
  /** The token of the socket that receives it. */
  readonly token: string
  readonly eventId: string
}

/** Jobs at a time, the jobs fetched in a statement, and the delay within which completed ones share a statement. */
const CONCURRENT_JOBS = 1_000
const FETCHED_JOBS = 1_000
const COMPLETED_WITHIN_MILLIS = 10

type ClientMessage =
  | { readonly type: "session.authenticate"; readonly token: string }
  | { readonly type: "event.ack"; readonly deliveryId: string }

/** graphile-worker, whose jobs send a frame to a socket and end when the client acknowledges it. */
answerParent(async ({ databaseUrl }: GraphileOptions): Promise<number> => {
  const sockets = new Map<string, WebSocket>()
  const acknowledged = new Map<string, () => void>()
  const server = new WebSocketServer({ host: HOST, port: 0, perMessageDeflate: false })
  server.on("connection", (socket) =>
    socket.on("message", (data: Buffer) => {
      const message = JSON.parse(data.toString("utf8")) as ClientMessage
      if (message.type === "event.ack") {
        acknowledged.get(message.deliveryId)?.()
        acknowledged.delete(message.deliveryId)
      } else {
        sockets.set(message.token, socket)
        socket.send(`{"type":"session.replay.complete"}`)
      }
    })
  )
  await once(server, "listening")
  const deliver = (event: GraphileEvent): Promise<void> =>
    new Promise((resolve) => {
      const deliveryId = randomUUID()
      acknowledged.set(deliveryId, resolve)
      sockets.get(event.token)!.send(JSON.stringify({ type: "event.delivery", deliveryId, event }))
    })
  await run({
    taskList: { deliver: (payload) => deliver(payload as GraphileEvent) },
    preset: {
      worker: {
        connectionString: databaseUrl,
        // Its log has a line for each job.
        logger: new Logger(() => () => undefined),
        concurrentJobs: CONCURRENT_JOBS,
        maxPoolSize: 10,
        localQueue: { size: FETCHED_JOBS },
        completeJobBatchDelay: COMPLETED_WITHIN_MILLIS,
        failJobBatchDelay: COMPLETED_WITHIN_MILLIS
      }
    },
    noHandleSignals: true
  })
  return portOf(server)
})
