import { type ApiError, OperatorForbidden, OperatorRefused } from "@agentos/api"
import {
  AuditReason,
  type AuditStore,
  audited,
  DEFAULT_OPERATOR,
  includesRole,
  type Operator,
  type OperatorRole,
  Operators,
  SettingName,
  Uuid
} from "@agentos/core"
import { Effect, Exit, Option, Redacted, Schema, type Scope } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { createHash, timingSafeEqual } from "node:crypto"
import { DEFAULT_BODY_LIMITS } from "../../edge/RequestLimits.ts"
import { RequestRecord, type Route } from "../../edge/Route.ts"
import type { BodyMemory } from "../../operation/BodyMemory.ts"
import { decodeInput, parseBody } from "../../operation/Decoding.ts"
import { readBody } from "../../operation/RequestBody.ts"
import { operatorDeadline } from "./OperatorDeadline.ts"

export type AnswerRequirements = RequestRecord | HttpServerRequest.HttpServerRequest | BodyMemory | Scope.Scope
export type Answer = Effect.Effect<HttpServerResponse.HttpServerResponse, ApiError, AnswerRequirements>

/** A route for operators. A GET changes nothing; each POST leaves a record in the audit. */
export interface OperatorRoute {
  /** The name in the access log, after `operator.`. */
  readonly name: string
  /** The least role that may call it. */
  readonly role: OperatorRole
  readonly method: "GET" | "POST"
  readonly path: string
  /** The action of a POST in the audit. */
  readonly action?: string
  readonly answer: Answer
  /** Whether its work may take longer than that of other requests. Its parts have limits of their own. */
  readonly isLong?: boolean
}

/** Declares a route that changes nothing. */
export const read = (name: string, path: string, answer: Answer, role: OperatorRole = "read"): OperatorRoute => ({
  name,
  role,
  method: "GET",
  path,
  answer
})

/** Declares a route that changes something. */
export const mutation = (
  name: string,
  role: OperatorRole,
  action: string,
  path: string,
  answer: Answer
): OperatorRoute => ({ name, role, method: "POST", path, action, answer })

/** Lets the work of a route take longer than that of others. */
export const long = (route: OperatorRoute): OperatorRoute => ({ ...route, isLong: true })

export const dataResponse = (data: unknown) =>
  Effect.map(RequestRecord, ({ requestId }) => HttpServerResponse.jsonUnsafe({ data, requestId }))

/** Returns a parameter of the path. */
export const parameter = (name: string) => Effect.map(RequestRecord, ({ match: { params } }) => params[name] ?? "")

/** Reads the JSON body as this input. A request without a body means `absent`, if given. */
export const bodyOf = <A>(codec: Schema.Codec<A, unknown>, absent?: unknown) => {
  const decode = decodeInput(codec)
  return Effect.gen(function* () {
    const body = yield* readBody
    if (body.lengthBytes === 0 && absent !== undefined) return yield* decode(absent)
    return yield* decode(yield* parseBody(body, DEFAULT_BODY_LIMITS.json))
  })
}

/** Reads the query of the request as this input. */
export const queryOf = <A>(codec: Schema.Codec<A, unknown>) => {
  const decode = decodeInput(Schema.toCodecStringTree(codec) as Schema.Codec<A, unknown>, "query parameter")
  return Effect.flatMap(RequestRecord, ({ match }) => decode(match.query))
}

const BEARER = /^bearer +(\S+)$/i
const digest = (text: string): Buffer => createHash("sha256").update(text).digest()

/** The digest under which the token of an operator is stored. */
export const operatorTokenDigest = (token: string): string => digest(token).toString("hex")

type Caller = Pick<Operator, "name" | "role">

/**
 * Returns the operator of a request. The configured token is compared in a time that reveals neither the first difference nor
 * the lengths, and without the store: metrics are served while the database is down.
 */
const authentication = (token: Redacted.Redacted, { authenticate }: Operators["Service"]) => {
  const expected = digest(Redacted.value(token))
  const byDefault: Option.Option<Caller> = Option.some({ name: DEFAULT_OPERATOR, role: "money" })
  return (authorization: string | undefined): Effect.Effect<Option.Option<Caller>> => {
    const given = digest(BEARER.exec(authorization ?? "")?.[1] ?? "")
    return timingSafeEqual(given, expected) ? Effect.succeed(byDefault) : authenticate(given.toString("hex"))
  }
}

/** The header with the reason for a change. */
const REASON_HEADER = "x-operator-reason"
const utf8 = new TextDecoder("utf-8", { fatal: true })

/** Reads a header as UTF-8, or as Latin-1 if it is not. Node reads each as Latin-1. */
const headerText = (value: string): string => {
  try {
    return utf8.decode(Buffer.from(value, "latin1"))
  } catch {
    return value
  }
}

const decodeReason = decodeInput(Schema.Struct({ [REASON_HEADER]: Schema.optionalKey(AuditReason) }))

/** Makes the routes of the HTTP server from those of operators. */
export const serveOperators = Effect.fnUntraced(function* (
  token: Redacted.Redacted,
  routes: ReadonlyArray<OperatorRoute>
): Effect.fn.Return<ReadonlyArray<Route<AnswerRequirements>>, never, Operators | AuditStore> {
  const services = yield* Effect.context<AuditStore>()
  const deadline = yield* operatorDeadline
  const identify = authentication(token, yield* Operators)
  const refused = new OperatorRefused({ setting: (yield* SettingName)("operatorToken") })

  const admitted = ({ answer, role: needed }: OperatorRoute, { name, role }: Caller): Answer =>
    includesRole(role, needed) ? answer : Effect.fail(new OperatorForbidden({ operator: name, role, needed }))

  const changed = Effect.fnUntraced(function* (route: OperatorRoute, action: string, { name: actor, role }: Caller) {
    const { params } = (yield* RequestRecord).match
    const { headers } = yield* HttpServerRequest.HttpServerRequest
    const header = headers[REASON_HEADER]
    const given = header === undefined ? undefined : headerText(header)
    const reason = yield* Effect.exit(decodeReason(given === undefined ? {} : { [REASON_HEADER]: given }))
    const target = Object.values(params).join(" ") || null
    const auditId = yield* Uuid.next
    const change = audited(
      { auditId, actor, action, target, reason: Exit.isSuccess(reason) ? (given ?? null) : null },
      Effect.andThen(reason, admitted(route, { name: actor, role }))
    )
    return yield* route.isLong === true ? change : deadline.change(change, { auditId, actor })
  }, Effect.provide(services))

  return routes.map((route): Route<AnswerRequirements> => ({
    method: route.method,
    path: route.path,
    audience: "operator",
    isRateLimited: true,
    entry: null,
    operation: `operator.${route.name}`,
    body: DEFAULT_BODY_LIMITS,
    handler: ({ headers }) =>
      Effect.flatMap(identify(headers["authorization"]), (operator): Answer => {
        if (Option.isNone(operator)) return Effect.fail(refused)
        if (route.action !== undefined) return changed(route, route.action, operator.value)
        const answer = admitted(route, operator.value)
        return route.isLong === true ? answer : deadline.read(answer)
      })
  }))
})
