import { type IncomingMessage, type ServerResponse, createServer } from "node:http"
import type { AddressInfo } from "node:net"

/** What becomes of a request: an answer, or a connection that dies now or when the client has had enough. */
export type Outcome =
  | { readonly status: number; readonly body: unknown; readonly headers?: Record<string, string> }
  | "drop"
  | "hang"

export type Handler = (request: IncomingMessage) => Promise<Outcome>
/** By path, then by method. */
export type Routes = Readonly<Record<string, Readonly<Record<string, Handler>>>>

/** A server that serves on 127.0.0.1. */
export interface JsonServer {
  /** Without a path. */
  readonly url: string
  readonly port: number
  /** Stops serving and breaks the connections that are left. */
  readonly close: () => Promise<void>
}

export interface JsonServerOptions {
  /** Or one handler for every request, where paths are not all known beforehand. */
  readonly routes: Routes | Handler
  /** 0 takes a free one. */
  readonly port: number
  /** The answer to what a handler threw, where it is not an `HttpRefusal`. Without one it is logged, and 500. */
  readonly explain?: (error: unknown) => Outcome | undefined
}

/** A request that is answered early. */
export class HttpRefusal extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

const bodyBytesMax = 64 * 1_024
const requestMillisMax = 10_000
/** A client with no time-out of its own is let go after this. */
const hangMillisMax = 120_000

export const ok = (body: unknown): Outcome => ({ status: 200, body })

export const failed = (status: number, error: string, headers: Record<string, string> = {}): Outcome => ({
  status,
  body: { error },
  headers
})

/** Serves JSON over HTTP on this machine alone. Rejects when the port can't be had. */
export const startJsonServer = async (options: JsonServerOptions): Promise<JsonServer> => {
  const server = createServer({ requestTimeout: requestMillisMax }, (request, response) => {
    void answer(options, request).then((outcome) => send(outcome, response))
  })
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen(options.port, "127.0.0.1", resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}

/** Lets the handler of a request answer, and turns whatever it throws into an answer. Never rejects. */
const answer = async ({ explain, routes }: JsonServerOptions, request: IncomingMessage): Promise<Outcome> => {
  try {
    return typeof routes === "function" ? await routes(request) : await route(routes, request)
  } catch (error) {
    if (error instanceof HttpRefusal) return failed(error.status, error.message, { Connection: "close" })
    const explained = explain?.(error)
    if (explained !== undefined) return explained
    console.error(error)
    return failed(500, "internal error")
  }
}

const route = async (routes: Routes, request: IncomingMessage): Promise<Outcome> => {
  const [path = ""] = (request.url ?? "").split("?", 1)
  const methods = routes[path]
  if (methods === undefined) return failed(404, "no such route")
  const handler = methods[request.method ?? "GET"]
  if (handler === undefined) return failed(405, "method not allowed", { Allow: Object.keys(methods).join(", ") })
  return handler(request)
}

const send = (outcome: Outcome, response: ServerResponse): void => {
  if (outcome === "drop") return void response.destroy()
  if (outcome === "hang") {
    const letGo = setTimeout(() => response.destroy(), hangMillisMax)
    response.once("close", () => clearTimeout(letGo))
    return
  }
  response.writeHead(outcome.status, { "Content-Type": "application/json", ...outcome.headers })
  response.end(JSON.stringify(outcome.body))
}

/** The body of a request, as long as it is JSON, says so, and isn't too long. */
export const readJson = async (request: IncomingMessage): Promise<unknown> => {
  // A page in a browser can send other types here without asking.
  if (!/^application\/json\b/i.test(request.headers["content-type"] ?? "")) {
    throw new HttpRefusal(415, "JSON expected")
  }
  const body = await readBody(request)
  try {
    return JSON.parse(body.toString()) as unknown
  } catch {
    throw new HttpRefusal(400, "not JSON")
  }
}

/** The body of a request, as long as it isn't too long. */
export const readBody = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Array<Buffer> = []
  let length = 0
  // Leaving this loop early must not cut the connection that is to carry the answer.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > bodyBytesMax) throw new HttpRefusal(413, `body over ${bodyBytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
