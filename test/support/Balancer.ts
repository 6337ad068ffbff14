import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"

/** One address for several servers. */
export interface Balancer {
  readonly url: string
  readonly stop: () => Promise<void>
}

/** Leads each connection to the next of these ports on this machine. One whose server is away is closed. */
export const startBalancer = async (ports: ReadonlyArray<number>): Promise<Balancer> => {
  const open = new Set<Socket>()
  let connections = 0
  const server = createServer((client) => {
    const upstream = connect({ host: "127.0.0.1", port: ports[connections++ % ports.length]! })
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
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      const closed = once(server, "close")
      server.close()
      for (const socket of open) socket.destroy()
      await closed
    }
  }
}
