import type { ConcurrentIndex } from "../ConcurrentIndexes.ts"

/**
 * What the job that writes down expiry reads: the open events alone, the first to expire first. Its condition is written
 * as no other statement has it, so that to none of them it looks like a shorter way to the open events.
 */
export const eventsExpiring: ConcurrentIndex = {
  name: "events_expiring",
  definition: "on events (expires_at) where open_tenant_id = tenant_id"
}
