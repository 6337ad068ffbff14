import { type JsonObject, openApiDocument } from "@agentos/api"
import { type CatalogEntry, CATALOG } from "@agentos/core"
import { ORIGIN } from "./Page.ts"

/** A network for the document, which names those that a server accepts. X Layer is the specification's. */
const NETWORK = "eip155:196"

/** The OpenAPI document, with the placeholder as its server. */
export const document: JsonObject = openApiDocument({ serverUrl: ORIGIN, networks: [NETWORK] })

export type Json = unknown

export const isObject = (value: Json): value is Readonly<Record<string, Json>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Follows names into a value. Undefined if one is missing. */
export const at = (value: Json, ...names: ReadonlyArray<string>): Json =>
  names.reduce<Json>((inner, name) => (isObject(inner) ? inner[name] : undefined), value)

/** Replaces a reference by its target. */
export const resolve = (value: Json): Json => {
  const reference = at(value, "$ref")
  if (typeof reference !== "string") return value
  const found = at(document, ...reference.slice("#/".length).split("/"))
  if (found === undefined) throw new Error(`The document has no ${reference}.`)
  return resolve(found)
}

export const text = (value: Json): string => (typeof value === "string" ? value : "")

const JSON_TYPE = "application/json"

/** Returns the first example of the JSON content of a body or response; undefined without an example. */
export const exampleOf = (body: Json): Json => {
  const content = at(resolve(body), "content", JSON_TYPE)
  const single = at(content, "example")
  if (single !== undefined) return single
  const first = Object.values((at(content, "examples") as Readonly<Record<string, Json>> | undefined) ?? {})[0]
  return at(resolve(first), "value")
}

export const schemaOf = (body: Json): Json => at(resolve(body), "content", JSON_TYPE, "schema")

/** An operation in the document, with its row of the catalog. */
export interface Documented {
  readonly operationId: string
  readonly entry: CatalogEntry
  readonly operation: Readonly<Record<string, Json>>
}

/** Returns all operations in the order of the catalog. */
export const documented = (): ReadonlyArray<Documented> =>
  CATALOG.map((entry) => {
    const operation = at(document, "paths", entry.path, entry.method.toLowerCase())
    if (!isObject(operation)) throw new Error(`The document has no ${entry.method} ${entry.path}.`)
    return { operationId: text(operation["operationId"]), entry, operation }
  })
