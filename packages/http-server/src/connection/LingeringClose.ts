import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"

/** More than the longest body of an operation, so that a client can send all of any body that this service reads. */
const DISCARDED_MAX_BYTES = 32 * 1024 * 1024
/** How long a client may send the rest of a body, and how long it may pause, in milliseconds. */
const LINGER = 10_000
const IDLE = 2_000
/** Connections of a server that linger at a time. Others are closed at once. */
const LINGERING_MAX = 256

/**
 * Closes connections whose request was answered before its body was read. Closing them at once would reset them: a proxy
 * that sends the whole body before it reads the response would lose the response, and answer 502 or 503 instead. The rest of
 * the body is discarded, unparsed, up to 32 MiB and for up to 10 seconds (RFC 9112, section 9.6).
 */
export class LingeringClose {
  readonly #lingering = new Set<Socket>()

  /** Must be called when the listeners of the response are attached, because it takes the connection over before them. */
  watch(request: IncomingMessage, response: ServerResponse): void {
    if (request.complete) return
    response.prependOnceListener("finish", () => {
      const { socket } = request
      if (request.complete || socket.destroyed || this.#lingering.size >= LINGERING_MAX) return
      // Both Node and the adapter leave the connection of a complete request open until `destroySoon`.
      request.complete = true
      socket.destroySoon = () => this.#linger(socket)
    })
  }

  #linger(socket: Socket): void {
    this.#lingering.add(socket)
    const destroy = () => void socket.destroy()
    const limit = setTimeout(destroy, LINGER).unref()
    const idle = setTimeout(destroy, IDLE).unref()
    socket.once("close", () => {
      clearTimeout(limit)
      clearTimeout(idle)
      this.#lingering.delete(socket)
    })
    socket.once("end", destroy)
    let leftBytes = DISCARDED_MAX_BYTES
    const discard = ({ length }: Buffer): void => {
      leftBytes -= length
      if (leftBytes < 0) return destroy()
      idle.refresh()
      // Other connections have their turn.
      socket.pause()
      setImmediate(() => socket.resume())
    }
    socket.once("resume", () => {
      // Takes the bytes from the parser, to which a body in chunks of one byte would be expensive.
      socket.on("data", discard)
      for (const listener of socket.listeners("data")) {
        if (listener !== discard) socket.off("data", listener as (chunk: Buffer) => void)
      }
    })
    socket.end()
    // An unread body pauses the connection. Node reads on only if it is resumed before the parser loses it to a listener.
    socket.pause()
    socket.resume()
  }
}
