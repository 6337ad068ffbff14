import { Database } from "@agentos/postgres"
import { Effect, Schema } from "effect"
import { Statement } from "effect/sql"

/** The cost of executing a statement. */
export interface Plan {
  readonly text: string
  /** The indexes that rows were read from. */
  readonly indexes: ReadonlySet<string>
  /** Tables that were scanned from end to end. */
  readonly wholeTables: ReadonlyArray<string>
  /** Rows and index entries visited by all nodes of the plan. */
  readonly rowsVisited: number
}

/** The fields of `explain (analyze, format json)` that are read (PostgreSQL manual, "Using EXPLAIN"). */
interface Node extends Schema.Schema.Type<typeof NodeFields> {
  readonly Plans?: ReadonlyArray<Node>
}
const NodeFields = Schema.Struct({
  "Node Type": Schema.String,
  "Index Name": Schema.optionalKey(Schema.String),
  "Relation Name": Schema.optionalKey(Schema.String),
  "Actual Rows": Schema.Number,
  "Actual Loops": Schema.Number,
  "Rows Removed by Filter": Schema.optionalKey(Schema.Number),
  "Rows Removed by Index Recheck": Schema.optionalKey(Schema.Number)
})
const Node: Schema.Codec<Node> = Schema.Struct({
  ...NodeFields.fields,
  Plans: Schema.optionalKey(Schema.Array(Schema.suspend(() => Node)))
})
const decode = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ Plan: Node })))

const allNodes = (node: Node): ReadonlyArray<Node> => [node, ...(node.Plans ?? []).flatMap(allNodes)]

/**
 * Runs an effect and returns the plans of its statements. Each statement is first executed by `explain` and
 * rolled back, then run.
 */
export const plansOf = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const { sql } = yield* Database
  const plans: Array<Plan> = []
  const explain = Effect.fnUntraced(function* (text: string, parameters: ReadonlyArray<unknown>) {
    const undo = yield* Effect.flip(
      sql.withTransaction(
        Effect.flatMap(
          sql.unsafe<Record<string, unknown>>(`explain (analyze, format json) ${text}`, parameters),
          Effect.fail
        )
      )
    )
    if (!Array.isArray(undo)) return yield* Effect.die(undo)
    const nodes = (yield* decode(undo[0]?.["QUERY PLAN"])).flatMap(({ Plan: node }) => allNodes(node))
    plans.push({
      text,
      indexes: new Set(nodes.flatMap((node) => node["Index Name"] ?? [])),
      wholeTables: nodes.flatMap((node) => (node["Node Type"] === "Seq Scan" ? (node["Relation Name"] ?? []) : [])),
      rowsVisited: nodes.reduce(
        (sum, node) =>
          sum +
          node["Actual Loops"] *
            (node["Actual Rows"] +
              (node["Rows Removed by Filter"] ?? 0) +
              (node["Rows Removed by Index Recheck"] ?? 0)),
        0
      )
    })
  })
  const seen = new Set<string>()
  yield* Effect.provideService(effect, Statement.CurrentTransformer, (statement) => {
    const [text, parameters] = statement.compile()
    if (seen.has(text) || !/^\s*(?:select|with|insert|update|delete)/i.test(text)) return Effect.succeed(statement)
    seen.add(text)
    return Effect.as(
      Effect.orDie(Effect.provideService(explain(text, parameters), Statement.CurrentTransformer, undefined)),
      statement
    )
  })
  return plans
})
