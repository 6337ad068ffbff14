import { connect, type Socket } from "node:net"
import type { Load, LoadAnswer, LoadCommand } from "./LoadGenerator.ts"

/** Sends the same request over many connections, one at a time on each, and counts the answers. */

const HEAD_END = "\r\n\r\n"
const LAST_CHUNK = "\r\n0\r\n\r\n"
const STATUS_AT = "HTTP/1.1 ".length
/** Full answers that the caller reads, per run. */
const SAMPLES = 4

/** Counts the answers of one run. */
class Run {
  readonly load: Load
  readonly #startedAt = performance.now()
  readonly #samples: Array<string> = []
  readonly #end: (answer: LoadAnswer) => void
  readonly #open = new Set<Connection>()
  #count = 0
  #bytes = 0

  constructor(load: Load, end: (answer: LoadAnswer) => void) {
    this.load = load
    this.#end = end
  }

  start(): void {
    for (let place = 0; place < this.load.connections; place++) this.#open.add(new Connection(this, place < SAMPLES))
  }

  /** Counts an answer. Returns whether the connection sends another request. */
  answered(status: number, bytes: number, sample: string | undefined): boolean {
    if (status !== this.load.status) {
      this.fail(`status ${status} instead of ${this.load.status}: ${sample ?? ""}`)
      return false
    }
    this.#count++
    this.#bytes += bytes
    if (sample !== undefined) this.#samples.push(sample)
    return performance.now() - this.#startedAt < this.load.millis
  }

  closed(connection: Connection): void {
    this.#open.delete(connection)
    if (this.#open.size > 0) return
    const millis = performance.now() - this.#startedAt
    this.#end({ type: "measured", count: this.#count, bytes: this.#bytes, millis, samples: this.#samples })
  }

  fail(problem: string): void {
    for (const connection of this.#open) connection.destroy()
    this.#open.clear()
    this.#end({ type: "failed", problem })
  }
}

let sent = 0

class Connection {
  readonly #run: Run
  readonly #socket: Socket
  readonly #before: string
  readonly #after: string | undefined
  /** Bytes of the body that are missing. Undefined: the head is not complete, or the body is chunked. */
  #missing: number | undefined
  #isChunked = false
  #status = 0
  #bytes = 0
  #start = ""
  #sample: Array<Buffer> | undefined

  constructor(run: Run, keepsFirst: boolean) {
    this.#run = run
    const [before = "", after] = run.load.request.split("{unique}")
    this.#before = before
    this.#after = after
    this.#sample = keepsFirst ? [] : undefined
    this.#socket = connect({ host: run.load.host, port: run.load.port, noDelay: true }, () => this.#send())
    this.#socket.on("data", (chunk) => this.#read(chunk))
    this.#socket.on("error", (error) => run.fail(error.message))
    this.#socket.on("close", () => run.closed(this))
  }

  destroy(): void {
    this.#socket.removeAllListeners("close")
    this.#socket.destroy()
  }

  #send(): void {
    this.#missing = undefined
    this.#isChunked = false
    this.#bytes = 0
    this.#start = ""
    this.#socket.write(
      this.#after === undefined ? this.#before : this.#before + (sent++).toString(16).padStart(8, "0") + this.#after,
      "latin1"
    )
  }

  #read(chunk: Buffer): void {
    this.#sample?.push(chunk)
    this.#bytes += chunk.length
    if (this.#isChunked) {
      this.#start = (this.#start + chunk.toString("latin1", Math.max(0, chunk.length - LAST_CHUNK.length))).slice(
        -LAST_CHUNK.length
      )
      if (this.#start === LAST_CHUNK) this.#finish()
      return
    }
    if (this.#missing !== undefined) {
      this.#missing -= chunk.length
      if (this.#missing === 0) this.#finish()
      return
    }
    const text = this.#start + chunk.toString("latin1")
    const end = text.indexOf(HEAD_END)
    if (end < 0) {
      this.#start = text
      return
    }
    const head = text.slice(0, end)
    this.#status = Number(head.slice(STATUS_AT, STATUS_AT + 3))
    const bodyBytes = text.length - end - HEAD_END.length
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
    this.#isChunked = length === undefined && /\r\ntransfer-encoding: *chunked/i.test(head)
    if (this.#isChunked) {
      this.#start = text.slice(-LAST_CHUNK.length)
      if (this.#start === LAST_CHUNK) this.#finish()
      return
    }
    this.#missing = this.#status === 304 ? 0 : Number(length ?? 0) - bodyBytes
    if (this.#missing === 0) this.#finish()
  }

  #finish(): void {
    const sample = this.#sample === undefined ? undefined : Buffer.concat(this.#sample).toString("utf8")
    this.#sample = undefined
    if (this.#run.answered(this.#status, this.#bytes, sample)) this.#send()
    else this.#socket.end()
  }
}

process.on("message", ({ load }: LoadCommand) => {
  new Run(load, (answer) => process.send?.(answer)).start()
})
process.once("disconnect", () => process.exit(0))
