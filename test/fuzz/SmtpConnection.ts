import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { connect as connectSecurely } from "node:tls"
import type { Peer } from "./HttpConnection.ts"

/** A plain connection to an SMTP server. Replies are queued, or passed to `onReply`. */
export class SmtpConnection {
  readonly #socket: Socket
  readonly #replies: Array<string> = []
  #text = ""
  #arrived: (() => void) | undefined
  /** Called with each reply instead of queueing it. */
  onReply: ((reply: string) => void) | undefined

  constructor(peer: Peer) {
    this.#socket = connect({ ...peer, noDelay: true })
    this.#socket.on("error", () => undefined)
    this.#socket.setEncoding("latin1").on("data", (text: string) => this.#read(text))
    this.#socket.on("close", () => this.#arrived?.())
  }

  get isClosed(): boolean {
    return this.#socket.destroyed
  }

  /** Writes, and resolves once the socket accepts more or has closed. */
  async write(bytes: string | Uint8Array): Promise<void> {
    if (this.isClosed) return
    const isTaken = typeof bytes === "string" ? this.#socket.write(bytes, "latin1") : this.#socket.write(bytes)
    if (isTaken) return
    const wait = new AbortController()
    const quiet = (waiting: Promise<unknown>) => waiting.catch(() => undefined)
    await Promise.race([
      quiet(once(this.#socket, "drain", { signal: wait.signal })),
      quiet(once(this.#socket, "close", { signal: wait.signal }))
    ])
    wait.abort()
  }

  /** Ends this side of the connection. */
  end(): void {
    this.#socket.end()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  /** The next reply, its lines joined; undefined once the connection has closed. */
  async reply(): Promise<string | undefined> {
    while (this.#replies.length === 0) {
      if (this.isClosed) return undefined
      await new Promise<void>((resolve) => (this.#arrived = resolve))
    }
    return this.#replies.shift()
  }

  /** Sends a command, and resolves to the code of its reply. */
  async command(line: string): Promise<number | undefined> {
    await this.write(`${line}\r\n`)
    const reply = await this.reply()
    return reply === undefined ? undefined : Number(reply.slice(0, 3))
  }

  /** Starts TLS after STARTTLS. Resolves once it is established or has failed. Nothing can be read afterwards. */
  async secure(): Promise<void> {
    this.#socket.removeAllListeners("data")
    const secured = connectSecurely({ socket: this.#socket, rejectUnauthorized: false })
    secured.on("error", () => undefined)
    await new Promise<void>((resolve) => void secured.once("secureConnect", resolve).once("close", resolve))
  }

  /** Greets, so that mail can follow. Resolves to whether the server accepted the session. */
  async greet(): Promise<boolean> {
    const greeting = await this.reply()
    if (greeting?.startsWith("220") !== true) return false
    return (await this.command("EHLO client.example")) === 250
  }

  #read(text: string): void {
    const lines = (this.#text + text).split("\r\n")
    this.#text = lines.pop() ?? ""
    for (const line of lines) {
      // A hyphen after the code announces another line (RFC 5321, section 4.2.1).
      if (line[3] === "-") continue
      if (this.onReply === undefined) this.#replies.push(line)
      else this.onReply(line)
    }
    this.#arrived?.()
  }
}
