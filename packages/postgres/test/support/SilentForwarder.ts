import { Effect } from "effect"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"

interface SilentForwarder {
  readonly port: number
  readonly silence: () => void
  /** The connections that were silenced and are still open. */
  readonly silenced: ReadonlySet<unknown>
  readonly stop: () => void
}

/**
 * Forwards connections to a port of this machine. `silence` drops every byte on the connections that are open, in both
 * directions, and keeps them open: a failed-over host, a hung pooler or a lost NAT entry. New connections work.
 */
export const silentForwarder = (port: number) =>
  Effect.acquireRelease(
    Effect.callback<SilentForwarder>((resume) => {
      const open = new Set<Socket>()
      const silenced = new Set<Socket>()
      const server = createServer((client) => {
        const upstream = connect({ host: "127.0.0.1", port })
        for (const [socket, other] of [
          [client, upstream],
          [upstream, client]
        ] as const) {
          open.add(socket)
          socket.on("error", () => other.destroy())
          socket.on("close", () => {
            open.delete(socket)
            silenced.delete(socket)
            other.destroy()
          })
          socket.pipe(other)
        }
      })
      const silence = () => {
        for (const socket of open) silenced.add(socket.unpipe().resume())
      }
      const stop = () => {
        server.close()
        for (const socket of open) socket.destroy()
      }
      server.listen(0, "127.0.0.1", () =>
        resume(Effect.succeed({ port: (server.address() as AddressInfo).port, silence, stop, silenced }))
      )
    }),
    ({ stop }) => Effect.sync(stop)
  )
