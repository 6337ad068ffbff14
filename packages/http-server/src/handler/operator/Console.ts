import { HttpServerResponse } from "effect/http"
import { readFileSync } from "node:fs"
import { extname } from "node:path"
import { DEFAULT_BODY_LIMITS } from "../../edge/RequestLimits.ts"
import { preparedDocument, type PreparedHandler } from "../../edge/PreparedDocument.ts"
import type { Route } from "../../edge/Route.ts"
import { consoleFolder } from "./ConsoleFiles.ts"

const PAGE = "index.html"
/** Only these files are served: the page and its files. */
const FILES = [
  "console.css",
  "api.js",
  "dialog.js",
  "dom.js",
  "lists.js",
  "main.js",
  "metrics.js",
  "overview.js"
] as const

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8"
}

/** The page loads from this server alone, and no other page frames it. Its form is answered by a script. */
const HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "cache-control": "no-cache",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin"
}

const route = (path: string, handler: PreparedHandler): Route => ({
  method: "GET",
  path,
  audience: "operator",
  isRateLimited: true,
  entry: null,
  operation: null,
  body: DEFAULT_BODY_LIMITS,
  handler
})

const fileOf = (name: string): PreparedHandler =>
  preparedDocument(() => readFileSync(new URL(name, consoleFolder), "utf8"), TYPES[extname(name)]!, HEADERS)

const PATH = "/internal/console"

/**
 * The console: a page that calls the operator's routes with the token that a person gives it. Its files contain no data, so
 * they are served without a token.
 */
export const consoleRoutes: ReadonlyArray<Route> = [
  // Relative, for a proxy that serves it below another path.
  route(PATH, () => HttpServerResponse.empty({ status: 308, headers: { location: "console/" } })),
  route(`${PATH}/`, fileOf(PAGE)),
  ...FILES.map((name) => route(`${PATH}/${name}`, fileOf(name)))
]
