import { OPERATIONS, REALTIME_PATH } from "@agentos/api"
import { connect } from "node:net"
import type { Random } from "../../support/Random.ts"
import { ATTACKER_ADDRESSES, type DefenseRig } from "../DefenseRig.ts"
import { AnswerReader, type HttpAnswer } from "../HttpConnection.ts"
import { bytesOf, chance, mutateText, oddText, several } from "../Mutation.ts"
import type { Flaw } from "../Flaw.ts"
import { fill, type Target } from "./Target.ts"

/** The pieces that are written to one connection. */
export interface HttpDialogue {
  /** Bytes as latin1. */
  readonly pieces: ReadonlyArray<string>
  /** Whether every body is delimited correctly, so that none may be read as a request. */
  readonly isIntact: boolean
}

/** A path that occurs only inside bodies. Its answer shows that a body was read as a request. */
const SMUGGLED_SERVICE = "smuggled"
const SMUGGLED = `/api/v1/services/${SMUGGLED_SERVICE}`
const SMUGGLED_REQUEST = `GET ${SMUGGLED} HTTP/1.1\r\nHost: a\r\n\r\n`

const PATHS = [
  ...new Set(Object.values(OPERATIONS).map(({ entry }) => entry.path)),
  "/",
  "/health/live",
  "/health/ready",
  "/openapi.json",
  "/llms.txt",
  "/docs",
  "/internal/metrics",
  "/internal/jobs",
  REALTIME_PATH,
  "/webhooks/twilio/voice",
  "/..%2f..%2fetc/passwd",
  "/api/v1/../v1",
  "//api/v1",
  "http://elsewhere.example/api/v1",
  "*"
]

const METHODS = ["GET", "POST", "HEAD", "OPTIONS", "PUT", "CONNECT", "TRACE", "PRI", "get", "M-SEARCH", "X".repeat(40)]
const VERSIONS = ["HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/2.0", "HTTP/0.9", "HTTP/1.10", "http/1.1", ""]

const HEADERS: ReadonlyArray<(random: Random) => string> = [
  () => "Host: a",
  () => "Host: a\r\nHost: b",
  () => "Host:",
  () => "Connection: close",
  () => "Connection: keep-alive, Upgrade\r\nUpgrade: h2c",
  () => "Expect: 100-continue",
  () => "Expect: nothing",
  () => "Content-Type: application/json",
  () => "Authorization: Bearer {{own.token}}",
  () => "X-Forwarded-For: 127.0.0.1, 10.0.0.1",
  () => "Transfer-Encoding: gzip, chunked",
  () => "Content-Encoding: gzip",
  () => "Range: bytes=0-1",
  () => "If-None-Match: *",
  () => " folded: header",
  () => "no colon",
  () => ": no name",
  () => "Name : space before colon",
  (random) => `X-Odd: ${bytesOf(oddText(random))}`,
  (random) => `${"X".repeat(random.integer(2_000))}: y`,
  (random) => Array.from({ length: random.integer(200) }, (_, index) => `X-${index}: y`).join("\r\n") || "X-0: y"
]

const FRAMINGS: ReadonlyArray<(body: string, random: Random) => string> = [
  (body) => `Content-Length: ${body.length}\r\n\r\n${body}`,
  (body) => `Content-Length: ${body.length}\r\nContent-Length: ${body.length + 1}\r\n\r\n${body}`,
  (body) => `Content-Length: +${body.length}\r\n\r\n${body}`,
  (body) => `Content-Length: 0x${body.length.toString(16)}\r\n\r\n${body}`,
  (body) => `Content-Length: ${body.length}, ${body.length}\r\n\r\n${body}`,
  (body) => `Content-Length: -1\r\n\r\n${body}`,
  (body) => `Content-Length: 99999999999999999999\r\n\r\n${body}`,
  (body) => `Content-Length: ${body.length}\r\nTransfer-Encoding: chunked\r\n\r\n${chunked(body)}`,
  (body) => `Transfer-Encoding: chunked\r\n\r\n${chunked(body)}`,
  (body) =>
    `Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)};${"e".repeat(300)}=1\r\n${body}\r\n0\r\n\r\n`,
  (body) => `Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n${chunked(body)}`,
  (body) => `Transfer-Encoding: chunked, identity\r\n\r\n${chunked(body)}`,
  (body) => `Transfer-Encoding: xchunked\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  (body) => `Transfer-Encoding:\tchunked\r\n\r\n${chunked(body)}`,
  (body) => `Transfer-Encoding: chunked\r\n\r\n-1\r\n${body}\r\n0\r\n\r\n`,
  (body) => `Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n${body}`,
  (body) => `Transfer-Encoding: chunked\r\n\r\n${chunked(body).replaceAll("\r\n", "\n")}`,
  (body) => `Transfer-Encoding: chunked\r\n\r\n${chunked(body).slice(0, -4)}X-Trailer: ${SMUGGLED}\r\n\r\n`
]

const chunked = (body: string): string => `${body === "" ? "" : `${body.length.toString(16)}\r\n${body}\r\n`}0\r\n\r\n`

const requestOf = (random: Random): string => {
  const line = `${random.pick(METHODS)} ${random.pick(PATHS)} ${random.pick(VERSIONS)}`.trimEnd()
  const headers = Array.from({ length: random.integer(5) }, () => random.pick(HEADERS)(random))
  const body = random.pick(["", "{}", SMUGGLED_REQUEST, `{"localPart":"x"}${SMUGGLED_REQUEST}`, "x".repeat(2_000)])
  const end = chance(random, 3) ? "\r\n\r\n" : `\r\n${random.pick(FRAMINGS)(body, random)}`
  return `${line}\r\nHost: a${headers.map((header) => `\r\n${header}`).join("")}${end}`
}

const generate = (random: Random): HttpDialogue => {
  let bytes = Array.from({ length: 1 + random.integer(3) }, () => requestOf(random)).join("")
  const isIntact = !chance(random, 3)
  if (!isIntact) bytes = several(random, 3, bytes, (text) => mutateText(random, text))
  const pieces = chance(random, 3) ? (bytes.match(/[\s\S]{1,97}/g) ?? []) : [bytes]
  return { pieces: pieces.length > 60 ? [bytes] : pieces, isIntact }
}

const ANSWER_MILLIS = 10_000

/** Writes a dialogue and ends its side. Resolves to everything that was received. */
const converse = (rig: DefenseRig, pieces: ReadonlyArray<string>): Promise<Buffer | "timeout"> =>
  new Promise((resolve) => {
    const socket = connect({ ...rig.http, localAddress: ATTACKER_ADDRESSES[0], noDelay: true, allowHalfOpen: true })
    const received: Array<Buffer> = []
    const timer = setTimeout(() => {
      socket.destroy()
      resolve("timeout")
    }, ANSWER_MILLIS)
    socket.on("error", () => undefined)
    socket.on("data", (chunk) => received.push(chunk))
    // A server that closes one half waits for the other.
    socket.on("end", () => socket.destroy())
    socket.on("close", () => {
      clearTimeout(timer)
      resolve(Buffer.concat(received))
    })
    for (const piece of pieces) socket.write(piece, "latin1")
    socket.end()
  })

const answersIn = (bytes: Buffer): ReadonlyArray<HttpAnswer> => {
  const reader = new AnswerReader()
  reader.push(bytes)
  const answers: Array<HttpAnswer> = []
  for (let answer = reader.take(); answer !== undefined; answer = reader.take()) {
    answers.push(answer)
    // What follows is another protocol.
    if (answer.status === 101) break
  }
  return answers
}

/** Requests as bytes: lines, headers, lengths, chunks, pipelines, and smuggled requests. */
export const httpTarget: Target<HttpDialogue> = {
  name: "http",
  summary: "raw HTTP: request lines, headers, framing, pipelines, smuggling",
  workers: 6,
  generate,
  open: async ({ count, oracle, rig }) => ({
    play: async ({ isIntact, pieces }) => {
      const bytes = await converse(
        rig,
        pieces.map((piece) => fill(piece, rig))
      )
      if (bytes === "timeout") return [{ rule: "a broken connection is answered or closed", detail: "neither in 10 s" }]
      // An answer to HEAD has a length and no body: such dialogues are examined as text.
      if (/HEAD /.test(pieces.join(""))) {
        count("requests")
        return oracle.examineText(bytes.toString("utf8"))
      }
      const answers = answersIn(bytes)
      count("requests", Math.max(1, answers.length))
      const flaws: Array<Flaw> = []
      for (const answer of answers) {
        if (isIntact && answer.body.includes(SMUGGLED_SERVICE)) {
          flaws.push({ rule: "no body is read as a request", detail: answer.body.slice(0, 300) })
        }
        flaws.push(...oracle.examineAnswer(answer, { hasEnvelope: hasEnvelope(pieces, answer) }))
      }
      return flaws
    },
    close: async () => undefined
  })
}

/** The carrier's routes and refused upgrades have no envelope. */
const hasEnvelope = (pieces: ReadonlyArray<string>, { body, status }: HttpAnswer): boolean =>
  !(
    body === "" &&
    (status === 403 || status === 404 || status === 400 || status === 503) &&
    /webhooks|pgrade/.test(pieces.join(""))
  )
