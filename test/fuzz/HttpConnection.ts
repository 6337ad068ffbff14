import { connect, type Socket } from "node:net"

export interface HttpAnswer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

export interface Peer {
  readonly host: string
  readonly port: number
  /** The address that the connection comes from. */
  readonly localAddress: string
}

const HEAD_END = Buffer.from("\r\n\r\n")
const BODYLESS: ReadonlySet<number> = new Set([101, 204, 304])

interface Head {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
}

const readHead = (text: string): Head => {
  const [statusLine = "", ...lines] = text.split("\r\n")
  const status = /^HTTP\/1\.1 (\d{3}) ?/.exec(statusLine)?.[1]
  if (status === undefined) throw new Error(`not a status line: ${JSON.stringify(statusLine.slice(0, 200))}`)
  const headers = new Map<string, string>()
  for (const line of lines) {
    const colon = line.indexOf(":")
    headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim())
  }
  return { status: Number(status), headers }
}

/** Joins the chunks at the start of `bytes`; undefined until the last one is there. */
const readChunks = (bytes: Buffer): { readonly body: Buffer; readonly length: number } | undefined => {
  const parts: Array<Buffer> = []
  for (let at = 0; ;) {
    const lineEnd = bytes.indexOf("\r\n", at)
    if (lineEnd < 0) return undefined
    const size = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16)
    if (Number.isNaN(size)) throw new Error("not a chunk")
    const next = lineEnd + 2 + size + 2
    if (bytes.length < next) return undefined
    if (size === 0) return { body: Buffer.concat(parts), length: next }
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size))
    at = next
  }
}

/** Reads the answers out of the bytes that a server sends. Throws when they are not HTTP/1.1. */
export class AnswerReader {
  #bytes: Buffer = Buffer.alloc(0)

  /** Whether part of an answer has arrived. */
  get hasRest(): boolean {
    return this.#bytes.length > 0
  }

  push(chunk: Buffer): void {
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk])
  }

  /** The next complete answer. One to HEAD has no body, whatever its headers say. */
  take(isHead = false): HttpAnswer | undefined {
    for (;;) {
      const end = this.#bytes.indexOf(HEAD_END)
      if (end < 0) return undefined
      const head = readHead(this.#bytes.toString("latin1", 0, end))
      const rest = this.#bytes.subarray(end + HEAD_END.length)
      // An interim answer precedes the one that counts.
      if (head.status === 100) {
        this.#bytes = rest
        continue
      }
      const body = isHead || BODYLESS.has(head.status) ? { body: Buffer.alloc(0), length: 0 } : bodyOf(head, rest)
      if (body === undefined) return undefined
      this.#bytes = rest.subarray(body.length)
      return { ...head, body: body.body.toString("utf8") }
    }
  }

  /** Bytes after the last answer, for example the frames after a handshake. */
  rest(): Buffer {
    const rest = this.#bytes
    this.#bytes = Buffer.alloc(0)
    return rest
  }
}

const bodyOf = ({ headers }: Head, rest: Buffer): { readonly body: Buffer; readonly length: number } | undefined => {
  if (headers.get("transfer-encoding") === "chunked") return readChunks(rest)
  const length = Number(headers.get("content-length") ?? 0)
  return rest.length < length ? undefined : { body: rest.subarray(0, length), length }
}

/** The server closed the connection, or stayed silent, before it had answered. */
export class NotAnswered extends Error {
  readonly reason: "closed" | "timeout"
  constructor(reason: "closed" | "timeout") {
    super(reason === "closed" ? "the connection closed before the answer" : "no answer in time")
    this.reason = reason
  }
}

/** A keep-alive connection for one request at a time. It reconnects when the server has closed it. */
export class HttpConnection {
  readonly #peer: Peer
  readonly #timeoutMillis: number
  #socket: Socket | undefined

  constructor(peer: Peer, timeoutMillis = 20_000) {
    this.#peer = peer
    this.#timeoutMillis = timeoutMillis
  }

  /** Sends the bytes of one request and resolves to its answer, or rejects with `NotAnswered`. */
  async request(bytes: Uint8Array, isHead = false): Promise<HttpAnswer> {
    const isReused = this.#socket?.destroyed === false
    try {
      return await this.#exchange(bytes, isHead)
    } catch (error) {
      // The server may close an idle connection at the moment at which it is used again.
      const isStale = isReused && error instanceof NotAnswered && error.reason === "closed"
      if (!isStale) throw error
      return await this.#exchange(bytes, isHead)
    }
  }

  close(): void {
    this.#socket?.destroy()
    this.#socket = undefined
  }

  #exchange(bytes: Uint8Array, isHead: boolean): Promise<HttpAnswer> {
    const socket = this.#open()
    return new Promise((resolve, reject) => {
      const reader = new AnswerReader()
      const finish = (end: () => void) => {
        clearTimeout(timer)
        socket.off("data", onData).off("close", onClose)
        end()
      }
      const fail = (error: Error) =>
        finish(() => {
          this.close()
          reject(error)
        })
      const onData = (chunk: Buffer) => {
        try {
          reader.push(chunk)
          const answer = reader.take(isHead)
          if (answer === undefined) return
          finish(() => {
            if (answer.headers.get("connection") === "close") this.close()
            resolve(answer)
          })
        } catch (error) {
          fail(error instanceof Error ? error : new Error(String(error)))
        }
      }
      const onClose = () => fail(new NotAnswered("closed"))
      const timer = setTimeout(() => fail(new NotAnswered("timeout")), this.#timeoutMillis)
      socket.on("data", onData).on("close", onClose)
      socket.write(bytes)
    })
  }

  #open(): Socket {
    if (this.#socket?.destroyed === false) return this.#socket
    const socket = connect({ ...this.#peer, noDelay: true })
    // Every error is followed by a close event.
    socket.on("error", () => undefined)
    this.#socket = socket
    return socket
  }
}

export interface RawRequest {
  readonly method: string
  readonly target: string
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  /** Bytes as latin1. */
  readonly body?: string | undefined
}

/** The bytes of a request, with Host and Content-Length where the headers do not name them. */
export const requestBytes = ({ body, headers, method, target }: RawRequest, host: string): Buffer => {
  const names = new Set(headers.map(([name]) => name.toLowerCase()))
  const lines = [`${method} ${target} HTTP/1.1`]
  if (!names.has("host")) lines.push(`Host: ${host}`)
  for (const [name, value] of headers) lines.push(`${name}: ${value}`)
  const isDelimited = names.has("content-length") || names.has("transfer-encoding")
  if (body !== undefined && !isDelimited) lines.push(`Content-Length: ${body.length}`)
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${body ?? ""}`, "latin1")
}
