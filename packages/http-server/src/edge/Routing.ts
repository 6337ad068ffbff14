import type { ApiError } from "@agentos/api"
import type { CatalogEntry, JsonBudget } from "@agentos/core"
import type { Effect } from "effect"
import * as FindMyWay from "effect/http/FindMyWay"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { RequestFacts } from "./RequestRecord.ts"

/** Maximum length of a path segment that is an id. A longer segment matches no route. */
const ID_LENGTH_LIMIT = 256

/** Limits of a JSON body. */
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

/** The routes of one path. */
interface Resource<R> {
  readonly template: string
  readonly routes: ReadonlyMap<string, Route<R>>
  readonly allowed: ReadonlyArray<string>
}

const NO_ROUTE: RouteMatch<never> = { route: null, template: "none", allowed: [], params: {}, query: {} }
/** The tree of the router that contains every path, whatever the method. */
const TREE = "ANY"

const allowedBy = (routes: ReadonlyArray<Route<unknown>>): ReadonlyArray<string> => {
  const audience = routes[0]?.audience
  if (audience === "providers") return []
  const methods = routes.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]))
  return audience === "clients" ? [...methods, "OPTIONS"] : methods
}

const resourceOf = <R>(template: string, routes: ReadonlyArray<Route<R>>): Resource<R> => {
  const byMethod = new Map(routes.map((route) => [route.method as string, route]))
  const get = byMethod.get("GET")
  if (get !== undefined) byMethod.set("HEAD", get)
  return { template, routes: byMethod, allowed: allowedBy(routes) }
}

const routerPath = (template: string): `/${string}` => `/${template.slice(1).replaceAll(/\{(\w+)\}/g, ":$1")}`

/** Returns the router over these routes. Paths match exactly as they are written, including case and slashes. */
export const makeRouter = <R>(routes: ReadonlyArray<Route<R>>) => {
  const router = FindMyWay.make<Resource<R>>({
    caseSensitive: true,
    ignoreTrailingSlash: false,
    ignoreDuplicateSlashes: false,
    maxParamLength: ID_LENGTH_LIMIT
  })
  for (const [path, same] of Map.groupBy(routes, (route) => route.path)) {
    router.on(TREE, routerPath(path), resourceOf(path, same))
  }
  return (method: string, target: string): RouteMatch<R> => {
    const found = router.find(TREE, target)
    if (found === undefined) return NO_ROUTE
    const { handler, params, searchParams: query } = found
    const { allowed, routes: byMethod, template } = handler
    return { route: byMethod.get(method) ?? null, template, allowed, params, query }
  }
}
