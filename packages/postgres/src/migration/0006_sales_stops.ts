import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The services whose sale the operator has stopped. */
export const createSalesStops = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // A service id, or `all`.
  yield* sql`
    create table sales_stops (
      service text,
      at bigint not null,
      reason text not null,
      constraint sales_stops_key primary key (service)
    )`
})
