import { type EventPolicy, Timestamp } from "@agentos/core"

/** The policy that every suite runs under: unlike the default in each number, and quick to reach. */
export const TEST_EVENT_POLICY: EventPolicy = {
  retention: 7 * Timestamp.DAY,
  auditRetention: 14 * Timestamp.DAY,
  leaseDuration: 40 * Timestamp.SECOND,
  maxLapses: 3,
  minFailAge: Timestamp.HOUR
}
