import { type Operator, OperatorRole, OperatorStore } from "@agentos/core"
import { Effect, Layer } from "effect"
import { Database } from "./Database.ts"
import * as Parameter from "./Parameter.ts"
import * as Row from "./Row.ts"
import * as Table from "./Table.ts"

const OPERATORS = Table.table("operators", {
  name: Table.text("name"),
  role: Table.literal(OperatorRole).column("role"),
  tokenDigest: Table.text("token_digest"),
  createdAt: Table.moment("created_at"),
  expiresAt: Table.momentOrNull("expires_at")
})

const toOperator: (row: Table.Stored<typeof OPERATORS>) => Operator = OPERATORS.toRecord

export const layer: Layer.Layer<OperatorStore, never, Database> = Layer.effect(
  OperatorStore,
  Effect.map(Database, ({ sql }) =>
    OperatorStore.of({
      list: Row.all(toOperator)(sql<Table.Stored<typeof OPERATORS>>`
        select ${sql.literal(OPERATORS.columns)} from operators order by name`),
      add: (operator) =>
        Row.any(sql`
          insert into operators ${Table.insert(sql, Table.valuesOf(OPERATORS.fields, operator))}
          on conflict (name) do nothing returning name`),
      rotate: (name, token) =>
        Row.any(sql`
          update operators set ${Table.set(sql, Table.changesOf(OPERATORS.fields, token))}
          where name = ${Parameter.text(name)} returning name`),
      remove: (name) => Row.any(sql`delete from operators where name = ${Parameter.text(name)} returning name`)
    })
  )
)
