import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer } from "node:https"
import type { AddressInfo, Socket } from "node:net"
import { Effect, type Scope } from "effect"
import { authority, certificate, privateKey } from "./MadeUpAuthority.ts"

/** A request that an agent received. */
export interface Asked {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage["headers"]
  readonly body: string
}

export interface AgentServer {
  readonly port: number
  readonly url: string
  /** The entry that allows this agent. */
  readonly allow: { readonly host: string; readonly port: number; readonly ca: string }
  readonly asked: ReadonlyArray<Asked>
  /** Every connection, including those that only completed a handshake. */
  readonly sockets: ReadonlyArray<Socket>
}

export type Answering = (response: ServerResponse, asked: Asked) => void

/**
 * Starts an agent on this machine that answers as given, with a certificate for localhost, agent.example and 127.0.0.1.
 */
export const agentServer = (answer: Answering): Effect.Effect<AgentServer, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const asked: Array<Asked> = []
      const sockets: Array<Socket> = []
      const server = createServer({ key: privateKey, cert: certificate }, (request, response) => {
        const chunks: Array<Buffer> = []
        request.on("data", (chunk: Buffer) => chunks.push(chunk))
        request.on("end", () => {
          const { headers, method = "", url = "" } = request
          const one = { method, path: url, headers, body: Buffer.concat(chunks).toString() }
          asked.push(one)
          answer(response, one)
        })
      })
      server.on("connection", (socket: Socket) => sockets.push(socket))
      await new Promise<void>((resolve) => {
        server.listen(0, "127.0.0.1", resolve)
      })
      const { port } = server.address() as AddressInfo
      const close = () =>
        new Promise<void>((resolve) => {
          server.close(() => resolve())
          server.closeAllConnections()
        })
      const allow = { host: "127.0.0.1", port, ca: authority }
      return { port, url: `https://127.0.0.1:${port}/agent?id=1`, allow, asked, sockets, close }
    }),
    ({ close }) => Effect.promise(close)
  )
