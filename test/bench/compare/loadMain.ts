import { connect, type Socket } from "node:net"
import { answerParent } from "./ChildModule.ts"

/** Sends the same request over many connections, one at a time on each, and counts the answers. */

/** A request that many connections repeat. */
export interface Load {
  readonly host: string
  readonly port: number
  /** The bytes of the request. `{unique}` becomes another eight hexadecimal digits each time. */
  readonly request: string
  /** The status that each answer must have. */
  readonly status: number
  readonly connections: number
  readonly millis: number
}

export interface LoadResult {
  readonly count: number
  readonly millis: number
  /** A few of the answers, head and body. */
  readonly samples: ReadonlyArray<string>
}

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
  readonly #end: PromiseWithResolvers<LoadResult>
  readonly #open = new Set<Connection>()
  #count = 0

  constructor(load: Load) {
    this.load = load
    this.#end = Promise.withResolvers()
  }

  start(): Promise<LoadResult> {
    for (let place = 0; place < this.load.connections; place++) this.#open.add(new Connection(this, place < SAMPLES))
    return this.#end.promise
  }

  /** Counts an answer. Returns whether the connection sends another request. */
  answered(status: number, sample: string | undefined): boolean {
    if (status !== this.load.status) {
      this.fail(`status ${status} instead of ${this.load.status}: ${sample ?? ""}`)
      return false
    }
    this.#count++
    if (sample !== undefined) this.#samples.push(sample)
    return performance.now() - this.#startedAt < this.load.millis
  }

  closed(connection: Connection): void {
    this.#open.delete(connection)
    if (this.#open.size > 0) return
    const millis = performance.now() - this.#startedAt
    this.#end.resolve({ count: this.#count, millis, samples: this.#samples })
  }

  fail(problem: string): void {
    for (const connection of this.#open) connection.destroy()
    this.#open.clear()
    this.#end.reject(new Error(`${this.load.request.split("\r\n")[0]}: ${problem}`))
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
    this.#start = ""
    this.#socket.write(
      this.#after === undefined ? this.#before : this.#before + (sent++).toString(16).padStart(8, "0") + this.#after,
      "latin1"
    )
  }

  #read(chunk: Buffer): void {
    this.#sample?.push(chunk)
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
    if (this.#run.answered(this.#status, sample)) this.#send()
    else this.#socket.end()
  }
}

answerParent((load: Load) => new Run(load).start())
