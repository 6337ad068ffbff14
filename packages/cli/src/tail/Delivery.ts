import type { DataOf } from "../server/ApiClient.ts"

/** An event as the API shows it. */
export type TailEvent = DataOf<"getEvent">["event"]

/**
 * What became of an acknowledgement. `stale`: the lease was lost, and nothing was acknowledged. `unknown`: the
 * connection broke off before it was answered; if it did not count, the event comes again.
 */
export type Acknowledged = "acknowledged" | "stale" | "unknown"

/** An event that has come, and how to say that it is handled; only looked at where it can't be said. */
export interface Delivery {
  readonly event: TailEvent
  readonly acknowledge: (() => Promise<Acknowledged>) | undefined
}

/** Where events go to. */
export interface Intake {
  /** Takes an event, in the order in which they come. Resolves once there is room for another. */
  readonly take: (delivery: Delivery) => Promise<void>
  /** The leases under which events were taken are over: what was not begun comes again, or to somebody else. */
  readonly leasesLost: () => void
  /** Resolves once nothing that was taken waits or runs. */
  readonly idle: () => Promise<void>
}
