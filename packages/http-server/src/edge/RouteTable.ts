import {
  DOCS_PATH,
  LIVE_PATH,
  LLMS_PATH,
  OPENAPI_PATH,
  type Operation,
  OPERATIONS,
  READY_PATH,
  REALTIME_PATH
} from "@agentos/api"
import type { CatalogEntry } from "@agentos/core"

interface Row {
  readonly template: string
  readonly path: RegExp
  readonly methods: ReadonlyArray<string>
  readonly entries: ReadonlyArray<CatalogEntry>
}

const operations: ReadonlyArray<Operation> = Object.values(OPERATIONS)
/** Routes for the operator, which exist only if the server has an operator token. */
export const OPERATOR_PATHS = {
  jobs: "/internal/jobs",
  runJob: "/internal/jobs/{name}/run",
  metrics: "/internal/metrics",
  tenant: "/internal/tenants/{tenant}",
  suspendTenant: "/internal/tenants/{tenant}/suspend",
  resumeTenant: "/internal/tenants/{tenant}/resume"
} as const
const DOCUMENTS = [OPENAPI_PATH, LLMS_PATH, DOCS_PATH, LIVE_PATH, READY_PATH, REALTIME_PATH]

const pattern = (template: string): RegExp =>
  new RegExp(`^${template.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`)

const row = (path: string, entries: ReadonlyArray<CatalogEntry>): Row => {
  const isRead = entries.length === 0 || entries.some(({ method }) => method === "GET")
  const isCalled = entries.some(({ method }) => method === "POST")
  return {
    template: path,
    path: pattern(path),
    methods: [...(isRead ? ["GET", "HEAD"] : []), ...(isCalled ? ["POST"] : []), "OPTIONS"],
    entries
  }
}

/** All paths except those of the operator and of providers. No two templates match the same path. */
const TABLE: ReadonlyArray<Row> = [
  ...[
    ...Map.groupBy(
      operations.map(({ entry }) => entry),
      ({ path }) => path
    )
  ].map(([path, entries]) => row(path, entries)),
  ...DOCUMENTS.map((path) => row(path, []))
]

const find = (path: string): Row | undefined => TABLE.find((candidate) => candidate.path.test(path))

/** Returns the methods that a path accepts, as in an Allow header; empty for an unknown path. */
export const allowedMethods = (path: string): ReadonlyArray<string> => find(path)?.methods ?? []

/** Returns the catalog entry of the operation that a request matches, or null. */
export const entryAt = (method: string, path: string): CatalogEntry | null =>
  find(path)?.entries.find((entry) => entry.method === method) ?? null

/** Routes outside the API, which exist only if they are configured. */
const OTHER_TABLE = Object.values(OPERATOR_PATHS).map((template) => ({
  template,
  path: pattern(template)
}))
const NO_ROUTE = "none"

/**
 * Returns the route template of a path, such as `/api/v1/services/{serviceId}`; the same value for all unknown paths.
 */
export const routeAt = (path: string): string =>
  (find(path) ?? OTHER_TABLE.find((candidate) => candidate.path.test(path)))?.template ?? NO_ROUTE
