import { createServer, type ServerResponse } from "node:http"
import { Effect, type Scope } from "effect"

/** A request that the fake received. */
export interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly body: string
}

/** Sends a complete response, or none. */
export type Respond = (request: SeenRequest, response: ServerResponse) => void

export interface HttpFake {
  readonly url: string
  readonly seen: ReadonlyArray<SeenRequest>
}

/** Starts an HTTP server on a free local port for the duration of the test. */
export const serve = (respond: Respond): Effect.Effect<HttpFake, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(
        () =>
          new Promise<HttpFake & { readonly close: () => void }>((resolve) => {
            const seen: Array<SeenRequest> = []
            const server = createServer((incoming, response) => {
              const chunks: Array<Buffer> = []
              incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
              incoming.on("end", () => {
                const { headers, method = "", url: path = "" } = incoming
                const request = { method, path, headers, body: Buffer.concat(chunks).toString() }
                seen.push(request)
                respond(request, response)
              })
            })
            server.listen(0, "127.0.0.1", () => {
              const address = server.address()
              const port = typeof address === "object" && address !== null ? address.port : 0
              const close = () => {
                server.close()
                server.closeAllConnections()
              }
              resolve({ url: `http://127.0.0.1:${port}`, seen, close })
            })
          })
      ),
      ({ close }) => Effect.sync(close)
    ),
    ({ seen, url }) => ({ seen, url })
  )

/** Responds with JSON. */
export const sendJson = (response: ServerResponse, value: unknown, status = 200): void => {
  response.writeHead(status, { "content-type": "application/json" })
  response.end(JSON.stringify(value))
}

/** A local address where no server listens. */
export const unreachableUrl = "http://127.0.0.1:1"
