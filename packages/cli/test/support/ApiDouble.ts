import { createServer, type IncomingMessage, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll } from "vitest"

/** A received request. */
export interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage["headers"]
  readonly body: string
}

/**
 * A response: `data` in the success envelope, a status with a body, or one that depends on the URL of the server. `hang`
 * never answers, `cut` closes the connection.
 */
export type Reply = PlainReply | ((url: string) => PlainReply)
type PlainReply =
  | { readonly data: unknown }
  | { readonly status: number; readonly body: unknown; readonly headers?: Readonly<Record<string, string>> }
  | "hang"
  | "cut"

export const REQUEST_ID = "0190f3c2-0000-7000-8000-0000000000aa"

/** An error in the envelope of the API. */
export const errorReply = (status: number, code: string, more: Readonly<Record<string, unknown>> = {}): Reply => ({
  status,
  body: { error: { code, message: `It is ${code}.`, requestId: REQUEST_ID, retryable: false, ...more }, guides: {} }
})

/** A 402 response with these payment options. */
export const challengeReply = (accepts: ReadonlyArray<unknown>): Reply => ({
  status: 402,
  headers: {
    "PAYMENT-REQUIRED": Buffer.from(JSON.stringify({ x402Version: 2, resource: { url: "x" }, accepts })).toString(
      "base64"
    )
  },
  body: { error: { code: "PAYMENT_REQUIRED", message: "Pay.", requestId: REQUEST_ID, retryable: false }, guides: {} }
})

/** An HTTP server with scripted responses. */
export interface ApiDouble {
  readonly url: () => string
  readonly seen: Array<Seen>
  /** Scripts the responses to a method and path, in order. The last one repeats. */
  readonly on: (call: string, ...replies: ReadonlyArray<Reply>) => void
  /** Calls `notice` for each further request that hangs. */
  readonly onHanging: (notice: () => void) => void
  /** Removes all scripts and the notice. */
  readonly reset: () => void
}

const readBody = async (request: IncomingMessage): Promise<string> => {
  let body = ""
  for await (const chunk of request.setEncoding("utf8")) body += chunk
  return body
}

const addressOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

/** Starts a server for a test file. */
export const useApiDouble = (): ApiDouble => {
  const plans = new Map<string, Array<Reply>>()
  const seen: Array<Seen> = []
  let hanging = (): void => {}
  let server: Server
  beforeAll(async () => {
    server = createServer((request, response) => {
      void readBody(request).then((body) => {
        const { headers, method = "", url = "" } = request
        seen.push({ method, url, headers, body })
        const plan = plans.get(`${method} ${url.split("?")[0]}`) ?? []
        const planned = (plan.length > 1 ? plan.shift() : plan[0]) ?? errorReply(404, "RESOURCE_NOT_FOUND")
        const reply = typeof planned === "function" ? planned(addressOf(server)) : planned
        if (reply === "hang") return hanging()
        if (reply === "cut") return void request.socket.destroy()
        const [status, answer, more] =
          "data" in reply
            ? [200, { data: reply.data, requestId: REQUEST_ID, guide: "/docs" }, {}]
            : [reply.status, reply.body, reply.headers ?? {}]
        // The fake clock of the test, which the header of Node ignores.
        const common = {
          "Content-Type": "application/json",
          "X-Request-Id": REQUEST_ID,
          Date: new Date().toUTCString()
        }
        response.writeHead(status, { ...common, ...more })
        response.end(typeof answer === "string" || Buffer.isBuffer(answer) ? answer : JSON.stringify(answer))
      })
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  })
  afterAll(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  return {
    url: () => addressOf(server),
    seen,
    on: (call, ...replies) => void plans.set(call, [...replies]),
    onHanging: (notice) => void (hanging = notice),
    reset: () => {
      plans.clear()
      hanging = () => {}
    }
  }
}
