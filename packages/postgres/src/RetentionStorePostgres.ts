import { RetainedData, RetentionStore, type TenantRetention } from "@agentos/core"
import { Effect, Layer } from "effect"
import { Database } from "./Database.ts"
import * as Parameter from "./Parameter.ts"
import * as Row from "./Row.ts"
import * as Table from "./Table.ts"

const RETENTIONS = Table.table("tenant_retentions", {
  tenantId: Table.uuid("tenant_id"),
  data: Table.literal(RetainedData).column("data"),
  age: Table.longOrNull("age")
})

const toRetention: (row: Table.Stored<typeof RETENTIONS>) => TenantRetention = RETENTIONS.toRecord

export const layer: Layer.Layer<RetentionStore, never, Database> = Layer.effect(
  RetentionStore,
  Effect.map(Database, ({ sql }) => {
    const columns = sql.literal(RETENTIONS.columns)
    type Stored = Table.Stored<typeof RETENTIONS>
    return RetentionStore.of({
      listOfData: (data) =>
        Row.all(toRetention)(sql<Stored>`
          select ${columns} from tenant_retentions where data = ${Parameter.text(data)} order by tenant_id`),
      listOfTenant: (tenantId) =>
        Row.all(toRetention)(sql<Stored>`
          select ${columns} from tenant_retentions where tenant_id = ${Parameter.uuid(tenantId)}
          order by data collate "C"`),
      put: (retention) =>
        Row.run(sql`
          insert into tenant_retentions ${Table.insert(sql, Table.valuesOf(RETENTIONS.fields, retention))}
          on conflict (tenant_id, data) do update set age = excluded.age`),
      remove: (tenantId, data) =>
        Row.run(sql`
          delete from tenant_retentions
          where tenant_id = ${Parameter.uuid(tenantId)} and data = ${Parameter.text(data)}`)
    })
  })
)
