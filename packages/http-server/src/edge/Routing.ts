import * as FindMyWay from "effect/http/FindMyWay"
import { pathOf } from "./RequestLimits.ts"
import type { Route, RouteMatch } from "./Route.ts"

/** Maximum length of a path segment that is an id. A longer segment matches no route. */
const ID_LENGTH_LIMIT = 256

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

/** An escaped character that needs no escape (RFC 3986, section 2.3): a letter, a digit, or one of `-._~`. */
const NEEDLESS_ESCAPE = /%(?:2d|2e|3\d|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9ae])/i
/** An empty segment or a dot segment, which others remove. */
const REMOVED_SEGMENT = /\/(?:\.{0,2}\/|\.{1,2}$)/

/**
 * Returns whether a path has another spelling that means the same (RFC 3986, section 6.2.2). A proxy compares the spelling
 * with its rules, for example with `/internal`, so no route may match another one.
 */
const hasOtherSpelling = (path: string): boolean => NEEDLESS_ESCAPE.test(path) || REMOVED_SEGMENT.test(path)

/** Returns the router over these routes. Paths match exactly as they are written, including case and slashes. Only parameters are decoded. */
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
    if (hasOtherSpelling(pathOf(target))) return NO_ROUTE
    const found = router.find(TREE, target)
    if (found === undefined) return NO_ROUTE
    const { handler, params, searchParams: query } = found
    const { allowed, routes: byMethod, template } = handler
    return { route: byMethod.get(method) ?? null, template, allowed, params, query }
  }
}
