import { randomInt } from "node:crypto"
import type { Context } from "../command/Handler.ts"
import { EXIT } from "../failure/ExitCode.ts"
import { Failure } from "../failure/Failure.ts"
import { type ApiClient, type DataOf } from "../server/ApiClient.ts"
import { ROUTES } from "../server/Routes.ts"
import { serverTime } from "../server/ServerTime.ts"
import { pause } from "./Pause.ts"
import { NoSession, RealtimeSession, type SocketOrder } from "./RealtimeSession.ts"

const FIRST_PAUSE_MILLIS = 500
const LONGEST_PAUSE_MILLIS = 30_000
/** A session that lived so long was a good one: the next pause is short again. */
const GOOD_SESSION_MILLIS = 5_000
/** Sockets that fail to open one after the other before they count as blocked. */
const BLOCKED_AFTER = 2
/** How long nothing is asked of sockets once they are blocked. */
const WITHOUT_SOCKET_MILLIS = 60_000

/** What to do over a socket, and without one. */
export interface Follower {
  readonly mode: SocketOrder["mode"]
  /** Serves a session until it is over. `at` is the server's time before it began. */
  readonly serve: (session: RealtimeSession, at: string) => Promise<void>
  /** Does the same over REST, until it is stopped. */
  readonly serveWithoutSocket: (stop: AbortSignal) => Promise<void>
}

/** How long to wait before attempt `count` + 1: from half of the span up to all of it, so that many do not come at once. */
export const pauseAfter = (count: number, random: (limit: number) => number): number => {
  const span = Math.min(LONGEST_PAUSE_MILLIS, FIRST_PAUSE_MILLIS * 2 ** Math.min(count, 10))
  return span / 2 + random(span / 2)
}

/** Whether the same attempt may go well a little later. */
export const isTransient = (error: unknown): error is Failure =>
  error instanceof Failure &&
  (error.parts.retryable === true ||
    ["UNREACHABLE", "UNEXPECTED_ANSWER", "RATE_LIMITED", "INTERNAL_ERROR", "REQUEST_TIMEOUT"].includes(
      error.parts.code
    ) ||
    error.exit === EXIT.provider)

const order = async ({ host }: Context, client: ApiClient, mode: SocketOrder["mode"]) => {
  const { method, path } = ROUTES.getRealtimeToken
  const answer = await client.send({ method, path, repeatable: true })
  const { realtime } = client.dataOf(answer) as DataOf<"getRealtimeToken">
  const { protocol } = new URL(realtime.websocketUrl)
  if (protocol !== "wss:" && !client.baseUrl.startsWith("http:"))
    throw new Failure({ code: "UNEXPECTED_ANSWER", message: "The server names a socket that is not encrypted." })
  return {
    at: serverTime(answer.headers) ?? new Date(host.now()).toISOString(),
    order: { url: realtime.websocketUrl, token: realtime.token, mode }
  }
}

/**
 * Follows the gateway until it is stopped: connects again whenever a session is over, after a pause that grows, and works
 * over REST for a while where no socket can be opened. Throws what will not pass by itself, and what fails at the first attempt.
 */
export const followSocket = async (
  context: Context,
  client: ApiClient,
  follower: Follower,
  stop: AbortSignal
): Promise<void> => {
  const { host, output } = context
  let attempts = 0
  let blocked = 0
  let reached = false
  while (!stop.aborted) {
    const begun = host.now()
    let why: string
    try {
      const { at, order: where } = await order(context, client, follower.mode)
      const session = await RealtimeSession.open(where, stop)
      if (attempts > 0 || blocked > 0) output.note("Connected again.")
      reached = true
      blocked = 0
      try {
        await serveUntil(session, stop, () => follower.serve(session, at))
      } finally {
        await session.close()
      }
      why = session.why
      if (host.now() - begun >= GOOD_SESSION_MILLIS) attempts = 0
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
      output.note(`No socket can be opened (${why}). Events are asked for over REST for a minute.`)
      await serveForAWhile(follower, stop)
      continue
    }
    const millis = pauseAfter(attempts++, randomInt)
    output.note(
      `The connection is gone: ${why.replace(/\.$/, "")}. Connecting again in ${(millis / 1_000).toFixed(1)} s.`
    )
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

/** Works over REST until it is time to try a socket again. What passes by itself is waited for. */
const serveForAWhile = async ({ serveWithoutSocket }: Follower, stop: AbortSignal): Promise<void> => {
  const enough = AbortSignal.any([stop, AbortSignal.timeout(WITHOUT_SOCKET_MILLIS)])
  let attempts = 0
  while (!enough.aborted)
    try {
      await serveWithoutSocket(enough)
    } catch (error) {
      if (stop.aborted || !isTransient(error)) throw error
      await pause(pauseAfter(attempts++, randomInt), enough)
    }
}
