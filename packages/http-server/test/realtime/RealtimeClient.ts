import { REALTIME_PATH, type RealtimeClientMessage, type RealtimeServerMessage } from "@agentos/api"
import { Effect, Queue } from "effect"
import type { Socket } from "node:net"
import { WebSocket } from "ws"

/** A plain client of the realtime protocol. Its scope closes the socket. */
export interface RealtimeClient {
  readonly socket: WebSocket
  readonly send: (message: RealtimeClientMessage) => void
  /** Sends messages in one piece, so that one read of the server contains them all. */
  readonly sendTogether: (messages: ReadonlyArray<RealtimeClientMessage>) => void
  /** The next message from the server. */
  readonly next: Effect.Effect<RealtimeServerMessage>
  /** The next message, which must have this type. */
  readonly expect: <Type extends RealtimeServerMessage["type"]>(
    type: Type
  ) => Effect.Effect<Extract<RealtimeServerMessage, { readonly type: Type }>>
  /** The close code of the server. */
  readonly closed: Effect.Effect<number>
}

export const connect = Effect.fnUntraced(function* (port: number) {
  const messages = yield* Queue.unbounded<RealtimeServerMessage>()
  const closes = yield* Queue.unbounded<number>()
  const socket = yield* Effect.acquireRelease(
    Effect.callback<WebSocket, Error>((resume) => {
      const opening = new WebSocket(`ws://127.0.0.1:${port}${REALTIME_PATH}`)
      opening.on("message", (data: Buffer) =>
        Queue.offerUnsafe(messages, JSON.parse(data.toString("utf8")) as RealtimeServerMessage)
      )
      opening.on("close", (code) => Queue.offerUnsafe(closes, code))
      opening.once("open", () => resume(Effect.succeed(opening)))
      opening.on("error", (error) => resume(Effect.fail(error)))
    }),
    (opened) => Effect.sync(() => opened.terminate())
  )
  const next = Queue.take(messages)
  const client: RealtimeClient = {
    socket,
    send: (message) => socket.send(JSON.stringify(message)),
    sendTogether: (messages) => {
      const stream = Reflect.get(socket, "_socket") as Socket
      stream.cork()
      for (const message of messages) socket.send(JSON.stringify(message))
      stream.uncork()
    },
    next,
    expect: (type) =>
      Effect.map(next, (message) => {
        if (message.type !== type) throw new Error(`expected ${type}, got ${JSON.stringify(message)}`)
        return message as Extract<RealtimeServerMessage, { readonly type: typeof type }>
      }),
    closed: Queue.take(closes)
  }
  return client
})
