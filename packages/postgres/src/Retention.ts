import type { RetentionScope } from "@agentos/core"
import type { Statement } from "effect/sql"
import type { Database } from "./Database.ts"
import * as Parameter from "./Parameter.ts"

/** The condition that a row's tenant is in the scope, after other conditions. */
export const inScope = (
  sql: Database["Service"]["sql"],
  { except = [], tenantId }: RetentionScope,
  column = "tenant_id"
): Statement.Fragment => {
  if (tenantId !== undefined) return sql`and ${sql.literal(column)} = ${Parameter.uuid(tenantId)}`
  return except.length === 0 ? sql`` : sql`and ${sql.literal(column)} <> all(${Parameter.uuids(except)})`
}
