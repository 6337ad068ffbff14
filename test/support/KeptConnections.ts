import { readdirSync, readFileSync, readlinkSync } from "node:fs"
import { connect } from "node:net"

/** A connection on which a client sends one request after the other. */
export interface KeptConnection {
  /** The port of the client, which identifies the connection. */
  readonly port: number
  readonly answers: number
  /** Whether a request on it was sent and not answered. */
  readonly lost: boolean
}

const REQUEST = "GET /health/ready HTTP/1.1\r\nHost: agents.example\r\n\r\n"

/**
 * Clients that each send one request after the other on a connection of their own, and open another one when the server
 * closes it after an answer that says so.
 */
export class KeptConnections {
  readonly #port: number
  readonly #closed: Array<KeptConnection> = []
  readonly #open = new Set<Promise<void>>()
  #answers = 0
  #isStopping = false

  constructor(port: number, clients: number) {
    this.#port = port
    for (let client = 0; client < clients; client++) this.#keep(this.#connect())
  }

  get answers(): number {
    return this.#answers
  }

  /** The connections that have ended. */
  get closed(): ReadonlyArray<KeptConnection> {
    return this.#closed
  }

  /** Sends no further request; resolves when every connection has ended. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await Promise.all(this.#open)
  }

  #keep(connection: Promise<void>): void {
    this.#open.add(connection)
    void connection.then(() => this.#open.delete(connection))
  }

  #connect(): Promise<void> {
    return new Promise((resolve) => {
      const socket = connect(this.#port, "127.0.0.1")
      let [answers, text, isUnderWay, port] = [0, "", false, 0]
      const send = () => {
        isUnderWay = true
        socket.write(REQUEST)
      }
      socket.setNoDelay(true).on("error", () => undefined)
      socket.once("connect", () => {
        port = socket.localPort!
        send()
      })
      socket.on("data", (chunk: Buffer) => {
        text += chunk.toString()
        if (!text.endsWith("}")) return
        if (!text.startsWith("HTTP/1.1 200")) throw new Error(`an unexpected answer: ${text}`)
        isUnderWay = false
        answers++
        this.#answers++
        const isLast = /^connection: close/im.test(text)
        text = ""
        if (isLast) return
        if (this.#isStopping) socket.destroy()
        else send()
      })
      socket.once("close", () => {
        // A server that has stopped refuses connections: nothing was sent on those.
        if (port !== 0) this.#closed.push({ port, answers, lost: isUnderWay })
        if (!this.#isStopping && port !== 0) this.#keep(this.#connect())
        resolve()
      })
    })
  }
}

/** Returns the ports of the clients that are connected to a process, by the tables of Linux. */
export const clientPortsOf = (pid: number, serverPort: number): ReadonlySet<number> => {
  const inodes = new Set(
    readdirSync(`/proc/${pid}/fd`).map((descriptor) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${descriptor}`))?.[1]
      } catch {
        return undefined
      }
    })
  )
  const ports = readFileSync(`/proc/${pid}/net/tcp`, "utf8")
    .split("\n")
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , , , , , , , inode]) => {
      const port = Number.parseInt(local?.split(":")[1] ?? "", 16)
      return port === serverPort && inodes.has(inode)
    })
    .map(([, , remote]) => Number.parseInt(remote!.split(":")[1]!, 16))
  return new Set(ports)
}
