import {
  AddOperatorInput,
  AuditStore,
  listAudit,
  nameTarget,
  Operators,
  QueryAuditInput,
  RotateOperatorInput
} from "@agentos/core"
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import {
  type Answer,
  bodyOf,
  dataResponse,
  mutation,
  operatorTokenDigest,
  parameter,
  queryOf,
  read
} from "./OperatorRoute.ts"

const newToken = Effect.sync(() => randomBytes(32).toString("hex"))

const listOperators = Effect.map(Operators, ({ list }): Answer =>
  Effect.flatMap(list, (items) => dataResponse({ items }))
)

/** Adds an operator. The answer is the only place where its token appears. */
const addOperator = Effect.map(Operators, ({ add }): Answer =>
  Effect.gen(function* () {
    const token = yield* newToken
    const input = yield* bodyOf(AddOperatorInput)
    yield* nameTarget(input.name)
    const operator = yield* add(input, operatorTokenDigest(token))
    return yield* dataResponse({ ...operator, token })
  })
)

/** Replaces the token of an operator. */
const rotateOperator = Effect.map(Operators, ({ rotate }): Answer =>
  Effect.gen(function* () {
    const token = yield* newToken
    const input = yield* bodyOf(RotateOperatorInput, {})
    const operator = yield* rotate(yield* parameter("name"), input, operatorTokenDigest(token))
    return yield* dataResponse({ ...operator, token })
  })
)

const removeOperator = Effect.map(Operators, ({ remove }): Answer =>
  Effect.flatMap(Effect.flatMap(parameter("name"), remove), dataResponse)
)

const showAudit = Effect.map(Effect.context<AuditStore>(), (services): Answer =>
  Effect.flatMap(
    Effect.flatMap(queryOf(QueryAuditInput), (query) => Effect.provide(listAudit(query), services)),
    dataResponse
  )
)

export const routes = Effect.gen(function* () {
  const operator = "/internal/operators/{name}"
  return [
    read("audit", "/internal/audit", yield* showAudit),
    read("operators", "/internal/operators", yield* listOperators),
    mutation("addOperator", "money", "operator.add", "/internal/operators", yield* addOperator),
    mutation("rotateOperator", "money", "operator.rotate", `${operator}/rotate`, yield* rotateOperator),
    mutation("removeOperator", "money", "operator.remove", `${operator}/remove`, yield* removeOperator)
  ]
})
