import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"

/** A TCP forwarder. */
export interface Forwarder {
  readonly url: string
  readonly port: number
  /** Closes every connection. */
  readonly cut: () => void
  /** Drops every byte on the connections that are open, and keeps them open. New connections work. */
  readonly silence: () => void
  /** Drops every byte on all connections, and on new ones too, until `restore`, which closes them. */
  readonly mute: () => void
  readonly restore: () => void
  /** Resolves when a client connects. */
  readonly nextConnection: () => Promise<unknown>
  readonly stop: () => Promise<void>
}

/**
 * Forwards each connection to the local port that `next` returns. Closes the connection if there is no port, or no
 * listener on it.
 */
export const startForwarder = async (next: () => number | undefined): Promise<Forwarder> => {
  const open = new Set<Socket>()
  let isMuted = false
  const server = createServer((client) => {
    if (isMuted) {
      open.add(client)
      client.on("error", () => client.destroy()).on("close", () => open.delete(client))
      return void client.resume()
    }
    const port = next()
    if (port === undefined) return void client.destroy()
    const upstream = connect({ host: "127.0.0.1", port })
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client]
    ] as const) {
      open.add(socket)
      socket.setNoDelay(true)
      socket.on("error", () => other.destroy())
      socket.on("close", () => {
        open.delete(socket)
        other.destroy()
      })
      socket.pipe(other)
    }
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const cut = () => {
    for (const socket of open) socket.destroy()
  }
  const silence = () => {
    for (const socket of open) socket.unpipe().resume()
  }
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    cut,
    silence,
    nextConnection: () => once(server, "connection"),
    mute: () => {
      isMuted = true
      silence()
    },
    restore: () => {
      isMuted = false
      cut()
    },
    stop: async () => {
      const closed = once(server, "close")
      server.close()
      cut()
      await closed
    }
  }
}
