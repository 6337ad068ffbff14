import { type IncomingMessage, type ServerResponse, createServer } from "node:http"
import { createServer as createTlsServer } from "node:https"
import type { AddressInfo } from "node:net"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"

/**
 * A response, with a body or with lines that are sent as they come; or `drop`, which closes the connection at once, or `hang`,
 * which leaves it open without a response.
 */
export type HttpResult =
  | { readonly status: number; readonly body: unknown; readonly headers?: Record<string, string> }
  | { readonly status: number; readonly lines: AsyncIterable<unknown> }
  | "drop"
  | "hang"

export type Handler = (request: IncomingMessage) => Promise<HttpResult>
/** Handlers by path, then by method. */
export type Routes = Readonly<Record<string, Readonly<Record<string, Handler>>>>

export interface JsonServer {
  /** Without a path. */
  readonly url: string
  readonly port: number
  /** Stops listening and closes the open connections. */
  readonly close: () => Promise<void>
}

export interface JsonServerOptions {
  /** A single handler receives every request, for paths that are not known in advance. */
  readonly routes: Routes | Handler
  /** 0 selects a free port. */
  readonly port: number
  /** Serves https with this key and certificate, as PEM. */
  readonly tls?: { readonly key: string; readonly cert: string }
  /** Maps an error of a handler to a response. Other errors are logged and answered with 500. */
  readonly mapError?: (error: unknown) => HttpResult | undefined
}

/** An error that is sent to the client with its status and message. */
export class HttpError extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

const bodyBytesMax = 64 * 1_024
const requestMillisMax = 10_000
/** Closes the connection of a client that has no timeout of its own. */
const hangMillisMax = 120_000

export const ok = (body: unknown): HttpResult => ({ status: 200, body })

export const errorResult = (status: number, error: string, headers: Record<string, string> = {}): HttpResult => ({
  status,
  body: { error },
  headers
})

/** Starts a JSON server on the loopback address. Rejects if the port is not available. */
export const startJsonServer = async (options: JsonServerOptions): Promise<JsonServer> => {
  const { tls } = options
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    void handle(options, request)
      .then((result) => send(result, response))
      .catch((error: unknown) => {
        console.error(error)
        response.destroy()
      })
  }
  const limits = { requestTimeout: requestMillisMax }
  const server = tls === undefined ? createServer(limits, serve) : createTlsServer({ ...limits, ...tls }, serve)
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen(options.port, "127.0.0.1", resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}`,
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}

/** Never rejects. */
const handle = async ({ mapError, routes }: JsonServerOptions, request: IncomingMessage): Promise<HttpResult> => {
  try {
    if (typeof routes === "function") return await routes(request)
    const [path = ""] = (request.url ?? "").split("?", 1)
    return await route(routes, path, request)
  } catch (error) {
    if (error instanceof HttpError) return errorResult(error.status, error.message, { Connection: "close" })
    const mapped = mapError?.(error)
    if (mapped !== undefined) return mapped
    console.error(error)
    return errorResult(500, "internal error")
  }
}

/** Calls the handler of a path and method, or returns 404 or 405. */
export const route = async (routes: Routes, path: string, request: IncomingMessage): Promise<HttpResult> => {
  const methods = Object.hasOwn(routes, path) ? routes[path] : undefined
  if (methods === undefined) return errorResult(404, "no such route")
  const handler = methods[request.method ?? "GET"]
  if (handler === undefined) return errorResult(405, "method not allowed", { Allow: Object.keys(methods).join(", ") })
  return handler(request)
}

const send = async (result: HttpResult, response: ServerResponse): Promise<void> => {
  if (result === "drop") return void response.destroy()
  if (result === "hang") {
    const timer = setTimeout(() => response.destroy(), hangMillisMax)
    response.once("close", () => clearTimeout(timer))
    return
  }
  if ("lines" in result) {
    response.writeHead(result.status, { "Content-Type": "application/x-ndjson" })
    for await (const line of result.lines) response.write(`${JSON.stringify(line)}\n`)
    return void response.end()
  }
  response.writeHead(result.status, { "Content-Type": "application/json", ...result.headers })
  response.end(JSON.stringify(result.body))
}

/** Reads a JSON body of at most `bytesMax`. Fails with 415, 413 or 400. */
export const readJson = async (request: IncomingMessage, bytesMax = bodyBytesMax): Promise<unknown> => {
  // Requires the content type because a web page can send the others to this port without a preflight request.
  if (!/^application\/json\b/i.test(request.headers["content-type"] ?? "")) {
    throw new HttpError(415, "Content-Type must be application/json")
  }
  const body = await readBody(request, bytesMax)
  try {
    return JSON.parse(body.toString()) as unknown
  } catch {
    throw new HttpError(400, "the body is not valid JSON")
  }
}

/** Reads a body of at most `bytesMax`, by default 64 KiB. Fails with 413 if it is longer. */
export const readBody = async (request: IncomingMessage, bytesMax = bodyBytesMax): Promise<Buffer> => {
  const chunks: Array<Buffer> = []
  let length = 0
  // Leaving the loop early must not close the connection, which still carries the response.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > bytesMax) throw new HttpError(413, `the body is longer than ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const [missingProperty, unknownProperty] = ["missing property", "unknown property"]
const leafHook: SchemaIssue.LeafHook = (issue) => {
  if (issue._tag === "MissingKey") return missingProperty
  return issue._tag === "UnexpectedKey" ? unknownProperty : SchemaIssue.defaultLeafHook(issue)
}
const formatIssue = SchemaIssue.makeFormatterStandardSchemaV1({ leafHook })

/** Decodes a JSON value and fills in defaults for absent properties. Fails with 400, also for unknown properties. */
export const decodeJson = <Value>(schema: Schema.Codec<Value, unknown>, value: unknown, defaults: object): Value => {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value)
  const result = Schema.decodeUnknownResult(schema, { errors: "all", onExcessProperty: "error" })(
    isObject ? { ...defaults, ...value } : value
  )
  if (Result.isSuccess(result)) return result.success
  const messages = formatIssue(result.failure.issue).issues.map(({ message, path = [] }) => {
    const property = path.length === 0 ? "body" : path.map(String).join(".")
    const isAboutPresence = message === missingProperty || message === unknownProperty
    return isAboutPresence ? `${message} \`${property}\`` : `\`${property}\`: ${message}`
  })
  // The members of a union report the same issue.
  throw new HttpError(400, [...new Set(messages)].join("; "))
}
