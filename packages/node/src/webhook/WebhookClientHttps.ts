import { Timestamp, WebhookClient, type WebhookRequest, WebhookUnreachable } from "@agentos/core"
import { Effect, Layer, Redacted } from "effect"
import { createHmac } from "node:crypto"
import type { IncomingMessage } from "node:http"
import { inTime, REFUSAL_MILLIS, refusalWith, traceHeaders } from "./AgentCallbackHttps.ts"
import { type AllowedAgent, readCallbackUrl } from "./CallbackUrl.ts"
import { exchangeOnce, openConnections, unreachable } from "./Exchange.ts"
import { resolveByDns, type ResolveHost } from "./HostAddresses.ts"

export interface WebhookClientOptions {
  /** Hosts that are allowed although they are on this machine. For the sandbox only; none by default. */
  readonly allow?: ReadonlyArray<AllowedAgent> | undefined
  /** DNS by default. */
  readonly resolve?: ResolveHost | undefined
  /** Time to the end of the answer; 15 s by default. Less than half of an event's lease. */
  readonly timeoutMillis?: number | undefined
}

const TIMEOUT_MILLIS = 15_000
/** Limit of an answer. Its body is ignored, and is read only so that the connection can be used again. */
const BYTES_MAX = 65_536
/**
 * How long an idle connection is kept for the next event, in milliseconds. Common servers close it after 5 s, and a
 * request on a closing connection fails.
 */
const IDLE_TIMEOUT = 3_000
/** More than the endpoints that `WebhookWorker` serves at a time, so that none waits for the connection of another. */
const SOCKETS_TOTAL = 1_024
const SOCKETS_IDLE_PER_HOST = 16

/** The key in a secret: `whsec_` and base64 of the bytes. */
const keyOf = (secret: Redacted.Redacted<string>): Buffer =>
  Buffer.from(Redacted.value(secret).replace(/^whsec_/, ""), "base64")

/** Returns the headers of a delivery, signed per Standard Webhooks (https://www.standardwebhooks.com). */
const headersOf = ({ body, id, secrets, timestamp }: WebhookRequest) => {
  const seconds = String(Math.floor(timestamp / Timestamp.SECOND))
  const signed = `${id}.${seconds}.${body}`
  return {
    Accept: "*/*",
    "Accept-Encoding": "identity",
    "Content-Type": "application/json",
    "Content-Length": String(Buffer.byteLength(body)),
    "User-Agent": "AgentOS/1",
    "webhook-id": id,
    "webhook-timestamp": seconds,
    "webhook-signature": secrets
      .map((secret) => `v1,${createHmac("sha256", keyOf(secret)).update(signed).digest("base64")}`)
      .join(" ")
  }
}

/**
 * Posts once to a URL of the operator, which may be of any host, by http or https, and returns the status of the answer. Signs
 * as `WebhookClient` does, follows no redirects, and ends within 15 s.
 */
export const postSigned = (request: WebhookRequest): Effect.Effect<number, WebhookUnreachable> =>
  Effect.tryPromise({
    try: async (signal) => {
      const { "Content-Length": _, ...headers } = headersOf(request)
      const response = await fetch(request.url, {
        method: "POST",
        headers,
        body: request.body,
        redirect: "manual",
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MILLIS)])
      })
      await response.body?.cancel()
      return response.status
    },
    catch: (error) => {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
      return new WebhookUnreachable({ message: `the receiver could not be reached: ${String(cause)}` })
    }
  })

/** Reads an answer to its end or its limit, whichever is first. The status is known by then. */
const discard = (host: string, response: IncomingMessage, done: (error?: Error) => void): void => {
  let bytes = 0
  response.on("data", (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > BYTES_MAX) done()
  })
  response.on("end", () => done())
  response.on("error", done)
  response.on("close", () => done(unreachable("connection", `${host} broke off in the middle of its answer.`)))
}

/**
 * Posts to webhooks by https, at public internet addresses only, with the checks of `AgentCallbackHttps`: the URL, its
 * DNS result, and every connection. Follows no redirects, uses no proxy and verifies certificates.
 */
export const layer = (options: WebhookClientOptions = {}): Layer.Layer<WebhookClient> =>
  Layer.effect(
    WebhookClient,
    Effect.gen(function* () {
      const agent = yield* openConnections({
        timeout: IDLE_TIMEOUT,
        maxFreeSockets: SOCKETS_IDLE_PER_HOST,
        maxTotalSockets: SOCKETS_TOTAL
      })
      const allow = options.allow ?? []
      const resolve = options.resolve ?? resolveByDns
      const timeoutMillis = options.timeoutMillis ?? TIMEOUT_MILLIS

      const post = Effect.fnUntraced(function* (request: WebhookRequest) {
        const target = readCallbackUrl(request.url, allow)
        if (typeof target === "string") return yield* unreachable("address", `url ${target}.`)
        let status = 0
        yield* exchangeOnce({
          agent,
          resolve,
          target,
          headers: { ...headersOf(request), ...(yield* traceHeaders) },
          body: request.body,
          read: (response, done) => {
            status = response.statusCode ?? 0
            discard(target.host, response, done)
          }
        }).pipe(inTime(target.host, timeoutMillis, "did not finish its answer"))
        return status
      })

      return WebhookClient.of({
        refusal: refusalWith(resolve, allow, REFUSAL_MILLIS),
        post: (request) => Effect.mapError(post(request), ({ message }) => new WebhookUnreachable({ message }))
      })
    })
  )
