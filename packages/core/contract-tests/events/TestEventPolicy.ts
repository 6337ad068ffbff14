import { type EventPolicy, Timestamp } from "@agentos/core"

/** The event policy of every suite: each number differs from the default, and its limits are reached quickly. */
export const TEST_EVENT_POLICY: EventPolicy = {
  retention: 7 * Timestamp.DAY,
  auditRetention: 14 * Timestamp.DAY,
  leaseDuration: 40 * Timestamp.SECOND,
  maxLapses: 3,
  minFailAge: Timestamp.HOUR
}
