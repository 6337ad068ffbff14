import { type SalesScope, type SalesStop, SalesStopStore } from "@agentos/core"
import { Effect, Layer } from "effect"
import { Database } from "./Database.ts"
import { orDie } from "./DatabaseFailure.ts"
import * as Parameter from "./Parameter.ts"
import * as Row from "./Row.ts"
import * as Table from "./Table.ts"

const SALES_STOPS = Table.table("sales_stops", {
  // A newer server may have stopped a service that this one does not know.
  scope: Table.textOf<SalesScope>().column("service"),
  at: Table.moment("at"),
  reason: Table.text("reason")
})

const toStop: (row: Table.Stored<typeof SALES_STOPS>) => SalesStop = SALES_STOPS.toRecord

export const layer: Layer.Layer<SalesStopStore, never, Database> = Layer.effect(
  SalesStopStore,
  Effect.map(Database, ({ sql }) =>
    SalesStopStore.of({
      // Readers go on.
      lock: Effect.asVoid(orDie(sql`lock table sales_stops in share row exclusive mode`)),
      list:
        // In the order of code units, whatever the collation of the database.
        Row.all(toStop)(sql<Table.Stored<typeof SALES_STOPS>>`
          select ${sql.literal(SALES_STOPS.columns)} from sales_stops order by service collate "C"`),
      put: (stop) =>
        orDie(sql`
          insert into sales_stops ${Table.insert(sql, Table.valuesOf(SALES_STOPS.fields, stop))}
          on conflict (service) do update set reason = excluded.reason`),
      remove: (scope) =>
        Row.any(sql`delete from sales_stops where service = ${Parameter.text(scope)} returning service`)
    })
  )
)
