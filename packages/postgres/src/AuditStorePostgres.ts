import { AuditOutcome, type AuditRecord, AuditStore } from "@agentos/core"
import { Effect, Layer } from "effect"
import { storeClock } from "./ClockOffset.ts"
import { Database } from "./Database.ts"
import { orDie } from "./DatabaseFailure.ts"
import * as Parameter from "./Parameter.ts"
import * as Row from "./Row.ts"
import * as Table from "./Table.ts"

const RECORDS = Table.table("audit_records", {
  auditId: Table.uuid("audit_id"),
  at: Table.moment("at"),
  actor: Table.text("actor"),
  action: Table.text("action"),
  target: Table.textOrNull("target"),
  reason: Table.textOrNull("reason"),
  before: Table.textOrNull("before"),
  after: Table.textOrNull("after"),
  outcome: Table.literal(AuditOutcome).column("outcome"),
  failure: Table.textOrNull("failure")
})

const toAuditRecord: (row: Table.Stored<typeof RECORDS>) => AuditRecord = RECORDS.toRecord

export const layer: Layer.Layer<AuditStore, never, Database> = Layer.effect(
  AuditStore,
  Effect.gen(function* () {
    const { sql } = yield* Database
    const { now } = yield* storeClock
    return AuditStore.of({
      append: (record) =>
        Row.run(sql`
          insert into audit_records ${Table.insert(sql, Table.valuesOf(RECORDS.fields, record))}
          on conflict do nothing`),
      list: ({ actor, before, limit, target }) =>
        Row.all(toAuditRecord)(sql<Table.Stored<typeof RECORDS>>`
          select ${sql.literal(RECORDS.columns)} from audit_records
          where ${sql.and([
            sql`audit_id < ${Parameter.uuid(before ?? Row.MAX)}`,
            ...(actor === undefined ? [] : [sql`actor = ${Parameter.text(actor)}`]),
            ...(target === undefined ? [] : [sql`target = ${Parameter.text(target)}`])
          ])}
          order by audit_id desc limit ${Parameter.integer(limit)}`),
      remove: ({ age, limit }) =>
        Effect.map(
          orDie(sql<{ readonly removed: bigint }>`
            select remove_audit_records((select ${now()}) - ${Parameter.integer(age)}, ${Parameter.integer(limit)}) as removed`),
          ([row]) => Number(row?.removed ?? 0n)
        )
    })
  })
)
