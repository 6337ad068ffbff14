import { type IncomingMessage, request as requestHttp } from "node:http"
import { request as requestHttps } from "node:https"
import { urlToHttpOptions } from "node:url"

/** A URL of a node of a chain or of a facilitator. */
export interface HttpTarget {
  /** With its user and password, if it has some. */
  readonly url: string
  /** Size limit of a response. */
  readonly answerBytesMax: number
}

/** A request to a target. */
export interface HttpCall {
  readonly headers?: Readonly<Record<string, string>>
  /** JSON text of a POST; null for a GET. */
  readonly body: string | null
  /** Time limit for the whole response. */
  readonly timeoutMillis: number
  readonly signal?: AbortSignal
}

/** The whole response did not arrive within the time limit. */
export class ExchangeTimeout extends Error {
  override readonly name = "ExchangeTimeout"
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
    response.once("end", () => resolve((chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)).toString("utf8")))
    response.once("error", reject)
  })

/**
 * Returns the function that sends a request to a target, on a connection that is kept for others, and reads the whole response.
 * It rejects a redirect: following one would show the request to a server that is named in the response, or turn a POST into
 * a GET. It uses Node's client, because loading `fetch` takes a fifth of a server's start. The URL is parsed once, and the
 * time limit is a timer: an AbortSignal takes as long as a third of a request.
 */
export const exchangeHttp = ({ answerBytesMax, url }: HttpTarget): ((call: HttpCall) => Promise<HttpAnswer>) => {
  const target = urlToHttpOptions(new URL(url))
  const send = target.protocol === "https:" ? requestHttps : requestHttp
  return ({ body, headers, signal, timeoutMillis }) =>
    new Promise((resolve, reject) => {
      const content =
        body === null ? {} : { "content-type": "application/json", "content-length": `${Buffer.byteLength(body)}` }
      const request = send(
        {
          ...target,
          method: body === null ? "GET" : "POST",
          headers: { accept: "application/json", ...content, ...headers },
          ...(signal !== undefined && { signal })
        },
        (response) => {
          const { headers: received, statusCode: status = 0 } = response
          if (status >= 300 && status < 400 && received.location !== undefined) {
            response.destroy(new Error("a redirect, which is not followed"))
          }
          read(response, answerBytesMax).then((text) => {
            clearTimeout(timer)
            resolve({ status, body: text })
          }, fail)
        }
      )
      const fail = (cause: unknown) => {
        clearTimeout(timer)
        reject(cause as Error)
      }
      const timer = setTimeout(() => {
        reject(new ExchangeTimeout(`no answer within ${timeoutMillis} ms`))
        request.destroy()
      }, timeoutMillis)
      request.once("error", fail)
      request.end(body ?? undefined)
    })
}
