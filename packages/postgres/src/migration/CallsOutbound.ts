import type { ConcurrentIndex } from "../ConcurrentIndexes.ts"

/** What a tenant has called lately, the newest first. */
export const callsOutbound: ConcurrentIndex = {
  name: "calls_outbound",
  definition: "on calls (tenant_id, created_at, call_id) where direction = 'outbound'"
}
