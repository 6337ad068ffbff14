import type { ConcurrentIndex } from "../ConcurrentIndexes.ts"

/**
 * Serve the lists of a tenant's calls and of a number's calls, newest first. Every row is in both: their conditions are
 * written as in no other statement, so that no other statement uses them.
 */
export const callsListed: ReadonlyArray<ConcurrentIndex> = [
  { name: "calls_listed", definition: "on calls (tenant_id, created_at, call_id) where connected_seconds >= 0" },
  {
    name: "calls_of_number",
    definition: "on calls (phone_number_id, created_at, call_id) where authorized_seconds >= 0"
  }
]
