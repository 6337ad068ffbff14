import type { ApiError, RateLimited } from "@agentos/api"
import type { CatalogEntry, ErrorCode, JsonBudget, PaymentState, TenantId } from "@agentos/core"
import { Context, Effect } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import { type CountedLimit, findRefusal } from "./RateLimiting.ts"

export interface BodyLimits {
  readonly bytes: number
  readonly json: JsonBudget
}

/**
 * The callers of a route. Clients may ask with OPTIONS which methods a path allows. Other methods on a path get 405 from
 * the operator's routes, and 404 from those of providers, like an unknown path.
 */
export type Audience = "clients" | "operator" | "providers"

type Response = HttpServerResponse.HttpServerResponse

/** Answers a request at once, for example with a prepared document, or with an effect. */
export type Handler<R> = (
  request: HttpServerRequest.HttpServerRequest,
  record: RequestFacts
) => Response | Effect.Effect<Response, ApiError, R>

/** One method and path of the server. */
export interface Route<out R = never> {
  /** GET includes HEAD. */
  readonly method: "GET" | "POST" | "PUT" | "DELETE"
  /** With `{parameter}` for variable parts. The label in metrics. */
  readonly path: string
  readonly audience: Audience
  readonly isRateLimited: boolean
  /** The operation of the catalog; null for a route outside the catalog. */
  readonly entry: CatalogEntry | null
  /** The name of the route in the access log; null for documents, health checks and webhooks. */
  readonly operation: string | null
  /** Null if the handler checks the body itself. */
  readonly body: BodyLimits | null
  readonly handler: Handler<R>
}

/** A document or another path outside the catalog that clients read. */
export const documentRoute = <R = never>(path: string, handler: Handler<R>): Route<R> => ({
  method: "GET",
  path,
  audience: "clients",
  isRateLimited: true,
  entry: null,
  operation: null,
  body: null,
  handler
})

/** The path of the route that answers GET requests for unknown paths. Without it, they get the error envelope. */
export const UNKNOWN_PATH = "*"

/** The result of the router for one request. */
export interface RouteMatch<out R = unknown> {
  /** Null if the path is unknown or does not accept the method. */
  readonly route: Route<R> | null
  /** The template of the path; the same value for all unknown paths. */
  readonly template: string
  /** The methods that the path allows, in the order of the Allow header; empty for an unknown path. */
  readonly allowed: ReadonlyArray<string>
  readonly params: Readonly<Record<string, string | undefined>>
  readonly query: Readonly<Record<string, string | ReadonlyArray<string>>>
}

/** Facts about a request, collected while it is answered: its route, and what its response and log line report. */
export class RequestFacts<out R = unknown> {
  /** Appears in the body, the X-Request-Id header and the log. */
  readonly requestId: string
  readonly match: RouteMatch<R>
  /** In milliseconds since the Unix epoch. */
  readonly startedAt: number
  /** The rate limits that the request was counted toward so far, for its headers. */
  readonly limits: Array<CountedLimit> = []
  operation: string | undefined = undefined
  tenantId: TenantId | undefined = undefined
  code: ErrorCode | undefined = undefined
  /** The state of the request's payment as found before the response; undefined while it has not been checked. */
  paymentState: PaymentState | undefined = undefined
  /** The id of the request whose stored response was repeated. */
  repeats: string | undefined = undefined
  /** How the response contradicts the contract. Each is logged as an error. */
  readonly violations: Array<string> = []
  /** Additional cost of the work done, for the limit of the address. */
  additionalCost = 0

  constructor(requestId: string, match: RouteMatch<R>, startedAt: number) {
    this.requestId = requestId
    this.match = match
    this.startedAt = startedAt
  }
}

/** The facts about the current request. */
export class RequestRecord extends Context.Service<RequestRecord, RequestFacts>()(
  "@agentos/http-server/edge/RequestRecord"
) {}

/** Records the limits that a request was counted toward, and fails if one of them refused it. */
export const admitWithin = (limits: ReadonlyArray<CountedLimit>): Effect.Effect<void, RateLimited, RequestRecord> =>
  Effect.flatMap(RequestRecord, ({ limits: noted }) => {
    noted.push(...limits)
    const refusal = findRefusal(limits)
    return refusal === undefined ? Effect.void : Effect.fail(refusal)
  })
