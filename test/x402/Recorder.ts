import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { Effect, type Scope } from "effect"

/** A request to the outside. */
export interface Seen {
  readonly by: "node" | "facilitator"
  /** The JSON-RPC method, or the path. */
  readonly what: string
  readonly body: string
}

export type Watch = (seen: Seen) => Promise<void>

/** Starts a proxy that calls `watch` before it passes a request on, with another body if `change` makes one. */
export const recorder = (
  by: Seen["by"],
  target: string,
  watch: Watch,
  change: (body: string) => string = (body) => body
): Effect.Effect<string, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(
        () =>
          new Promise<{ readonly url: string; readonly close: () => void }>((resolve) => {
            const passOn = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
              const chunks: Array<Buffer> = []
              for await (const chunk of incoming) chunks.push(chunk as Buffer)
              const body = Buffer.concat(chunks).toString()
              const path = incoming.url ?? "/"
              await watch({ by, what: by === "node" ? String(JSON.parse(body).method) : path, body })
              const answer = await fetch(target.replace(/\/$/, "") + (path === "/" ? "" : path), {
                method: incoming.method ?? "POST",
                ...(body === "" ? {} : { body: change(body), headers: { "content-type": "application/json" } })
              })
              response.writeHead(answer.status, { "content-type": "application/json" }).end(await answer.text())
            }
            const server = createServer((incoming, response) => {
              passOn(incoming, response).catch(() => response.destroy())
            })
            server.listen(0, "127.0.0.1", () => {
              const address = server.address()
              const port = typeof address === "object" && address !== null ? address.port : 0
              resolve({
                url: `http://127.0.0.1:${port}`,
                close: () => {
                  server.close()
                  server.closeAllConnections()
                }
              })
            })
          })
      ),
      ({ close }) => Effect.sync(close)
    ),
    ({ url }) => url
  )
