import type { Acknowledgement } from "@agentos/core"
import type { Effect } from "effect"
import type { RealtimeConnection } from "./RealtimeConnection.ts"

/** An authenticated session, as the gateway looks after it. */
export interface Session {
  readonly tenantId: string
  readonly tokenVersion: number
  readonly sessionId: string
  readonly connection: RealtimeConnection
  /** Looks for events to send: at the beginning, when the tenant is woken, and from time to time. */
  readonly wake: Effect.Effect<void>
  readonly acknowledge: (acknowledgement: Acknowledgement) => void
  readonly holdsLeases: () => boolean
  /** Takes note of which leases the store still knows after a renewal. */
  readonly keepLeases: (eventIds: ReadonlySet<string>) => void
}
