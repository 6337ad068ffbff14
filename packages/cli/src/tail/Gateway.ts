import { AgentOsError, followGateway, type Gateway, GatewaySession } from "@agentos/client"
import { EXIT, Failure, plainLine } from "@agentos/node/command-line"
import { WebSocket } from "ws"
import type { Context } from "../context/Context.ts"
import type { Server } from "../server/Server.ts"
import { VERSION } from "../Version.ts"
import { pause } from "./TailEvent.ts"

const MESSAGE_LIMIT_BYTES = 16 * 1024 * 1024

/** The socket of the package `ws`, which shows pings, unlike that of Node. */
class NodeSocket extends WebSocket {
  constructor(url: string) {
    super(url, {
      maxPayload: MESSAGE_LIMIT_BYTES,
      perMessageDeflate: false,
      headers: { "User-Agent": `agentctl/${VERSION}` }
    })
  }
}

const sockets = {
  WebSocket: NodeSocket,
  clock: {
    // oxlint-disable-next-line no-restricted-properties -- the silence of a socket is measured by a monotonic clock
    now: () => performance.now(),
    sleep: pause
  }
}

/** Opens a session that observes. Rejects with NoSession. */
export const openSession = (
  realtime: { readonly token: string; readonly websocketUrl: string },
  stop: AbortSignal
): Promise<GatewaySession> => GatewaySession.open(sockets, { ...realtime, mode: "observe" }, stop)

/** Whether a retry may succeed. */
export const isTransient = (error: unknown): error is Failure =>
  error instanceof Failure &&
  (error.parts.retryable === true ||
    ["UNREACHABLE", "UNEXPECTED_ANSWER", "RATE_LIMITED", "INTERNAL_ERROR", "REQUEST_TIMEOUT"].includes(
      error.parts.code
    ) ||
    error.exit === EXIT.provider)

/** The work to do over a socket, and without one. */
export interface TailFollower {
  readonly mode: "deliver" | "observe" | "voice"
  /** The numbers whose calls a session of mode `voice` receives; undefined for all. */
  readonly phoneNumberIds?: ReadonlyArray<string> | undefined
  /** Serves a session until it ends. `startedAt` is the server's time before it started. */
  readonly serve: (session: GatewaySession, startedAt: string) => Promise<void>
  /** Does the same over REST until `until` is aborted. */
  readonly serveWithoutSocket: (until: AbortSignal) => Promise<void>
}

/** Prints how the connection changes. */
const reporterOf = ({ output }: Context): NonNullable<Gateway["onConnection"]> => {
  let wasClosed = false
  return (change) => {
    if (change.state === "open") {
      if (wasClosed) output.note("Reconnected.")
      return
    }
    wasClosed = true
    const reason = plainLine(change.reason)
    if (change.state === "blocked")
      return output.note(`Cannot open a WebSocket (${reason}). Polling over REST for a minute.`)
    const seconds = (change.retryMillis / 1_000).toFixed(1)
    output.note(`Disconnected: ${reason.replace(/\.$/, "")}. Reconnecting in ${seconds} s.`)
  }
}

/**
 * Follows the gateway until `stop` is aborted. Reconnects, and uses REST for a while if sockets are blocked. Throws
 * permanent errors, and any error of the first request.
 */
export const follow = async (
  context: Context,
  client: Server,
  { mode, phoneNumberIds, serve, serveWithoutSocket }: TailFollower,
  stop: AbortSignal
): Promise<void> => {
  let startedAt = ""
  const gateway: Gateway = {
    ...sockets,
    baseUrl: client.baseUrl,
    onConnection: reporterOf(context),
    isTransient,
    requestSession: async () => {
      const { data, time } = await client.callAt("getRealtimeToken")
      startedAt = time
      return data.realtime
    }
  }
  const follower = {
    mode: mode === "deliver" ? undefined : mode,
    phoneNumberIds,
    serve: (session: GatewaySession) => serve(session, startedAt),
    serveWithoutSocket
  }
  try {
    await followGateway(gateway, follower, stop)
  } catch (error) {
    throw error instanceof AgentOsError ? new Failure({ code: "UNEXPECTED_ANSWER", message: error.message }) : error
  }
}
