import type { ConcurrentIndex } from "../ConcurrentIndexes.ts"

/** Serves the list of a tenant's suppressions, which is by code points whatever the collation of the database is. */
export const suppressionsListed: ConcurrentIndex = {
  name: "suppressions_listed",
  definition: 'on suppressions (tenant_id, address collate "C")'
}
