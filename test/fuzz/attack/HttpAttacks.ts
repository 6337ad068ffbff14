import { OPERATIONS } from "@agentos/api"
import { once } from "node:events"
import { connect } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { ATTACKER_ADDRESSES, type DefenseRig } from "../DefenseRig.ts"
import { HttpConnection, NotAnswered, requestBytes } from "../HttpConnection.ts"
import { type Attack, type AttackStage, inParallel } from "./Attack.ts"

const [ATTACKER] = ATTACKER_ADDRESSES
const MIB = 1024 * 1024
const KIB = 1024
const BODY_LIMIT_BYTES = 256 * KIB
/** Larger than any body that the service reads. */
const TOO_LARGE_BYTES = 2 ** 40
/** After a connection that failed, so that a refusing server is not answered with a busy loop. */
const RETRY_MILLIS = 20

const SEND = OPERATIONS.sendMessage.entry.path
const CREATE = OPERATIONS.createMailbox.entry.path
const LIST_EVENTS = OPERATIONS.listEvents.entry.path

const JSON_TYPE = ["Content-Type", "application/json"] as const

const postBytes = (rig: DefenseRig, target: string, body: string, token?: string): Buffer => {
  const authorization = token === undefined ? [] : [["Authorization", `Bearer ${token}`] as const]
  return requestBytes({ method: "POST", target, headers: [JSON_TYPE, ...authorization], body }, rig.http.host)
}

/** Resolves to the greatest length of a message's body, as the service reports it for a longer one. */
const sendLimitBytes = async ({ attacker, http }: DefenseRig): Promise<number> => {
  const headers = [
    JSON_TYPE,
    ["Authorization", `Bearer ${attacker.token}`],
    ["Content-Length", String(TOO_LARGE_BYTES)]
  ] as const
  const connection = new HttpConnection({ ...http, localAddress: ATTACKER })
  const { body } = await connection.request(requestBytes({ method: "POST", target: SEND, headers }, http.host))
  connection.close()
  const limit = /exceeds (\d+) bytes/.exec(body)?.[1]
  if (limit === undefined) throw new Error(`a body of ${TOO_LARGE_BYTES} bytes was answered ${body}`)
  return Number(limit)
}

/** Repeats the same request on keep-alive connections of the first attacking address. */
const flood = async (stage: AttackStage, connections: number, bytes: Buffer): Promise<void> => {
  const { count, rig, signal } = stage
  const open = Array.from({ length: connections }, () => new HttpConnection({ ...rig.http, localAddress: ATTACKER }))
  signal.addEventListener("abort", () => {
    for (const connection of open) connection.close()
  })
  await inParallel(stage, connections, async (worker) => {
    try {
      const { status } = await open[worker]!.request(bytes)
      count(String(status))
    } catch (error) {
      if (!(error instanceof NotAnswered)) throw error
      if (!signal.aborted) count(`not answered: ${error.reason}`)
      await sleep(RETRY_MILLIS)
    }
  })
}

/** `[0,0,…]` of a length in bytes. */
const zeros = (bytes: number): string => `[${"0,".repeat(Math.floor(bytes / 2) - 1)}0]`

const unknownProperties = (bytes: number): string => {
  const properties = Array.from(
    { length: Math.floor(bytes / 12) },
    (_, index) => `"x${String(index).padStart(6, "0")}":0`
  )
  return `{${properties.join(",")}}`
}

const nestedArrays = (bytes: number, depth: number): string => {
  const one = `${"[".repeat(depth)}${"]".repeat(depth)}`
  return `{"localPart":[${Array.from({ length: Math.floor(bytes / (one.length + 1)) - 2 }, () => one).join(",")}]}`
}

/** A body in chunks of one byte. */
const tinyChunks = (bytes: number): string => `${"1\r\nx\r\n".repeat(bytes)}0\r\n\r\n`

/** A message whose text, HTML and file have the greatest length, every character of the texts escaped. */
const largestMessage = (mailboxId: string): string => {
  const escaped = "\\u0041".repeat(MIB)
  const file = Buffer.alloc(10 * MIB).toString("base64")
  const attachments = `[{"filename":"a","contentType":"text/plain","contentBase64":"${file}"}]`
  return `{"mailboxId":"${mailboxId}","to":["a@elsewhere.example"],"subject":"a","text":"${escaped}","html":"${escaped}","attachments":${attachments}}`
}

/** Connections that send all of a large body but its last byte, and then wait. */
const holdBodies = async (stage: AttackStage, connections: number, limitFraction: number): Promise<void> => {
  const { count, rig, signal } = stage
  const bytes = Math.floor((await sendLimitBytes(rig)) * limitFraction)
  const head = requestBytes(
    {
      method: "POST",
      target: SEND,
      headers: [JSON_TYPE, ["Authorization", `Bearer ${rig.attacker.token}`], ["Content-Length", String(bytes)]]
    },
    rig.http.host
  )
  const body = Buffer.alloc(bytes - 1, "x")
  body.write('"')
  await inParallel(stage, connections, async () => {
    const socket = connect({ ...rig.http, localAddress: ATTACKER })
    socket.on("error", () => undefined)
    socket.on("data", (answer: Buffer) => {
      const status = /^HTTP\/1\.1 (\d{3})/.exec(answer.toString("latin1"))?.[1]
      if (status !== undefined) count(status)
    })
    const stop = () => socket.destroy()
    signal.addEventListener("abort", stop, { once: true })
    socket.write(head)
    socket.write(body, (error) => (error ? undefined : count("bodies sent but for a byte")))
    // An error is followed by the close event.
    await once(socket, "close").catch(() => undefined)
    signal.removeEventListener("abort", stop)
    count("connections closed")
    await sleep(RETRY_MILLIS)
  })
}

const GARBAGE = Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, ...Buffer.alloc(200, 0xa5)])

/** Sends the bytes on 50 connections, each again when it was closed. */
const sendGarbage = ({ count, rig, signal }: AttackStage, bytes: Buffer, addressOf: (worker: number) => string) =>
  inParallel({ signal }, 50, async (worker) => {
    const socket = connect({ ...rig.http, localAddress: addressOf(worker) })
    socket.on("error", () => undefined)
    socket.on("data", (answer: Buffer) => count(answer.toString("latin1", 9, 12)))
    const stop = () => socket.destroy()
    signal.addEventListener("abort", stop, { once: true })
    socket.end(bytes)
    await once(socket, "close").catch(() => undefined)
    signal.removeEventListener("abort", stop)
    count("connections closed")
  })

export const HTTP_ATTACKS: ReadonlyArray<Attack> = [
  {
    name: "zeros",
    finding: 1,
    summary: "zeros as the recipients of a message of the greatest length, by a tenant",
    run: async (stage) => {
      const { mailbox, token } = stage.rig.attacker
      const to = zeros((await sendLimitBytes(stage.rig)) - KIB)
      const body = `{"mailboxId":"${mailbox.mailboxId}","subject":"a","text":"b","to":${to}}`
      return flood(stage, 2, postBytes(stage.rig, SEND, body, token))
    }
  },
  {
    name: "garbage",
    finding: 21,
    summary: "bytes that are not HTTP, each on a new connection",
    run: (stage) => sendGarbage(stage, GARBAGE, () => ATTACKER),
    admitted: { what: "400", burst: 50, perSecond: 21 }
  },
  {
    name: "garbage-addresses",
    finding: 21,
    summary: "the same from 50 addresses",
    run: (stage) => sendGarbage(stage, GARBAGE, (worker) => `127.0.9.${1 + worker}`)
  },
  {
    name: "long-garbage",
    finding: 21,
    summary: "a request line of 60 KiB without an end, each on a new connection",
    run: (stage) => sendGarbage(stage, Buffer.from(`GET /${"a".repeat(60 * KIB)}`), () => ATTACKER)
  },
  {
    name: "chunk-garbage",
    finding: 21,
    summary: "requests whose chunks have no length, each on a new connection",
    run: (stage) =>
      sendGarbage(
        stage,
        Buffer.from(`POST ${CREATE} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n`),
        () => ATTACKER
      )
  },
  {
    name: "plain-bytes",
    finding: 4,
    summary: "digits, commas, empty strings and white space as a message of the greatest length, by a tenant",
    run: async (stage) => {
      const bytes = (await sendLimitBytes(stage.rig)) - KIB
      const { token } = stage.rig.attacker
      await Promise.all(
        ["9", ",", '""', " "].map((plain) =>
          flood(stage, 2, postBytes(stage.rig, SEND, `{"to":${plain.repeat(bytes / plain.length)}`, token))
        )
      )
    }
  },
  {
    name: "large-messages",
    finding: 4,
    summary: "valid messages with 10 MiB of files, by a tenant, whose payment is asked for",
    run: (stage) => {
      const { rig } = stage
      const file = Buffer.alloc(10 * MIB, "file").toString("base64")
      const attachments = [{ filename: "a", contentType: "text/plain", contentBase64: file }]
      const { mailbox, token } = rig.attacker
      const { mailboxId } = mailbox
      const message = { mailboxId, to: ["a@elsewhere.example"], subject: "a", text: "b", attachments }
      return flood(stage, 8, postBytes(rig, SEND, JSON.stringify(message), token))
    }
  },
  {
    name: "tiny-chunks",
    finding: 1,
    summary: "1,000,000 chunks of one byte as a message, by a tenant",
    run: (stage) => {
      const { rig } = stage
      const headers = [
        JSON_TYPE,
        ["Authorization", `Bearer ${rig.attacker.token}`],
        ["Transfer-Encoding", "chunked"]
      ] as const
      const head = requestBytes({ method: "POST", target: SEND, headers }, rig.http.host)
      return flood(stage, 8, Buffer.concat([head, Buffer.from(tinyChunks(1_000_000))]))
    }
  },
  {
    name: "pipelines",
    finding: 2,
    summary: "1,000 pipelined health checks on each of 8 connections",
    run: (stage) => {
      const { rig } = stage
      const check = requestBytes({ method: "GET", target: "/health/live", headers: [] }, rig.http.host)
      return flood(stage, 8, Buffer.concat(Array.from({ length: 1_000 }, () => check)))
    }
  },
  {
    name: "types",
    finding: 1,
    summary: "events/list with 130,000 types, by a tenant",
    run: (stage) => {
      const body = `{"types":${zeros(BODY_LIMIT_BYTES - KIB)}}`
      return flood(stage, 4, postBytes(stage.rig, LIST_EVENTS, body, stage.rig.attacker.token))
    }
  },
  {
    name: "unknown-properties",
    finding: 2,
    summary: "256 KiB of unknown properties at a start-here service, without a token",
    run: (stage) => flood(stage, 16, postBytes(stage.rig, CREATE, unknownProperties(BODY_LIMIT_BYTES - KIB)))
  },
  {
    name: "nested-arrays",
    finding: 2,
    summary: "256 KiB of arrays nested 28 deep at a start-here service, without a token",
    run: (stage) => flood(stage, 16, postBytes(stage.rig, CREATE, nestedArrays(BODY_LIMIT_BYTES - KIB, 28)))
  },
  {
    name: "whitespace",
    finding: 2,
    summary: "256 KiB of whitespace at a start-here service, without a token",
    run: (stage) => flood(stage, 16, postBytes(stage.rig, CREATE, `{${" ".repeat(BODY_LIMIT_BYTES - KIB)}}`))
  },
  {
    name: "small-strings",
    finding: 2,
    summary: "15 KiB of strings and keys at a start-here service, without a token: below the limit for such bodies",
    run: (stage) => flood(stage, 16, postBytes(stage.rig, CREATE, unknownProperties(15 * KIB)))
  },
  {
    name: "payment-headers",
    finding: 2,
    summary: "24 KiB of nested JSON as a payment at a start-here service, without a token",
    run: (stage) => {
      const json = `{"x402Version":2,"accepted":${"[".repeat(6_000)}${"]".repeat(6_000)}}`
      const headers = [
        JSON_TYPE,
        ["PAYMENT-SIGNATURE", Buffer.from(json).toString("base64")],
        ["Idempotency-Key", "a"]
      ] as const
      const request = { method: "POST", target: CREATE, headers, body: '{"localPart":"attacker"}' }
      return flood(stage, 16, requestBytes(request, stage.rig.http.host))
    }
  },
  {
    name: "queries",
    finding: 2,
    summary: "7 KiB of unknown query parameters, by a tenant",
    run: (stage) => {
      const query = Array.from({ length: 1_400 }, (_, index) => `x${index.toString(36)}`).join("&")
      const target = `${OPERATIONS.queryMessages.entry.path}?${query}`
      const headers = [["Authorization", `Bearer ${stage.rig.attacker.token}`]] as const
      return flood(stage, 16, requestBytes({ method: "GET", target, headers }, stage.rig.http.host))
    }
  },
  {
    name: "wrong-signatures",
    finding: 2,
    summary: "webhook forms of 60 KiB with a wrong signature",
    run: (stage) => {
      const body = Array.from({ length: 10_000 }, (_, index) => `${index.toString(36)}=${index % 10}`).join("&")
      const headers = [
        ["Content-Type", "application/x-www-form-urlencoded"],
        ["X-Twilio-Signature", "AAAAAAAAAAAAAAAAAAAAAAAAAAA="]
      ] as const
      const request = { method: "POST", target: "/webhooks/twilio/voice", headers, body }
      return flood(stage, 16, requestBytes(request, stage.rig.http.host))
    }
  },
  {
    name: "largest-messages",
    finding: 1,
    summary: "valid unpaid messages with the longest texts and file, by a tenant",
    run: (stage) => {
      const { mailbox, token } = stage.rig.attacker
      return flood(stage, 2, postBytes(stage.rig, SEND, largestMessage(mailbox.mailboxId), token))
    }
  },
  {
    name: "challenges",
    finding: 2,
    summary: "valid requests for a challenge, without a token",
    run: (stage) => flood(stage, 32, postBytes(stage.rig, CREATE, '{"localPart":"attacker"}'))
  },
  {
    name: "unfinished-bodies",
    finding: 6,
    summary: "60 bodies of half the greatest length that lack their last byte, by a tenant",
    run: (stage) => holdBodies(stage, 60, 1 / 2)
  },
  {
    name: "longest-bodies",
    finding: 6,
    summary: "60 bodies of the greatest length that lack their last byte, by a tenant",
    run: (stage) => holdBodies(stage, 60, 1)
  }
]
