import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"

/** An address of this machine that leads to others. */
export interface Forwarder {
  readonly url: string
  /** Breaks off every connection. */
  readonly cut: () => void
  readonly stop: () => Promise<void>
}

/**
 * Leads each connection to the port of this machine that `next` names for it. It is closed where there is none, or where
 * nobody listens there.
 */
export const startForwarder = async (next: () => number | undefined): Promise<Forwarder> => {
  const open = new Set<Socket>()
  const server = createServer((client) => {
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
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    stop: async () => {
      const closed = once(server, "close")
      server.close()
      cut()
      await closed
    }
  }
}
