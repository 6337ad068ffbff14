import type { ConcurrentIndex } from "../ConcurrentIndexes.ts"

/** Serves the list of a tenant's recent outbound calls, newest first. */
export const callsOutbound: ConcurrentIndex = {
  name: "calls_outbound",
  definition: "on calls (tenant_id, created_at, call_id) where direction = 'outbound'"
}
