import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"

/** A line to a server that can be cut. */
export interface CutLine {
  readonly url: string
  /** Where it leads to. */
  readonly leadTo: (url: string) => void
  /** Breaks off every connection, and lets none through until it is mended. */
  readonly cut: () => void
  readonly mend: () => void
  readonly stop: () => Promise<void>
}

/** Listens on a free port of this machine, and leads nowhere yet. */
export const startCutLine = async (): Promise<CutLine> => {
  const open = new Set<Socket>()
  let port = 0
  let isCut = true
  const server = createServer((client) => {
    if (isCut) return void client.destroy()
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
    isCut = true
    for (const socket of open) socket.destroy()
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    leadTo: (url) => {
      port = Number(new URL(url).port)
      isCut = false
    },
    cut,
    mend: () => (isCut = false),
    stop: async () => {
      const closed = once(server, "close")
      server.close()
      cut()
      await closed
    }
  }
}
