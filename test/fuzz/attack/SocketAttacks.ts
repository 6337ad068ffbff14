import { REALTIME_PATH } from "@agentos/api"
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { ATTACKER_ADDRESSES } from "../DefenseRig.ts"
import { requestBytes } from "../HttpConnection.ts"
import { frameBytes, handshakeHeaders, OPCODE, textFrame } from "../WebSocketFrame.ts"
import { type Attack, type AttackStage, inParallel } from "./Attack.ts"

const [ATTACKER] = ATTACKER_ADDRESSES
const CONNECTIONS = 50
/** Tokens are checked several at a time, so that each waits a little. */
const TOKEN_CONNECTIONS = 400
const RETRY_MILLIS = 20

/** Opens a socket by hand. Resolves to it and the status of the handshake; undefined when it closed before. */
const open = async (
  stage: AttackStage,
  localAddress: string
): Promise<{ readonly socket: Socket; readonly status: string } | undefined> => {
  const { rig, signal } = stage
  const socket = connect({ ...rig.http, localAddress, noDelay: true })
  socket.on("error", () => undefined)
  const stop = () => socket.destroy()
  signal.addEventListener("abort", stop, { once: true })
  socket.once("close", () => signal.removeEventListener("abort", stop))
  socket.write(requestBytes({ method: "GET", target: REALTIME_PATH, headers: handshakeHeaders }, rig.http.host))
  const answer = await Promise.race([
    once(socket, "data").then(
      ([chunk]) => chunk as Buffer,
      () => undefined
    ),
    once(socket, "close").then(
      () => undefined,
      () => undefined
    )
  ])
  return answer === undefined ? undefined : { socket, status: answer.toString("latin1", 9, 12) }
}

/** Opens sockets repeatedly, and uses each that is accepted. */
const storm = (
  stage: AttackStage,
  use: (socket: Socket) => Promise<void>,
  connections = CONNECTIONS,
  addressOf: (worker: number) => string = () => ATTACKER
): Promise<void> =>
  inParallel(stage, connections, async (worker) => {
    const opened = await open(stage, addressOf(worker))
    if (opened === undefined) {
      if (!stage.signal.aborted) stage.count("handshakes not answered")
      await sleep(RETRY_MILLIS)
      return
    }
    stage.count(`handshakes answered ${opened.status}`)
    if (opened.status === "101") await use(opened.socket)
    opened.socket.destroy()
    // A refused client comes again at once, but lets its own process breathe.
    if (opened.status !== "101") await sleep(1)
  })

/** As many as one address may make requests: 1,200 at once and 20 per second. */
const ADMITTED = { what: "handshakes answered 101", burst: 1_200, perSecond: 20 }

const realtimeToken = async ({ rig }: AttackStage): Promise<string> => {
  const { body } = await rig.attacker.agent.send({ path: "/api/v1/events/realtime-token" })
  return (body.data["realtime"] as unknown as { readonly token: string }).token
}

const ACKS_PER_WRITE = 200

const frame = (opcode: number, payload: string): Buffer =>
  frameBytes({ isFinal: opcode >= OPCODE.close, reserved: 0, opcode, isMasked: true, payload })

/** A message that never ends, in fragments of one byte. */
const FRAGMENTS = Buffer.concat([
  frame(OPCODE.text, "{"),
  ...Array.from({ length: 16_000 }, () => frame(OPCODE.continuation, " "))
])
/** The beginning of a frame of 30 KB. */
const UNFINISHED = frameBytes({
  isFinal: true,
  reserved: 0,
  opcode: OPCODE.text,
  isMasked: true,
  payload: "{",
  declaredLength: 30_000
})
const EMPTY_MESSAGES = Buffer.concat(Array.from({ length: 16_000 }, () => textFrame("")))
const PINGS = Buffer.concat(Array.from({ length: 16_000 }, () => frame(OPCODE.ping, "")))

/** Sends the bytes repeatedly, until the server closes the socket or reads no further. */
const pour = async ({ count, signal }: AttackStage, socket: Socket, bytes: Buffer): Promise<void> => {
  socket.resume()
  while (!signal.aborted && !socket.destroyed) {
    count("bytes sent", bytes.length)
    if (socket.write(bytes)) await sleep(0)
    else await Promise.race([once(socket, "drain"), once(socket, "close")]).catch(() => undefined)
  }
}

/** Authenticates sockets, and sends acknowledgements on each once it is `ready`, for as long as the server keeps it. */
const floodWithAcknowledgements = async (
  stage: AttackStage,
  ready: (socket: Socket) => Promise<void>,
  connections = 10
): Promise<void> => {
  const token = await realtimeToken(stage)
  const acks = Buffer.concat(
    Array.from({ length: ACKS_PER_WRITE }, () =>
      textFrame(JSON.stringify({ type: "event.ack", eventId: randomUUID() }))
    )
  )
  await storm(
    stage,
    async (socket) => {
      socket.resume().write(textFrame(JSON.stringify({ type: "session.authenticate", token })))
      await ready(socket)
      while (!stage.signal.aborted && !socket.destroyed) {
        stage.count("acknowledgements", ACKS_PER_WRITE)
        if (socket.write(acks)) await sleep(0)
        else await Promise.race([once(socket, "drain"), once(socket, "close")]).catch(() => undefined)
      }
    },
    connections
  )
}

const untilReady = async (socket: Socket): Promise<void> => {
  await Promise.race([once(socket, "data"), once(socket, "close")]).catch(() => undefined)
}

export const SOCKET_ATTACKS: ReadonlyArray<Attack> = [
  {
    name: "handshakes",
    finding: 7,
    summary: "WebSocket handshakes from one address, each closed at once",
    admitted: ADMITTED,
    run: (stage) => storm(stage, async () => undefined)
  },
  {
    name: "invalid-tokens",
    finding: 7,
    summary: "sockets from one address that authenticate with an invalid token",
    admitted: ADMITTED,
    run: (stage) => {
      const token = `${Buffer.from('{"alg":"HS256"}').toString("base64url")}.${Buffer.from("{}").toString("base64url")}.AAAA`
      const frame = textFrame(JSON.stringify({ type: "session.authenticate", token }))
      return storm(
        stage,
        async (socket) => {
          socket.resume().write(frame)
          // The refusal is enough: the server would wait for the closing handshake.
          const wait = new AbortController()
          const first = (event: string) => once(socket, event, { signal: wait.signal }).catch(() => undefined)
          await Promise.race([first("data"), first("close")])
          wait.abort()
          stage.count("tokens refused")
        },
        TOKEN_CONNECTIONS
      )
    }
  },
  {
    name: "acknowledgements",
    finding: 7,
    summary: "acknowledgements of unknown events by one tenant on 10 sockets",
    run: (stage) => floodWithAcknowledgements(stage, untilReady)
  },
  {
    name: "shared-acknowledgements",
    finding: 10,
    summary: "the same on 50 sockets",
    run: (stage) => floodWithAcknowledgements(stage, untilReady, 50)
  },
  {
    name: "fragments",
    finding: 3,
    summary: "a message in 16,000 fragments of one byte on each of 600 sockets, not authenticated",
    run: (stage) => storm(stage, (socket) => pour(stage, socket, FRAGMENTS), 600)
  },
  {
    name: "fragments-addresses",
    finding: 3,
    summary: "the same from 50 addresses",
    run: (stage) =>
      storm(
        stage,
        (socket) => pour(stage, socket, FRAGMENTS),
        600,
        (worker) => `127.0.9.${1 + (worker % 50)}`
      )
  },
  {
    name: "empty-messages",
    finding: 3,
    summary: "empty messages on each of 600 sockets, not authenticated",
    run: (stage) => storm(stage, (socket) => pour(stage, socket, EMPTY_MESSAGES), 600)
  },
  {
    name: "unfinished-frames",
    finding: 3,
    summary: "a frame in reads of one byte on each of 600 sockets, not authenticated",
    run: (stage) =>
      storm(
        stage,
        async (socket) => {
          socket.resume().write(UNFINISHED)
          while (!stage.signal.aborted && !socket.destroyed) {
            socket.write("a")
            await sleep(5)
          }
        },
        600
      )
  },
  {
    name: "tenant-fragments",
    finding: 3,
    summary: "the same on 10 sockets of a tenant",
    run: async (stage) => {
      const token = await realtimeToken(stage)
      await storm(
        stage,
        async (socket) => {
          socket.write(textFrame(JSON.stringify({ type: "session.authenticate", token })))
          await untilReady(socket)
          await pour(stage, socket, FRAGMENTS)
        },
        10
      )
    }
  },
  {
    name: "pings",
    finding: 3,
    summary: "pings on each of 600 sockets, not authenticated",
    run: (stage) => storm(stage, (socket) => pour(stage, socket, PINGS), 600)
  },
  {
    name: "early-acknowledgements",
    finding: 7,
    summary: "the same before the sockets are authenticated, and on after the server has closed them",
    run: (stage) => floodWithAcknowledgements(stage, async () => undefined)
  }
]
