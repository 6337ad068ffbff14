import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Deleted agents whose open events have not all expired yet. There is no foreign key to the tenant: a deletion holds
 * the lock of the tenant's row.
 */
export const createDeletedAgents = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table deleted_agents (
      tenant_id uuid,
      agent_id text,
      constraint deleted_agents_key primary key (tenant_id, agent_id)
    )`
})
