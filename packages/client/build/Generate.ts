import { openApiDocument } from "@agentos/api"
import openapiTS, { astToString, type OpenAPI3, type SchemaObject } from "openapi-typescript"

type Json = { readonly [key: string]: unknown }

interface Reference {
  readonly $ref: string
}
interface Parameter {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly schema: Json
}
interface OperationDocument {
  readonly operationId: string
  readonly parameters: ReadonlyArray<Parameter | Reference>
  readonly requestBody?: { readonly content: { readonly "application/json": { readonly schema: Json } } }
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: Json }>> }>
  >
  readonly security: ReadonlyArray<Json>
  readonly "x-price"?: unknown
}
/** The parts of the OpenAPI document that the client needs. */
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationDocument>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Json>>
    readonly parameters: Readonly<Record<string, Parameter>>
  }
}

const document = openApiDocument({ serverUrl: "https://agentos.example", networks: [] }) as unknown as Document
const { parameters: sharedParameters, schemas } = document.components

const nameIn = (reference: unknown): string => String(reference).split("/").at(-1) ?? ""

/** Keywords that change no type. Without them the package stays small. */
const UNTYPED = new Set([
  "default",
  "description",
  "discriminator",
  "example",
  "examples",
  "format",
  "maximum",
  "maxItems",
  "maxLength",
  "minimum",
  "minItems",
  "minLength",
  "pattern",
  "title",
  "uniqueItems"
])

/** Returns a schema without the keywords that change no type. `isNames`: the keys are names of properties. */
const bare = (value: unknown, isNames = false): unknown => {
  if (Array.isArray(value)) return value.map((item) => bare(item))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => isNames || !UNTYPED.has(key))
      .map(([key, inner]) => [key, bare(inner, !isNames && key === "properties")])
  )
}

const objectOf = (properties: Readonly<Record<string, Json>>, required: ReadonlyArray<string>): Json => ({
  type: "object",
  properties,
  required,
  ...(Object.keys(properties).length === 0 ? { additionalProperties: false } : {})
})

const parameterOf = (parameter: Parameter | Reference): Parameter => {
  if (!("$ref" in parameter)) return parameter
  const shared = sharedParameters[nameIn(parameter.$ref)]
  if (shared === undefined) throw new Error(`${parameter.$ref} is missing`)
  return shared
}

/** Returns the parameters of an operation, without optional headers: the client sends those of a payment itself. */
const parametersOf = ({ parameters }: OperationDocument): ReadonlyArray<Parameter> =>
  parameters.map(parameterOf).filter((parameter) => parameter.required || parameter.in !== "header")

/** Returns one object with every input of an operation: those of path, query, header and body. */
const inputOf = (operation: OperationDocument): Json => {
  const parameters = parametersOf(operation)
  const body = operation.requestBody?.content["application/json"].schema
  if (body !== undefined && parameters.length === 0) return body
  const resolved = body === undefined ? undefined : schemas[nameIn(body["$ref"])]
  return objectOf(
    {
      ...Object.fromEntries(parameters.map(({ name, schema }) => [name, schema])),
      ...(resolved?.["properties"] as Record<string, Json> | undefined)
    },
    [
      ...parameters.filter(({ required }) => required).map(({ name }) => name),
      ...((resolved?.["required"] as ReadonlyArray<string> | undefined) ?? [])
    ]
  )
}

const successOf = ({ responses }: OperationDocument) =>
  Object.entries(responses).find(([status]) => status.startsWith("2"))?.[1].content

/** Returns the schema of `data` in the success envelope; an empty one for a download. */
const outputOf = (operation: OperationDocument): Json => {
  const content = successOf(operation)
  if (content === undefined) return { not: {} }
  const envelope = content["application/json"]?.schema
  return envelope === undefined ? {} : (envelope["properties"] as Record<string, Json>)["data"]!
}

type Authentication = "bootstrap" | "none" | "sign-in" | "token"

const authenticationOf = ({ security, "x-price": price }: OperationDocument): Authentication => {
  if (security.some((scheme) => "signInWithX" in scheme)) return "sign-in"
  if (security.some((scheme) => "apiKey" in scheme)) return "token"
  return price === undefined ? "none" : "bootstrap"
}

const rowOf = (method: string, path: string, operation: OperationDocument): string => {
  const named = (place: string) =>
    parametersOf(operation)
      .filter((one) => one.in === place)
      .map(({ name }) => name)
  const [query, header] = [named("query"), named("header")]
  const isDownload = operation.responses["200"] !== undefined && !("application/json" in (successOf(operation) ?? {}))
  const authentication = authenticationOf(operation)
  const parts = [
    `method: ${JSON.stringify(method.toUpperCase())}`,
    `path: ${JSON.stringify(path)}`,
    ...(authentication === "token" ? [] : [`authentication: ${JSON.stringify(authentication)}`]),
    ...(operation["x-price"] === undefined ? [] : ["isPaid: true"]),
    ...(query.length === 0 ? [] : [`query: ${JSON.stringify(query)}`]),
    ...(header.length === 0 ? [] : [`header: ${JSON.stringify(header)}`]),
    ...(isDownload ? ["isDownload: true"] : [])
  ]
  return `  ${operation.operationId}: { ${parts.join(", ")} }`
}

const NOTE = "// Generated from the OpenAPI document by `npx -y pnpm@12 generate`.\n"

const TABLE_TYPES = `import type { OperationId, OperationRow } from "../http/OperationTypes.ts"

`

/** The generator's note on a literal, which repeats its type. */
const ENUM_NOTE = /^ *\/\*\* @enum \{[\w|]+\} \*\/\n/gm

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method, path, operation }))
)

/** The input and output of every operation, as one schema. */
const operationsSchema = (): Json =>
  objectOf(
    Object.fromEntries(
      operations.map(({ operation }) => [
        operation.operationId,
        objectOf({ input: inputOf(operation), output: outputOf(operation) }, ["input", "output"])
      ])
    ),
    operations.map(({ operation }) => operation.operationId)
  )

/** Returns the schemas that others refer to, directly or through others, with these. */
const reachable = (roots: Readonly<Record<string, Json>>): Readonly<Record<string, Json>> => {
  const found: Record<string, Json> = { ...roots }
  const visit = (schema: Json): void => {
    for (const [, name = ""] of JSON.stringify(schema).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      const next = schemas[name]
      if (name in found || next === undefined) continue
      found[name] = next
      visit(next)
    }
  }
  for (const root of Object.values(roots)) visit(root)
  return found
}

/** The schemas that the client uses beside those of operations. */
const ROOTS = ["Error", "RealtimeClientMessage", "RealtimeServerMessage"]

/** Returns the generated files by name. */
export const generate = async (): Promise<Readonly<Record<string, string>>> => {
  const roots = {
    ...Object.fromEntries(ROOTS.map((name) => [name, schemas[name] ?? {}])),
    Operations: operationsSchema()
  }
  const types = await openapiTS(
    {
      openapi: "3.1.0",
      info: { title: "AgentOS", version: "1" },
      paths: {},
      components: {
        schemas: bare(reachable(roots), true) as Record<string, SchemaObject>
      }
    } satisfies OpenAPI3,
    { defaultNonNullable: false, emptyObjectsUnknown: true, alphabetize: false }
  )
  const components = types.filter((node) => "name" in node && (node.name as { text?: string }).text === "components")
  const rows = operations.map(({ method, operation, path }) => rowOf(method, path, operation))
  return {
    "Components.ts": `${NOTE}${astToString(components).replaceAll(ENUM_NOTE, "")}`,
    "OperationTable.ts": `${NOTE}${TABLE_TYPES}export const OPERATIONS: Readonly<Record<OperationId, OperationRow>> = {\n${rows.join(",\n")}\n}\n`
  }
}
