import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"

/** A load balancer that retries until one of its servers answers. */
export interface LoadBalancer {
  readonly url: string
  /** Forwards each new connection to the first of these ports that accepts it. */
  readonly forwardTo: (ports: ReadonlyArray<number>) => void
  readonly stop: () => Promise<void>
}

/** The carrier waits 15 s for an answer. */
const PATIENCE_MILLIS = 14_000
const RETRY_MILLIS = 50

const open = (port: number): Promise<Socket | undefined> =>
  new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port })
    socket.once("connect", () => resolve(socket))
    socket.once("error", () => resolve(undefined))
  })

export const startLoadBalancer = async (): Promise<LoadBalancer> => {
  const sockets = new Set<Socket>()
  let ports: ReadonlyArray<number> = []
  let isStopped = false

  const reach = async (client: Socket): Promise<Socket | undefined> => {
    const deadline = performance.now() + PATIENCE_MILLIS
    while (!client.destroyed && !isStopped && performance.now() < deadline) {
      for (const port of ports) {
        const upstream = await open(port)
        if (upstream !== undefined) return upstream
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MILLIS))
    }
    return undefined
  }
  /** Sends the client's bytes to each server that is tried. One that has just ended closes without an answer. */
  const serve = async (client: Socket): Promise<void> => {
    const sent: Array<Buffer> = []
    let upstream: Socket | undefined
    client.on("data", (chunk: Buffer) => {
      sent.push(chunk)
      upstream?.write(chunk)
    })
    client.on("close", () => upstream?.destroy())
    for (;;) {
      upstream = await reach(client)
      if (upstream === undefined) return void client.destroy()
      for (const chunk of sent) upstream.write(chunk)
      if (await hasAnswered(upstream, client)) return
    }
  }
  /** Forwards the answer of a server. Resolves to whether there is one. */
  const hasAnswered = (upstream: Socket, client: Socket): Promise<boolean> =>
    new Promise((resolve) => {
      let isAnswered = false
      upstream.setNoDelay(true)
      upstream.on("error", () => upstream.destroy())
      upstream.on("data", (chunk: Buffer) => {
        isAnswered = true
        client.write(chunk)
        resolve(true)
      })
      upstream.on("close", () => {
        if (isAnswered || client.destroyed) client.destroy()
        resolve(isAnswered || client.destroyed)
      })
    })
  const server = createServer((client) => {
    sockets.add(client)
    client.setNoDelay(true)
    client.on("close", () => sockets.delete(client))
    client.on("error", () => client.destroy())
    void serve(client)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    forwardTo: (next) => {
      ports = next
    },
    stop: async () => {
      isStopped = true
      const closed = once(server, "close")
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    }
  }
}
