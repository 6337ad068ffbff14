import { createHmac } from "node:crypto"
import type { Agent } from "node:https"
import {
  AgentCallback,
  type AgentAddress,
  type AgentMessage,
  type AgentReply,
  AgentUnreachable,
  Timestamp,
  toAgentMessageRecord,
  Trace
} from "@agentos/core"
import { Cause, Deferred, Effect, Layer, Queue, Redacted, Stream } from "effect"
import { makeAnswerReader } from "./AnswerReader.ts"
import { type AllowedAgent, type CallbackUrl, hasUsualPort, readCallbackUrl, UNUSABLE_HOST } from "./CallbackUrl.ts"
import { type Exchange, exchangeOnce, openConnections, unreachable } from "./Exchange.ts"
import { publicAddresses, resolveByDns, type ResolveHost } from "./HostAddresses.ts"

/** Limits of an agent's answer, in milliseconds and bytes. */
export interface AnswerLimits {
  /** Time from the request to the first byte of the answer's body, or to its end if it has none. */
  readonly firstByte: number
  /** Time to the end of the answer. */
  readonly whole: number
  readonly bytes: number
}
export const DEFAULT_ANSWER_LIMITS: AnswerLimits = { firstByte: 5_000, whole: 30_000, bytes: 65_536 }

export interface AgentCallbackOptions {
  /** Hosts that are allowed although they are on this machine. For the sandbox only; none by default. */
  readonly allow?: ReadonlyArray<AllowedAgent> | undefined
  /** DNS by default. */
  readonly resolve?: ResolveHost | undefined
  readonly limits?: Partial<AnswerLimits> | undefined
  /** Duration of a name's refusal; 3 s by default. */
  readonly refusalMillis?: number | undefined
}

/**
 * Time limit of the DNS lookup by `refusal`, and the duration of every refusal that needed DNS, so that the time
 * reveals nothing about the name.
 */
export const REFUSAL_MILLIS = 3_000
/** How long an idle connection is kept for the next turn, in milliseconds. */
const IDLE_TIMEOUT = 60_000
/**
 * Limits of concurrent connections. A call uses one while its agent prepares the answer, and one host may serve the
 * agents of many calls. Waiting for a connection counts toward the agent's time limit. A server is full at about 500
 * calls.
 */
const SOCKETS_PER_HOST = 1_024
const SOCKETS_TOTAL = 4_096
/** Limit of idle connections kept for the next turn: a handshake costs more than the rest of a request. */
const SOCKETS_IDLE_PER_HOST = 256

const headersOf = (secret: Redacted.Redacted<string>, timestamp: string, body: string) => ({
  Accept: "application/json, application/x-ndjson",
  "Accept-Encoding": "identity",
  "Content-Type": "application/json",
  "Content-Length": String(Buffer.byteLength(body)),
  "User-Agent": "AgentOS/1",
  "X-Service-Timestamp": timestamp,
  "X-Service-Signature": `v1=${createHmac("sha256", Redacted.value(secret)).update(`${timestamp}.${body}`).digest("hex")}`
})

/** The header that continues the trace of a request at its receiver. */
export const traceHeaders = Effect.map(Trace.traceparent, (traceparent) =>
  traceparent === null ? {} : { traceparent }
)

interface AnswerReading {
  readonly host: string
  readonly bytesMax: number
  /** Called when the first byte of the answer arrives, or when the answer ends. */
  readonly onAnswer: () => void
  readonly onReply: (reply: AgentReply) => void
}

const readAnswer =
  ({ bytesMax, host, onAnswer, onReply }: AnswerReading): Exchange["read"] =>
  (response, done) => {
    const status = response.statusCode ?? 0
    if (status < 200 || status > 299) {
      const why = status >= 300 && status < 400 ? "; redirects are not followed" : ""
      return done(unreachable("status", `${host} answered with status ${status}${why}.`))
    }
    const reader = makeAnswerReader(response.headers["content-type"], bytesMax)
    let isOver = false
    const emit = (read: () => ReadonlyArray<AgentReply>): void => {
      if (isOver) return
      try {
        for (const reply of read()) {
          onReply(reply)
          if (reply._tag !== "HangUp") continue
          // Replies after a hangup are ignored, so reading stops here.
          isOver = true
          return done()
        }
      } catch (error) {
        isOver = true
        done(error as Error)
      }
    }
    response.on("data", (bytes: Buffer) => {
      onAnswer()
      emit(() => reader.take(bytes))
    })
    response.on("end", () => {
      onAnswer()
      emit(() => reader.end())
      done()
    })
    response.on("error", done)
    response.on("close", () => done(unreachable("connection", `${host} broke off in the middle of its answer.`)))
  }

export const inTime =
  (host: string, millis: number, what: string) =>
  <A>(self: Effect.Effect<A, AgentUnreachable>): Effect.Effect<A, AgentUnreachable> =>
    Effect.timeoutOrElse(self, {
      duration: millis,
      orElse: () =>
        Effect.fail(new AgentUnreachable({ reason: "timeout", message: `${host} ${what} within ${millis / 1_000} s.` }))
    })

interface Asking {
  readonly agent: Agent
  readonly resolve: ResolveHost
  readonly limits: AnswerLimits
}

const answerTo = (
  { agent, limits, resolve }: Asking,
  target: CallbackUrl,
  secret: Redacted.Redacted<string>,
  message: AgentMessage,
  onReply: (reply: AgentReply) => void
): Effect.Effect<void, AgentUnreachable> =>
  Effect.gen(function* () {
    const body = JSON.stringify(toAgentMessageRecord(message))
    const timestamp = String(Math.floor((yield* Timestamp.now) / Timestamp.SECOND))
    const answered = Deferred.makeUnsafe<void>()
    const exchange = exchangeOnce({
      agent,
      resolve,
      target,
      headers: { ...headersOf(secret, timestamp, body), ...(yield* traceHeaders) },
      body,
      read: readAnswer({
        host: target.host,
        bytesMax: limits.bytes,
        onAnswer: () => Deferred.doneUnsafe(answered, Effect.void),
        onReply
      })
    })
    const firstByte = Deferred.await(answered).pipe(
      inTime(target.host, limits.firstByte, "did not begin to answer"),
      Effect.andThen(Effect.never)
    )
    yield* Effect.raceFirst(exchange, firstByte).pipe(inTime(target.host, limits.whole, "did not finish its answer"))
  }).pipe(Trace.trace("ask agent", { kind: "client" }))

const askWith =
  (asking: Asking, allow: ReadonlyArray<AllowedAgent>) =>
  ({ secret, url }: AgentAddress, message: AgentMessage): Stream.Stream<AgentReply, AgentUnreachable> => {
    const target = readCallbackUrl(url, allow)
    if (typeof target === "string") {
      return Stream.fail(new AgentUnreachable({ reason: "address", message: `agentWebhookUrl ${target}.` }))
    }
    return Stream.callback<AgentReply, AgentUnreachable>(
      (queue: Queue.Queue<AgentReply, AgentUnreachable | Cause.Done>) =>
        answerTo(asking, target, secret, message, (reply) => Queue.offerUnsafe(queue, reply)).pipe(
          Effect.andThen(Queue.end(queue))
        ),
      // The answer is read even if it is not spoken yet. The buffer fits every reply, because none is shorter than one
      // byte.
      { bufferSize: asking.limits.bytes }
    )
  }

/** Returns why a URL may not be used. Its host is resolved now, and again whenever it is connected to. */
export const refusalWith =
  (resolve: ResolveHost, allow: ReadonlyArray<AllowedAgent>, refusalMillis: number) => (url: string) =>
    Effect.gen(function* () {
      const target = readCallbackUrl(url, allow)
      if (typeof target === "string") return target
      // Numbers bought with another port keep it, because `ask` connects to any port.
      if (!hasUsualPort(target)) return "must use port 443, the default of https"
      if (target.isLiteral || target.isAllowed) return undefined
      const found = Effect.tryPromise(() => publicAddresses(resolve, target.host)).pipe(
        Effect.matchEffect({ onFailure: () => Effect.never, onSuccess: () => Effect.undefined })
      )
      return yield* Effect.timeoutOrElse(found, {
        duration: refusalMillis,
        orElse: () => Effect.succeed(UNUSABLE_HOST)
      })
    })

/**
 * Connects to agents by https, at public internet addresses only: checked in the URL, in its DNS result, and on every
 * connection. Follows no redirects, uses no proxy and verifies certificates. Keeps a bounded number of connections for
 * later turns; if the agent closes a kept connection at the moment of reuse, that request fails.
 */
export const layer = (options: AgentCallbackOptions = {}): Layer.Layer<AgentCallback> =>
  Layer.effect(
    AgentCallback,
    Effect.gen(function* () {
      const agent = yield* openConnections({
        timeout: IDLE_TIMEOUT,
        maxSockets: SOCKETS_PER_HOST,
        maxFreeSockets: SOCKETS_IDLE_PER_HOST,
        maxTotalSockets: SOCKETS_TOTAL
      })
      const allow = options.allow ?? []
      const resolve = options.resolve ?? resolveByDns
      const limits = { ...DEFAULT_ANSWER_LIMITS, ...options.limits }
      return AgentCallback.of({
        refusal: refusalWith(resolve, allow, options.refusalMillis ?? REFUSAL_MILLIS),
        ask: askWith({ agent, resolve, limits }, allow)
      })
    })
  )
