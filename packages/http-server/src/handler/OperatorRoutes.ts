import { type ApiError, InternalError, OperatorRefused } from "@agentos/api"
import {
  Conflict,
  JobRunner,
  LiftSuppressionInput,
  OperationAdministration,
  QueryOperationsInput,
  QuerySuppressionsInput,
  ResourceNotFound,
  SalesAdministration,
  SettingName,
  StartSalesInput,
  StopSalesInput,
  SuspendTenantInput,
  TenantAdministration,
  type TenantReport,
  Timestamp,
  toSuppressionRecord,
  walletAddress,
  type WalletAddress
} from "@agentos/core"
import { Effect, Option, Redacted, Schema, type Scope } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { createHash, timingSafeEqual } from "node:crypto"
import { DEFAULT_BODY_LIMITS } from "../edge/RequestLimits.ts"
import { RequestRecord, type Route } from "../edge/Route.ts"
import type { BodyMemory } from "../operation/BodyMemory.ts"
import { decodeInput, parseBody } from "../operation/Decoding.ts"
import { readBody } from "../operation/RequestBody.ts"
import { ServerSettings } from "../ServerSettings.ts"
import { knownJobs, metricsText } from "./OperatorMetrics.ts"

/** The content type that Prometheus expects. */
const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"

const BEARER = /^bearer +(\S+)$/i
const digest = (text: string): Uint8Array => createHash("sha256").update(text).digest()

/** Checks whether a header contains the token. The duration reveals neither the first difference nor the lengths. */
const tokenCheck = (token: Redacted.Redacted) => {
  const expected = digest(Redacted.value(token))
  return (authorization: string | undefined): boolean =>
    timingSafeEqual(digest(BEARER.exec(authorization ?? "")?.[1] ?? ""), expected)
}

type AnswerRequirements = RequestRecord | HttpServerRequest.HttpServerRequest | BodyMemory | Scope.Scope
type Answer = Effect.Effect<HttpServerResponse.HttpServerResponse, ApiError, AnswerRequirements>

const dataResponse = (data: unknown) =>
  Effect.map(RequestRecord, ({ requestId }) => HttpServerResponse.jsonUnsafe({ data, requestId }))

const momentOf = (moment: Timestamp.Timestamp | null | undefined): string | null =>
  moment === null || moment === undefined ? null : Timestamp.toIso(moment)

/** Lists the jobs with their state over all servers. */
const listJobs = Effect.map(knownJobs, (known): Answer =>
  Effect.flatMap(known, (jobs) =>
    dataResponse({
      items: jobs.map(({ job, record }) => ({
        name: job.name,
        everySeconds: job.every / 1_000,
        dueAt: momentOf(record?.dueAt),
        leasedUntil: momentOf(record?.leasedUntil),
        startedAt: momentOf(record?.startedAt),
        succeededAt: momentOf(record?.succeededAt),
        failedAt: momentOf(record?.failedAt),
        failure: record?.failure ?? null,
        runs: record?.runs ?? 0,
        failures: record?.failures ?? 0,
        done: record?.done ?? 0
      }))
    })
  )
)

/** Runs a job now, for a host with its own scheduler. The message of a failure appears in the list and in the log. */
const runJob = Effect.map(JobRunner, (runner): Answer =>
  Effect.gen(function* () {
    const { params } = (yield* RequestRecord).match
    const name = params["name"] ?? ""
    const done = yield* runner.runNow(name).pipe(
      Effect.catchTags({
        JobUnknown: () => Effect.fail(new ResourceNotFound({ kind: "job", id: name })),
        JobBusy: () =>
          Effect.fail(new Conflict({ message: `The job ${name} is already running. Wait until it ends.` })),
        JobFailed: () => Effect.fail(new InternalError({ withPayment: false }))
      })
    )
    return yield* dataResponse({ name, done })
  })
)

const WALLET = /^0x[0-9a-f]{40}$/i

/** The tenant that the path names, by id or by wallet. */
const namedTenant = Effect.map(RequestRecord, ({ match: { params } }): string | WalletAddress => {
  const name = params["tenant"] ?? ""
  return WALLET.test(name) ? walletAddress(name) : name
})

const tenantResponse = Effect.fnUntraced(function* (report: Option.Option<TenantReport>) {
  if (Option.isNone(report)) return yield* new ResourceNotFound({ kind: "tenant", id: yield* namedTenant })
  const { sendingPause, tenant, ...usage } = report.value
  const { createdAt, suspension, tenantId, wallet } = tenant
  return yield* dataResponse({
    tenantId,
    wallet,
    createdAt: Timestamp.toIso(createdAt),
    suspension: suspension === undefined ? null : { at: Timestamp.toIso(suspension.at), reason: suspension.reason },
    sendingPause:
      sendingPause === null ? null : { until: Timestamp.toIso(sendingPause.until), reason: sendingPause.reason },
    usage
  })
})

const showTenant = Effect.map(TenantAdministration, (tenants): Answer =>
  Effect.flatMap(Effect.flatMap(namedTenant, tenants.find), tenantResponse)
)

const decodeSuspension = decodeInput(SuspendTenantInput)

/** Suspends a tenant. The body contains the reason, which the tenant sees. */
const suspendTenant = Effect.map(TenantAdministration, (tenants): Answer =>
  Effect.gen(function* () {
    const body = yield* readBody
    const { reason } = yield* decodeSuspension(yield* parseBody(body, DEFAULT_BODY_LIMITS.json))
    return yield* tenantResponse(yield* tenants.suspend(yield* namedTenant, reason))
  })
)

const resumeTenant = Effect.map(TenantAdministration, (tenants): Answer =>
  Effect.flatMap(Effect.flatMap(namedTenant, tenants.resume), tenantResponse)
)

/** Revokes every access token and realtime session of a tenant. */
const revokeTokens = Effect.map(TenantAdministration, (tenants): Answer =>
  Effect.flatMap(Effect.flatMap(namedTenant, tenants.revokeTokens), tenantResponse)
)

/** Ends the pause of a tenant's sending after bounces or complaints. */
const resumeSending = Effect.map(TenantAdministration, (tenants): Answer =>
  Effect.flatMap(Effect.flatMap(namedTenant, tenants.resumeSending), tenantResponse)
)

/** Returns the value found for the named tenant, or fails if there is no such tenant. */
const ofTenant = Effect.fnUntraced(function* <A>(found: Option.Option<A>) {
  return Option.isSome(found) ? found.value : yield* new ResourceNotFound({ kind: "tenant", id: yield* namedTenant })
})

const decodeSuppressionPage = decodeInput(Schema.toCodecStringTree(QuerySuppressionsInput), "query parameter")

/** Lists the suppressed addresses of a tenant. */
const listSuppressions = Effect.map(TenantAdministration, (tenants): Answer =>
  Effect.gen(function* () {
    const { match } = yield* RequestRecord
    const page = yield* decodeSuppressionPage(match.query)
    const { items, nextCursor } = yield* ofTenant(yield* tenants.listSuppressions(yield* namedTenant, page))
    return yield* dataResponse({ items: items.map(toSuppressionRecord), nextCursor })
  })
)

const decodeLift = decodeInput(LiftSuppressionInput)

/** Lifts the suppression of an address of a tenant. */
const liftSuppression = Effect.map(TenantAdministration, (tenants): Answer =>
  Effect.gen(function* () {
    const body = yield* readBody
    const { address } = yield* decodeLift(yield* parseBody(body, DEFAULT_BODY_LIMITS.json))
    const lifted = yield* ofTenant(yield* tenants.liftSuppression(yield* namedTenant, address))
    return yield* dataResponse({ address, lifted })
  })
)

const decodeOperationPage = decodeInput(Schema.toCodecStringTree(QueryOperationsInput), "query parameter")

/** Lists paid operations of all tenants, newest first. */
const listOperations = Effect.map(OperationAdministration, (operations): Answer =>
  Effect.gen(function* () {
    const { match } = yield* RequestRecord
    return yield* dataResponse(yield* operations.list(yield* decodeOperationPage(match.query)))
  })
)

const namedOperation = Effect.map(RequestRecord, ({ match: { params } }) => (params["operationId"] ?? "").toLowerCase())

const showOperation = Effect.map(OperationAdministration, (operations): Answer =>
  Effect.flatMap(Effect.flatMap(namedOperation, operations.find), dataResponse)
)

/** Lets the completion job take an open operation over at once. */
const retryOperation = Effect.map(OperationAdministration, (operations): Answer =>
  Effect.flatMap(Effect.flatMap(namedOperation, operations.retry), dataResponse)
)

const showSelling = Effect.map(SalesAdministration, ({ list }): Answer =>
  Effect.flatMap(list, (stops) => dataResponse({ stops }))
)

const decodeStop = decodeInput(StopSalesInput)

/** Stops the sale of a service, or of all. The body contains the reason, which customers see. */
const stopSelling = Effect.map(SalesAdministration, ({ stop }): Answer =>
  Effect.gen(function* () {
    const body = yield* readBody
    const { reason, service = "all" } = yield* decodeStop(yield* parseBody(body, DEFAULT_BODY_LIMITS.json))
    return yield* dataResponse({ stops: yield* stop(service, reason) })
  })
)

const decodeStart = decodeInput(StartSalesInput)

/** Ends the stop of a service, or that of all services. A request without a body means the latter. */
const startSelling = Effect.map(SalesAdministration, ({ start }): Answer =>
  Effect.gen(function* () {
    const body = yield* readBody
    const input = body.lengthBytes === 0 ? {} : yield* parseBody(body, DEFAULT_BODY_LIMITS.json)
    const { service = "all" } = yield* decodeStart(input)
    return yield* dataResponse(yield* start(service))
  })
)

const showMetrics = Effect.map(metricsText, (metrics): Answer =>
  Effect.map(metrics, (text) => HttpServerResponse.text(text, { contentType: METRICS_TYPE }))
)

/** Routes for the operator. They exist only if the server has an operator token. */
export const routes = Effect.gen(function* () {
  const { operatorToken } = yield* ServerSettings
  if (operatorToken === null) return []
  const isOperator = tokenCheck(operatorToken)
  const refused = new OperatorRefused({ setting: (yield* SettingName)("operatorToken") })

  const route = (name: string, method: "GET" | "POST", path: string, answer: Answer): Route<AnswerRequirements> => ({
    method,
    path,
    audience: "operator",
    isRateLimited: true,
    entry: null,
    operation: `operator.${name}`,
    body: DEFAULT_BODY_LIMITS,
    handler: ({ headers }) => (isOperator(headers["authorization"]) ? answer : Effect.fail(refused))
  })

  return [
    route("jobs", "GET", "/internal/jobs", yield* listJobs),
    route("runJob", "POST", "/internal/jobs/{name}/run", yield* runJob),
    route("metrics", "GET", "/internal/metrics", yield* showMetrics),
    route("operations", "GET", "/internal/operations", yield* listOperations),
    route("operation", "GET", "/internal/operations/{operationId}", yield* showOperation),
    route("retryOperation", "POST", "/internal/operations/{operationId}/retry", yield* retryOperation),
    route("selling", "GET", "/internal/selling", yield* showSelling),
    route("stopSelling", "POST", "/internal/selling/stop", yield* stopSelling),
    route("startSelling", "POST", "/internal/selling/start", yield* startSelling),
    route("tenant", "GET", "/internal/tenants/{tenant}", yield* showTenant),
    route("suspendTenant", "POST", "/internal/tenants/{tenant}/suspend", yield* suspendTenant),
    route("resumeTenant", "POST", "/internal/tenants/{tenant}/resume", yield* resumeTenant),
    route("revokeTokens", "POST", "/internal/tenants/{tenant}/revoke-tokens", yield* revokeTokens),
    route("resumeSending", "POST", "/internal/tenants/{tenant}/resume-sending", yield* resumeSending),
    route("suppressions", "GET", "/internal/tenants/{tenant}/suppressions", yield* listSuppressions),
    route("liftSuppression", "POST", "/internal/tenants/{tenant}/suppressions/lift", yield* liftSuppression)
  ]
})
