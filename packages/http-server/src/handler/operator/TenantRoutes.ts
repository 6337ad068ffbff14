import {
  type Calls,
  type CallStore,
  LiftSuppressionInput,
  listTenantCalls,
  listTenants,
  QueryTenantCallsInput,
  QueryTenantsInput,
  PreviewRetentionInput,
  QuerySuppressionsInput,
  ResourceNotFound,
  showCall,
  SetRetentionInput,
  SuspendTenantInput,
  TenantAdministration,
  TenantErasure,
  TenantRetentions,
  type TenantReport,
  type TenantStore,
  Timestamp,
  toSuppressionRecord,
  walletAddress,
  type WalletAddress
} from "@agentos/core"
import { Effect, Option } from "effect"
import { type Answer, bodyOf, dataResponse, long, mutation, parameter, queryOf, read } from "./OperatorRoute.ts"

const WALLET = /^0x[0-9a-f]{40}$/i

/** The tenant that the path names, by id or by wallet. */
const namedTenant = Effect.map(parameter("tenant"), (name): string | WalletAddress =>
  WALLET.test(name) ? walletAddress(name) : name
)

const tenantResponse = Effect.fnUntraced(function* (report: Option.Option<TenantReport>) {
  const { sendingPause, tenant, ...usage } = yield* ofTenant(report)
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

/** Returns the value found for the named tenant, or fails if there is no such tenant. */
const ofTenant = Effect.fnUntraced(function* <A>(found: Option.Option<A>) {
  return Option.isSome(found) ? found.value : yield* new ResourceNotFound({ kind: "tenant", id: yield* namedTenant })
})

/** Answers with the tenant that an action on the named one returns. */
const acting = (action: "find" | "resume" | "revokeTokens" | "resumeSending") =>
  Effect.map(TenantAdministration, (tenants): Answer =>
    Effect.flatMap(Effect.flatMap(namedTenant, tenants[action]), tenantResponse)
  )

/** Suspends a tenant. The body contains the reason, which the tenant sees. */
const suspendTenant = Effect.map(TenantAdministration, (tenants): Answer =>
  Effect.gen(function* () {
    const { reason } = yield* bodyOf(SuspendTenantInput)
    return yield* tenantResponse(yield* tenants.suspend(yield* namedTenant, reason))
  })
)

/** Lists the suppressed addresses of a tenant. */
const listSuppressions = Effect.map(TenantAdministration, (tenants): Answer =>
  Effect.gen(function* () {
    const page = yield* queryOf(QuerySuppressionsInput)
    const { items, nextCursor } = yield* ofTenant(yield* tenants.listSuppressions(yield* namedTenant, page))
    return yield* dataResponse({ items: items.map(toSuppressionRecord), nextCursor })
  })
)

/** Lifts the suppression of an address of a tenant. */
const liftSuppression = Effect.map(TenantAdministration, (tenants): Answer =>
  Effect.gen(function* () {
    const { address } = yield* bodyOf(LiftSuppressionInput)
    const lifted = yield* ofTenant(yield* tenants.liftSuppression(yield* namedTenant, address))
    return yield* dataResponse({ address, lifted })
  })
)

/** Lists the calls of a tenant, newest first. */
const listCalls = Effect.map(
  Effect.all([TenantAdministration, Effect.context<Calls>()]),
  ([tenants, services]): Answer =>
    Effect.gen(function* () {
      const page = yield* queryOf(QueryTenantCallsInput)
      const { tenant } = yield* ofTenant(yield* tenants.find(yield* namedTenant))
      return yield* dataResponse(yield* Effect.provide(listTenantCalls(tenant, page), services))
    })
)

/** Shows a call of any tenant, without its transcript. */
const showOneCall = Effect.map(Effect.context<CallStore>(), (services): Answer =>
  Effect.flatMap(
    Effect.flatMap(parameter("callId"), (id) => Effect.provide(showCall(id.toLowerCase()), services)),
    dataResponse
  )
)

/** Lists tenants, newest first. */
const listAll = Effect.map(Effect.context<TenantStore>(), (services): Answer =>
  Effect.flatMap(
    Effect.flatMap(queryOf(QueryTenantsInput), (query) => Effect.provide(listTenants(query), services)),
    dataResponse
  )
)

/** Shows what an erasure of a tenant would erase, and what prevents it. */
const previewErasure = Effect.map(TenantErasure, ({ preview }): Answer =>
  Effect.flatMap(Effect.flatMap(namedTenant, preview), dataResponse)
)

/** Erases the content and the personal data of a tenant, permanently. */
const eraseTenant = Effect.map(TenantErasure, ({ erase }): Answer =>
  Effect.flatMap(Effect.flatMap(namedTenant, erase), dataResponse)
)

/** Shows how long the data of a tenant is kept. */
const showRetention = Effect.map(TenantRetentions, ({ show }): Answer =>
  Effect.flatMap(Effect.flatMap(namedTenant, show), dataResponse)
)

/** Counts the rows that a period would delete. */
const previewRetention = Effect.map(TenantRetentions, ({ preview }): Answer =>
  Effect.gen(function* () {
    const input = yield* queryOf(PreviewRetentionInput)
    return yield* dataResponse(yield* preview(yield* namedTenant, input))
  })
)

/** Sets how long one kind of data of a tenant is kept. */
const setRetention = Effect.map(TenantRetentions, ({ set }): Answer =>
  Effect.gen(function* () {
    const input = yield* bodyOf(SetRetentionInput)
    return yield* dataResponse(yield* set(yield* namedTenant, input))
  })
)

export const routes = Effect.gen(function* () {
  const tenant = "/internal/tenants/{tenant}"
  const suppressions = `${tenant}/suppressions`
  return [
    read("tenants", "/internal/tenants", yield* listAll),
    read("previewErasure", `${tenant}/erasure`, yield* previewErasure),
    long(mutation("eraseTenant", "money", "tenant.erase", `${tenant}/erase`, yield* eraseTenant)),
    read("retention", `${tenant}/retention`, yield* showRetention),
    read("previewRetention", `${tenant}/retention/preview`, yield* previewRetention),
    mutation("setRetention", "money", "tenant.set-retention", `${tenant}/retention`, yield* setRetention),
    read("tenant", tenant, yield* acting("find")),
    mutation("suspendTenant", "support", "tenant.suspend", `${tenant}/suspend`, yield* suspendTenant),
    mutation("resumeTenant", "support", "tenant.resume", `${tenant}/resume`, yield* acting("resume")),
    mutation(
      "revokeTokens",
      "support",
      "tenant.revoke-tokens",
      `${tenant}/revoke-tokens`,
      yield* acting("revokeTokens")
    ),
    mutation(
      "resumeSending",
      "support",
      "tenant.resume-sending",
      `${tenant}/resume-sending`,
      yield* acting("resumeSending")
    ),
    read("tenantCalls", `${tenant}/calls`, yield* listCalls, "support"),
    read("call", "/internal/calls/{callId}", yield* showOneCall, "support"),
    read("suppressions", suppressions, yield* listSuppressions),
    mutation("liftSuppression", "support", "suppression.lift", `${suppressions}/lift`, yield* liftSuppression)
  ]
})
