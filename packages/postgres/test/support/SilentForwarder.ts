import { Effect } from "effect"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"

interface SilentForwarder {
  readonly port: number
  readonly silence: () => void
  /** Keeps the answers of the open connections back, and completes when clients have sent all of these texts meanwhile. */
  readonly sentUnanswered: (...texts: ReadonlyArray<string>) => Effect.Effect<void>
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
      const upstreams = new Set<Socket>()
      const server = createServer((client) => {
        const upstream = connect({ host: "127.0.0.1", port })
        upstreams.add(upstream)
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
      const sentUnanswered = (...texts: ReadonlyArray<string>) =>
        Effect.callback<void>((resume) => {
          let sent = ""
          for (const upstream of upstreams) upstream.unpipe().pause()
          for (const client of open) {
            if (upstreams.has(client)) continue
            client.on("data", (bytes) => {
              sent += bytes.toString("latin1")
              if (texts.every((text) => sent.includes(text))) resume(Effect.void)
            })
          }
        })
      const stop = () => {
        server.close()
        for (const socket of open) socket.destroy()
      }
      server.listen(0, "127.0.0.1", () =>
        resume(
          Effect.succeed({ port: (server.address() as AddressInfo).port, silence, sentUnanswered, stop, silenced })
        )
      )
    }),
    ({ stop }) => Effect.sync(stop)
  )
