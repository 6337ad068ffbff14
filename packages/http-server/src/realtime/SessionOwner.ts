import type { Acknowledgement, TurnReply } from "@agentos/core"
import type { RealtimeConnection } from "./RealtimeConnection.ts"

/** The tenant of a session, and the socket that it uses. */
export interface SessionOwner {
  readonly tenantId: string
  readonly tokenVersion: number
  readonly sessionId: string
  readonly connection: RealtimeConnection
}

/** The actions of every session. They return at once; results are sent when they are available. */
export interface SessionActions {
  /** Reads the store for events to send: at the start, when the tenant is woken, and periodically. */
  readonly wake: () => void
  readonly acknowledge: (acknowledgement: Acknowledgement) => void
  /** Answers a turn of a call. */
  readonly reply: (reply: TurnReply) => void
}
