import type { Socket } from "node:net"
import { SMTPServer, type SMTPServerOptions } from "smtp-server"
import { SMTPConnection, type SMTPConnectionOptions } from "smtp-server/lib/smtp-connection.js"
import { SMTPStream } from "smtp-server/lib/smtp-stream.js"
import { DotUnstuffing } from "./DotUnstuffing.ts"
import type { ProcessorShare } from "./ProcessorShare.ts"
import { type Peer, peerOf } from "./SessionTable.ts"

/**
 * Decides which actions a connection may take. A returned text is the reason of a 421 reply, after which the
 * connection is closed.
 */
export interface ConnectionRules {
  /** Decides whether the peer may open a connection now. `leave` is called once for each admitted connection. */
  readonly enter: (peer: Peer) => string | undefined
  readonly leave: (peer: Peer) => void
  /** Counts a command; `verb` is in upper case. */
  readonly command: (connectionId: string, peer: Peer, verb: string) => Promise<string | undefined> | string | undefined
  /** Counts a reply that refuses a command. */
  readonly refusal: (connectionId: string, verb: string) => string | undefined
  /** Decides on DATA before the server asks for the message; the error is the reply. */
  readonly message: (peer: Peer) => Promise<Refusal | undefined>
}

type Next = () => void

/** The code and the text of a reply. */
export type Refusal = Error & { readonly responseCode: number }

/**
 * An smtp-server that bounds the cost of its connections: each command and each piece of a message is a task of
 * the processor share, and the rules may end a connection before the library handles a command.
 *
 * It overrides private methods of the library (with an underscore), so the library's version is pinned exactly.
 */
export class PacedServer extends SMTPServer {
  readonly share: ProcessorShare
  readonly rules: ConnectionRules

  constructor(options: SMTPServerOptions, share: ProcessorShare, rules: ConnectionRules) {
    super(options)
    this.share = share
    this.rules = rules
  }

  override connect(socket: Socket, options?: SMTPConnectionOptions | null): void {
    // A socket that is already closed never emits its close event.
    if (socket.destroyed) return
    const peer = peerOf(socket.remoteAddress ?? "")
    const refusal = this.rules.enter(peer)
    if (refusal !== undefined) return turnAway(socket, refusal)
    const connection = new PacedConnection(this, peer, socket, options)
    this.connections.add(connection)
    connection.on("error", (error) => this._onError(error))
    connection.init()
  }
}

/** Time in which a rejected client may close its side of the connection. */
const TURNED_AWAY_MILLIS = 1_000

const turnAway = (socket: Socket, reason: string): void => {
  socket.on("error", () => undefined)
  socket.end(`421 ${reason}\r\n`)
  // Its data is read and discarded, because unread bytes would reset the connection before the reply arrives.
  socket.resume()
  setTimeout(() => socket.destroy(), TURNED_AWAY_MILLIS).unref()
}

class PacedConnection extends SMTPConnection {
  readonly #server: PacedServer
  readonly #peer: Peer
  #verb = ""
  #hasLeft = false

  constructor(server: PacedServer, peer: Peer, socket: Socket, options?: SMTPConnectionOptions | null) {
    super(server, socket, options)
    this.#server = server
    this.#peer = peer
  }

  override _createParser(): SMTPStream {
    // The library calls this from its constructor, before this object's fields are initialized.
    const parser = new PacedStream(this._server.options, (task) => this.#server.share.run(this.#peer.address, task))
    parser.oncommand = (command, next) => this._onCommand(command, next)
    parser.on("error", (error) => this.send(421, `Error: ${error.message}`))
    return parser
  }

  override _onCommand(command: Buffer, next: Next = () => undefined): void {
    const run = () => this.#server.share.run(this.#peer.address, () => super._onCommand(command, next))
    const parser = this._parser
    this.#verb = /^[A-Za-z]{1,10}/.exec(command.toString("latin1"))?.[0].toUpperCase() ?? ""
    const decide = (reason: string | undefined) => {
      if (reason === undefined || this._closing || this._closed) return run()
      this.send(421, reason)
      // Called, so that the closed parser discards the rest.
      if (parser !== false) next()
    }
    const decision = this.#server.rules.command(this.id, this.#peer, this.#verb)
    if (decision instanceof Promise) void decision.then(decide)
    else decide(decision)
  }

  override send(code: number, data?: string | string[] | null, context?: string | false): void {
    super.send(code, data, context)
    if (code < 400 || code === 421 || this._closing || this._closed) return
    const reason = this.#server.rules.refusal(this.id, this.#verb)
    if (reason !== undefined) this.send(421, reason)
  }

  override handler_DATA(command: Buffer, next: Next): void {
    if (this.session.envelope.rcptTo.length === 0) super.handler_DATA(command, next)
    else void this.#receive(command, next)
  }

  async #receive(command: Buffer, next: Next): Promise<void> {
    const refusal = await this.#server.rules.message(this.#peer)
    if (this._closing || this._closed) return next()
    if (refusal === undefined) return super.handler_DATA(command, next)
    this.send(refusal.responseCode, refusal.message)
    next()
  }

  override _onClose(): void {
    super._onClose()
    if (this.#hasLeft) return
    this.#hasLeft = true
    this.#server.rules.leave(this.#peer)
  }
}

type Written = (error?: Error | null) => void

/**
 * The library's parser, but it reads a message in one pass: the library handles each line that begins with a
 * dot separately.
 */
class PacedStream extends SMTPStream {
  readonly #pace: (task: () => void) => void
  #unstuffing = new DotUnstuffing()

  constructor(options: { readonly maxCommandLength?: number | undefined }, pace: (task: () => void) => void) {
    super({ maxCommandLength: options.maxCommandLength })
    this.#pace = pace
  }

  override startDataMode(maxBytes?: number | string | null): ReturnType<SMTPStream["startDataMode"]> {
    this.#unstuffing = new DotUnstuffing()
    return super.startDataMode(maxBytes)
  }

  override _feedDataStream(chunk: Buffer, written: Written): void {
    this.#pace(() => {
      const stream = this._dataStream
      if (this.isClosed || stream === null) return written()
      const { content, rest } = this.#unstuffing.push(chunk)
      this._countDataBytes(content.length)
      if (rest !== undefined) return this._endDataMode(content, rest, written)
      if (content.length === 0 || !stream.writable || stream.write(content) || stream.destroyed) return written()
      const resume = () => {
        stream.off("drain", resume)
        stream.off("close", resume)
        written()
      }
      stream.on("drain", resume)
      stream.on("close", resume)
    })
  }
}
