import type { Acknowledgement } from "@agentos/core"
import type { RealtimeConnection } from "./RealtimeConnection.ts"

/** Whom a session serves, and over which socket. */
export interface SessionOwner {
  readonly tenantId: string
  readonly tokenVersion: number
  readonly sessionId: string
  readonly connection: RealtimeConnection
}

/** What every session can be asked for. Nothing waits for it: what there is to send is sent when it is known. */
export interface SessionActions {
  /** Looks for events to send: at the beginning, when the tenant is woken, and from time to time. */
  readonly wake: () => void
  readonly acknowledge: (acknowledgement: Acknowledgement) => void
}
