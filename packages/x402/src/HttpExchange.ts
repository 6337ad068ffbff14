import { type IncomingMessage, request as requestHttp } from "node:http"
import { request as requestHttps } from "node:https"

/** A request to a node of a chain or to a facilitator. */
export interface HttpCall {
  /** With its user and password, if it has some. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** JSON text of a POST; null for a GET. */
  readonly body: string | null
  /** Size limit of the response. */
  readonly answerBytesMax: number
  readonly signal: AbortSignal
}

/** A response with any status, its body read completely. */
export interface HttpAnswer {
  readonly status: number
  readonly body: string
}

export const isSuccess = ({ status }: HttpAnswer): boolean => status >= 200 && status < 300

const read = (response: IncomingMessage, bytesMax: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const chunks: Array<Buffer> = []
    let length = 0
    response.on("data", (chunk: Buffer) => {
      length += chunk.length
      if (length > bytesMax) response.destroy(new Error(`an answer of more than ${bytesMax} bytes`))
      else chunks.push(chunk)
    })
    response.once("end", () => resolve(Buffer.concat(chunks).toString("utf8")))
    response.once("error", reject)
  })

/**
 * Sends one request, on a connection that is kept for others, and reads the whole response. Rejects a redirect: following
 * one would show the request to a server that is named in the response, or turn a POST into a GET. It uses Node's client,
 * because loading `fetch` takes a fifth of a server's start.
 */
export const exchangeHttp = ({ answerBytesMax, body, headers, signal, url }: HttpCall): Promise<HttpAnswer> =>
  new Promise((resolve, reject) => {
    const send = url.startsWith("https:") ? requestHttps : requestHttp
    const content =
      body === null ? {} : { "content-type": "application/json", "content-length": `${Buffer.byteLength(body)}` }
    const request = send(
      url,
      {
        method: body === null ? "GET" : "POST",
        headers: { accept: "application/json", ...content, ...headers },
        signal
      },
      (response) => {
        const { headers: received, statusCode: status = 0 } = response
        if (status >= 300 && status < 400 && received.location !== undefined) {
          response.destroy(new Error("a redirect, which is not followed"))
        }
        read(response, answerBytesMax).then((text) => resolve({ status, body: text }), reject)
      }
    )
    request.once("error", reject)
    request.end(body ?? undefined)
  })
