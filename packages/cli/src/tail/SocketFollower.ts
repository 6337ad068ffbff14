import { EXIT, Failure } from "@agentos/command-line"
import { randomInt } from "node:crypto"
import type { Context } from "../context/Context.ts"
import { type Server, type DataOf, serverTime } from "../server/Server.ts"
import { ROUTES } from "../server/Routes.ts"
import { NoSession, RealtimeSession, type SessionMode } from "./RealtimeSession.ts"
import { pause } from "./TailEvent.ts"

const MIN_BACKOFF_MILLIS = 500
const MAX_BACKOFF_MILLIS = 30_000
/** A session of this length resets the backoff. */
const STABLE_SESSION_MILLIS = 5_000
/** Failed sockets in a row before sockets count as blocked. */
const BLOCKED_AFTER = 2
/** How long to use REST before the next attempt to open a socket. */
const REST_MILLIS = 60_000

/** The work to do over a socket, and without one. */
export interface Follower {
  readonly mode: SessionMode
  /** Serves a session until it ends. `startedAt` is the server's time before it started. */
  readonly serve: (session: RealtimeSession, startedAt: string) => Promise<void>
  /** Does the same over REST until `stop` is aborted. */
  readonly serveWithoutSocket: (stop: AbortSignal) => Promise<void>
}

/** Returns the delay before attempt `count` + 1, with jitter between half of the span and all of it. */
export const backoff = (count: number, random: (limit: number) => number): number => {
  const span = Math.min(MAX_BACKOFF_MILLIS, MIN_BACKOFF_MILLIS * 2 ** Math.min(count, 10))
  return span / 2 + random(span / 2)
}

/** Whether a retry may succeed. */
export const isTransient = (error: unknown): error is Failure =>
  error instanceof Failure &&
  (error.parts.retryable === true ||
    ["UNREACHABLE", "UNEXPECTED_ANSWER", "RATE_LIMITED", "INTERNAL_ERROR", "REQUEST_TIMEOUT"].includes(
      error.parts.code
    ) ||
    error.exit === EXIT.provider)

const requestSession = async ({ host }: Context, client: Server) => {
  const { method, path } = ROUTES.getRealtimeToken
  const answer = await client.send({ method, path, repeatable: true })
  const { realtime } = client.dataOf(answer) as DataOf<"getRealtimeToken">
  const { protocol } = new URL(realtime.websocketUrl)
  if (protocol !== "wss:" && !client.baseUrl.startsWith("http:"))
    throw new Failure({ code: "UNEXPECTED_ANSWER", message: "The server returned an unencrypted WebSocket URL." })
  return {
    startedAt: serverTime(answer.headers) ?? new Date(host.now()).toISOString(),
    url: realtime.websocketUrl,
    token: realtime.token
  }
}

/**
 * Follows the gateway until `stop` is aborted. Reconnects with a growing delay, and uses REST for a while if sockets
 * are blocked. Throws permanent errors, and any error of the first attempt.
 */
export const followSocket = async (
  context: Context,
  client: Server,
  follower: Follower,
  stop: AbortSignal
): Promise<void> => {
  const { host, output } = context
  let attempts = 0
  let blocked = 0
  let reached = false
  while (!stop.aborted) {
    const start = host.now()
    let why: string
    try {
      const { startedAt, token, url } = await requestSession(context, client)
      const session = await RealtimeSession.open({ url, token, mode: follower.mode }, stop)
      if (attempts > 0 || blocked > 0) output.note("Reconnected.")
      reached = true
      blocked = 0
      try {
        await serveUntil(session, stop, () => follower.serve(session, startedAt))
      } finally {
        await session.close()
      }
      why = session.why
      if (host.now() - start >= STABLE_SESSION_MILLIS) attempts = 0
    } catch (error) {
      if (stop.aborted) return
      if (!(error instanceof NoSession) && !(reached && isTransient(error))) throw error
      why = error.message
      if (error instanceof NoSession) {
        reached = true
        blocked = error.isBlocked ? blocked + 1 : 0
      }
    }
    if (stop.aborted) return
    if (blocked >= BLOCKED_AFTER) {
      output.note(`Cannot open a WebSocket (${why}). Polling over REST for a minute.`)
      await serveOverRest(follower, stop)
      continue
    }
    const millis = backoff(attempts++, randomInt)
    output.note(`Disconnected: ${why.replace(/\.$/, "")}. Reconnecting in ${(millis / 1_000).toFixed(1)} s.`)
    await pause(millis, stop)
  }
}

const serveUntil = async (session: RealtimeSession, stop: AbortSignal, serve: () => Promise<void>): Promise<void> => {
  const close = () => void session.close()
  stop.addEventListener("abort", close, { once: true })
  try {
    await serve()
  } finally {
    stop.removeEventListener("abort", close)
  }
}

/** Works over REST until it is time to try a socket again. Retries transient errors. */
const serveOverRest = async ({ serveWithoutSocket }: Follower, stop: AbortSignal): Promise<void> => {
  const until = AbortSignal.any([stop, AbortSignal.timeout(REST_MILLIS)])
  let attempts = 0
  while (!until.aborted)
    try {
      await serveWithoutSocket(until)
    } catch (error) {
      if (stop.aborted || !isTransient(error)) throw error
      await pause(backoff(attempts++, randomInt), until)
    }
}
