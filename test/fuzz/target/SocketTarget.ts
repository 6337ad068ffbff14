import { REALTIME_PATH } from "@agentos/api"
import { connect } from "node:net"
import type { Random } from "../../support/Random.ts"
import { ATTACKER_ADDRESSES, type DefenseRig } from "../DefenseRig.ts"
import { requestBytes } from "../HttpConnection.ts"
import { bytesOf, chance, type Json, mutateJson, mutateText, oddText, randomUuid, several } from "../Mutation.ts"
import { type Frame, frameBytes, handshakeHeaders, OPCODE, readFrames } from "../WebSocketFrame.ts"
import type { Flaw } from "../Flaw.ts"
import { fill, type Target } from "./Target.ts"

export interface SocketDialogue {
  readonly target: string
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  /** The token of the first frame, if there is to be one. */
  readonly opening: "none" | "deliver" | "observe"
  readonly frames: ReadonlyArray<Frame>
}

const message = (random: Random): Json =>
  random.pick<Json>([
    { type: "event.ack", eventId: random.pick(["{{own.eventId}}", "{{other.eventId}}", randomUuid(random)]) },
    { type: "event.ack", eventId: "{{own.eventId}}", deliveryId: randomUuid(random) },
    { type: "session.authenticate", token: "{{own.token}}" },
    { type: "session.authenticate", token: bytesOf(oddText(random)) },
    { type: "session.authenticate", token: "a.b.c", mode: "observe" },
    { type: "session.ready" },
    {}
  ])

const payloadOf = (random: Random): string => {
  const valid = message(random)
  if (chance(random, 2)) return JSON.stringify(valid)
  const text = JSON.stringify(several(random, 2, valid, (value) => mutateJson(random, value)))
  return bytesOf(chance(random, 3) ? mutateText(random, text) : text)
}

const valid = (payload: string): Frame => ({ isFinal: true, reserved: 0, opcode: OPCODE.text, isMasked: true, payload })

const frameOf = (random: Random): Frame => {
  const frame = valid(payloadOf(random))
  if (!chance(random, 4)) return frame
  const changes: ReadonlyArray<() => Partial<Frame>> = [
    () => ({ isFinal: false }),
    () => ({ reserved: 1 + random.integer(7) }),
    () => ({ opcode: random.integer(16) }),
    () => ({ isMasked: false }),
    () => ({ declaredLength: random.pick([0, 125, 126, 65_536, 2 ** 31, 2 ** 53]) }),
    () => ({ payload: "x".repeat(random.pick([8_192, 8_193, 70_000])) }),
    () => ({ payload: "\xff\xfe\xc0" }),
    () => ({ opcode: OPCODE.close, payload: "\x03\xe8bye" }),
    () => ({ opcode: OPCODE.close, payload: "\x00" }),
    () => ({ opcode: OPCODE.ping, payload: "x".repeat(random.integer(200)) }),
    () => ({ opcode: OPCODE.binary })
  ]
  return { ...frame, ...random.pick(changes)() }
}

const headersOf = (random: Random): SocketDialogue["headers"] => {
  if (!chance(random, 8)) return handshakeHeaders
  const place = random.integer(handshakeHeaders.length)
  return handshakeHeaders.flatMap(([name, value], index) => {
    if (index !== place) return [[name, value] as const]
    if (chance(random, 3)) return []
    return [[name, bytesOf(mutateText(random, value)).replaceAll(/[\r\n\u0000]/g, "")] as const]
  })
}

const generate = (random: Random): SocketDialogue => ({
  target: chance(random, 20)
    ? random.pick([`${REALTIME_PATH}/`, `${REALTIME_PATH}?token=x`, "/nowhere"])
    : REALTIME_PATH,
  headers: headersOf(random),
  opening: random.pick(["none", "deliver", "deliver", "observe"] as const),
  frames: Array.from({ length: 1 + random.integer(12) }, () => frameOf(random))
})

/** After the last frame, for further messages of the server. */
const QUIET_MILLIS = 150
const LIMIT_MILLIS = 10_000

interface Transcript {
  readonly status: string
  readonly frames: ReturnType<typeof readFrames>
  readonly text: string
}

const converse = (rig: DefenseRig, head: Buffer, frames: Buffer): Promise<Transcript> =>
  new Promise((resolve) => {
    const socket = connect({ ...rig.http, localAddress: ATTACKER_ADDRESSES[0], noDelay: true })
    let received = Buffer.alloc(0)
    let quiet: NodeJS.Timeout | undefined
    const limit = setTimeout(() => socket.destroy(), LIMIT_MILLIS)
    const rest = () => {
      clearTimeout(quiet)
      quiet = setTimeout(() => socket.destroy(), QUIET_MILLIS)
    }
    socket.on("error", () => undefined)
    socket.on("data", (chunk) => {
      const isFirst = received.length === 0
      received = Buffer.concat([received, chunk])
      if (isFirst) socket.write(frames)
      rest()
    })
    socket.on("close", () => {
      clearTimeout(quiet)
      clearTimeout(limit)
      const end = received.indexOf("\r\n\r\n") + 4
      const status = received.toString("latin1", 9, 12)
      resolve({
        status,
        frames: status === "101" ? readFrames(received.subarray(end)) : [],
        text: received.toString("utf8")
      })
    })
    socket.write(head)
  })

/** Codes that blame the client; 1011 would blame the server. */
const CLOSE_CODES: ReadonlySet<number> = new Set([
  1000, 1002, 1003, 1005, 1007, 1008, 1009, 1013, 4400, 4401, 4408, 4429
])
const HANDSHAKE_STATUSES: ReadonlySet<string> = new Set(["101", "400", "401", "404", "405", "414", "426", "428", "429"])

/** The realtime protocol: handshakes, messages, and frames that break RFC 6455. */
export const socketTarget: Target<SocketDialogue> = {
  name: "socket",
  summary: "WebSocket handshakes, messages of the realtime protocol, malformed frames",
  workers: 3,
  generate,
  open: async ({ count, oracle, rig }) => {
    const reply = await rig.attacker.agent.send({ path: "/api/v1/events/realtime-token" })
    let token = (reply.body.data["realtime"] as unknown as { readonly token: string }).token
    let issuedAt = Date.now()
    /** A token holds for 15 minutes. */
    const currentToken = async (): Promise<string> => {
      if (Date.now() - issuedAt < 10 * 60_000) return token
      const again = await rig.attacker.agent.send({ path: "/api/v1/events/realtime-token" })
      token = (again.body.data["realtime"] as unknown as { readonly token: string }).token
      issuedAt = Date.now()
      return token
    }
    return {
      play: async ({ frames, headers, opening, target }) => {
        const first = valid(
          JSON.stringify({ type: "session.authenticate", token: await currentToken(), mode: opening })
        )
        const sent = [...(opening === "none" ? [] : [first]), ...frames]
        const bytes = Buffer.concat(sent.map((frame) => frameBytes({ ...frame, payload: fill(frame.payload, rig) })))
        const head = requestBytes({ method: "GET", target, headers }, rig.http.host)
        const transcript = await converse(rig, head, bytes)
        count("requests")
        if (transcript.status === "101") count("frames", sent.length)
        const flaws: Array<Flaw> = [...oracle.examineText(transcript.text)]
        if (!HANDSHAKE_STATUSES.has(transcript.status)) {
          flaws.push({ rule: "a handshake is answered", detail: transcript.text.slice(0, 200) })
        }
        for (const frame of transcript.frames) flaws.push(...flawsOf(frame))
        return flaws
      },
      close: async () => undefined
    }
  }
}

const flawsOf = ({ opcode, payload }: ReturnType<typeof readFrames>[number]): ReadonlyArray<Flaw> => {
  if (opcode === OPCODE.close) {
    const code = payload.length < 2 ? 1005 : payload.readUInt16BE(0)
    return CLOSE_CODES.has(code) ? [] : [{ rule: "a session does not fail on the server's side", detail: String(code) }]
  }
  if (opcode !== OPCODE.text) return []
  const { code, type } = JSON.parse(payload.toString("utf8")) as { readonly type?: unknown; readonly code?: unknown }
  if (typeof type !== "string") return [{ rule: "every message has a type", detail: payload.toString().slice(0, 200) }]
  return code === "INTERNAL_ERROR" ? [{ rule: "no answer is a 500", detail: payload.toString().slice(0, 200) }] : []
}
