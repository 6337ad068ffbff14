import { AgentOsError } from "../AgentOsError.ts"
import type { Caller } from "../http/Caller.ts"
import type { AgentOsOptions, Clock, Settings } from "../Options.ts"
import { NoSession, Session, type SessionMode } from "./Session.ts"

const BACKOFF_MILLIS_MIN = 500
const BACKOFF_MILLIS_MAX = 30_000
/** A session of this length resets the backoff. */
const STABLE_MILLIS = 5_000
/** Failed sockets in a row before sockets count as blocked. */
const BLOCKED_AFTER = 2
/** Time over REST before the next attempt to open a socket. */
const REST_MILLIS = 60_000

/** The realtime gateway of a server, and how to reach it. */
export interface Gateway {
  readonly baseUrl: string
  readonly clock: Clock
  readonly WebSocket: NonNullable<AgentOsOptions["WebSocket"]>
  readonly onConnection: AgentOsOptions["onConnection"]
  /** Requests the token and the URL of a session. */
  readonly requestSession: (stop: AbortSignal) => Promise<{ readonly token: string; readonly websocketUrl: string }>
  /** Whether a later attempt may succeed. */
  readonly isTransient: (error: unknown) => boolean
}

/** The work to do over a session, and without one. */
export interface Follower {
  /** `deliver` if it is undefined. */
  readonly mode: SessionMode | undefined
  /** The numbers whose calls a session of mode `voice` receives; undefined for all. */
  readonly phoneNumberIds?: ReadonlyArray<string> | undefined
  /** Serves a session until it ends. */
  readonly serve: (session: Session) => Promise<void>
  /** Does the same over REST until the signal is aborted. Without it, a first session that can't be opened is an error. */
  readonly serveWithoutSocket: ((until: AbortSignal) => Promise<void>) | undefined
}

export const gatewayOf = ({ WebSocket, baseUrl, clock, onConnection }: Settings, caller: Caller): Gateway => ({
  baseUrl,
  clock,
  WebSocket,
  onConnection,
  requestSession: async (signal) => (await caller.call("getRealtimeToken", {}, { signal })).realtime,
  isTransient: (error) =>
    error instanceof AgentOsError &&
    (error.isRetryable || ["INTERNAL_ERROR", "RATE_LIMITED", "UNEXPECTED_ANSWER", "UNREACHABLE"].includes(error.code))
})

/** Returns the delay before attempt `count` + 1, with jitter between half of the span and all of it. */
export const backoff = (
  count: number,
  // oxlint-disable-next-line no-restricted-properties -- jitter is random on every platform
  random: (limit: number) => number = (limit) => Math.random() * limit
): number => {
  const span = Math.min(BACKOFF_MILLIS_MAX, BACKOFF_MILLIS_MIN * 2 ** Math.min(count, 10))
  return span / 2 + random(span / 2)
}

const open = async (gateway: Gateway, { mode, phoneNumberIds }: Follower, stop: AbortSignal): Promise<Session> => {
  const { token, websocketUrl } = await gateway.requestSession(stop)
  if (!websocketUrl.startsWith("wss:") && !gateway.baseUrl.startsWith("http:"))
    throw new AgentOsError({ code: "UNEXPECTED_ANSWER", message: "The server returned an unencrypted WebSocket URL." })
  return Session.open(gateway, { websocketUrl, token, mode, phoneNumberIds }, stop)
}

const serveUntil = async (session: Session, stop: AbortSignal, serve: () => Promise<void>): Promise<void> => {
  const close = () => void session.close()
  stop.addEventListener("abort", close)
  if (stop.aborted) close()
  try {
    await serve()
  } finally {
    stop.removeEventListener("abort", close)
    await session.close()
  }
}

/** Works over REST until it is time to try a socket again. Retries transient errors. */
const serveOverRest = async (
  { clock, isTransient }: Gateway,
  serve: NonNullable<Follower["serveWithoutSocket"]>,
  stop: AbortSignal
): Promise<void> => {
  const over = new AbortController()
  void clock.sleep(REST_MILLIS, stop).then(() => over.abort())
  const until = AbortSignal.any([stop, over.signal])
  let attempts = 0
  while (!until.aborted)
    try {
      await serve(until)
    } catch (error) {
      if (stop.aborted) return
      if (!isTransient(error)) throw error
      await clock.sleep(backoff(attempts++), until)
    }
}

/**
 * Follows the gateway until `stop` is aborted: opens a session, and another one whenever it ends, after a growing delay. If
 * sockets are blocked, works over REST for a while. Rejects with errors that no later attempt can change, and with any
 * error before the first session. A token that is refused is replaced once: another program of the wallet may have signed
 * in after it was issued.
 */
export const followGateway = async (gateway: Gateway, follower: Follower, stop: AbortSignal): Promise<void> => {
  const { clock, onConnection } = gateway
  const { serve, serveWithoutSocket } = follower
  let attempts = 0
  let blocked = 0
  let isReached = false
  let isRenewed = false
  while (!stop.aborted) {
    const start = clock.now()
    let reason: string
    try {
      const session = await open(gateway, follower, stop)
      isReached = true
      isRenewed = false
      blocked = 0
      await serveUntil(session, stop, () => {
        onConnection?.({ state: "open" })
        return serve(session)
      })
      if (session.isReplaced) continue
      reason = session.reason
      if (clock.now() - start >= STABLE_MILLIS) attempts = 0
    } catch (error) {
      if (stop.aborted) return
      const isUnopened = error instanceof NoSession
      if (isUnopened && error.isTokenRefused && !isRenewed) {
        isRenewed = true
        continue
      }
      isReached ||= isUnopened && serveWithoutSocket !== undefined
      if (!isReached || !(isUnopened || gateway.isTransient(error))) throw isUnopened ? unopened(error) : error
      reason = error instanceof Error ? error.message : String(error)
      if (isUnopened) blocked = error.isBlocked ? blocked + 1 : 0
    }
    if (stop.aborted) return
    if (blocked >= BLOCKED_AFTER && serveWithoutSocket !== undefined) {
      onConnection?.({ state: "blocked", reason })
      await serveOverRest(gateway, serveWithoutSocket, stop)
      continue
    }
    const retryMillis = backoff(attempts++)
    onConnection?.({ state: "closed", reason, retryMillis })
    await clock.sleep(retryMillis, stop)
  }
}

const unopened = ({ message }: NoSession): AgentOsError =>
  new AgentOsError({
    code: "UNREACHABLE",
    message: `The realtime session could not be opened: ${message}.`,
    isRetryable: true
  })
