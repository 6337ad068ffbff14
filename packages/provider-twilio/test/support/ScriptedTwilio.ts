import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import { onTestFinished } from "vitest"

export interface Asked {
  readonly method: string
  /** With its query. */
  readonly url: string
  readonly authorization: string | undefined
  readonly form: URLSearchParams
}

/** The response to a request: a status and a value, or a custom one. */
export type Reply =
  | { readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }
  | ((response: ServerResponse) => void)

/** Closes the connection after the request was read. */
export const drop: Reply = (response) => response.destroy()
/** Never responds. */
export const hang: Reply = () => undefined

/** Starts a server that answers each request with the next reply, and repeats the last one. It stops with the test. */
export const startScriptedTwilio = async (...replies: ReadonlyArray<Reply>) => {
  const asked: Array<Asked> = []
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const form = new URLSearchParams(await text(request))
    const reply = replies[Math.min(asked.length, replies.length - 1)]!
    const { authorization } = request.headers
    asked.push({ method: request.method ?? "", url: request.url ?? "", authorization, form })
    if (typeof reply === "function") return reply(response)
    const { body, headers, status } = reply
    response.writeHead(status, { "Content-Type": "application/json", ...headers })
    return response.end(body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body))
  }
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  onTestFinished(close)
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, close }
}
