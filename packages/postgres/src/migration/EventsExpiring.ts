import type { ConcurrentIndex } from "../ConcurrentIndexes.ts"

/**
 * Serves the job that marks events as expired: it contains only open events, ordered by expiry. Its condition
 * is written as in no other statement, so that no other statement uses it to find open events.
 */
export const eventsExpiring: ConcurrentIndex = {
  name: "events_expiring",
  definition: "on events (expires_at) where open_tenant_id = tenant_id"
}
