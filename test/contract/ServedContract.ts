import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"
import * as formats from "ajv-formats"

/** A value of the document. */
type Json = unknown
type JsonObject = Readonly<Record<string, Json>>

const isObject = (value: Json): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const child = (value: Json, ...names: ReadonlyArray<string>): JsonObject => {
  const found = names.reduce<Json>((inner, name) => (isObject(inner) ? inner[name] : undefined), value)
  return isObject(found) ? found : {}
}

/** A response as a client receives it. */
interface Received {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** An operation of the document. */
export interface DocumentedOperation {
  readonly operationId: string
  readonly method: string
  /** With `{parameter}` for variable parts. */
  readonly path: string
  /** The path with an unknown id. */
  readonly samplePath: string
  readonly statuses: ReadonlyArray<number>
  readonly operation: JsonObject
}

/** An unknown id. */
export const UNKNOWN_ID = "019ab1c0-5f3e-7cc1-8a52-000000000000"

/** A request, as far as the contract depends on it. */
interface Sent {
  readonly method: string
  /** With its query. */
  readonly path: string
}

/** Headers of HTTP itself, which no contract describes. */
const GENERIC: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "content-type",
  "date",
  "keep-alive",
  "transfer-encoding",
  "vary"
])

/** Headers for browsers, with their values. They are the same for every operation, apart from downloads. */
const FOR_BROWSERS: Readonly<Record<string, RegExp>> = {
  "access-control-allow-origin": /^\*$/,
  "access-control-expose-headers": /^[A-Za-z-]+(?:, [A-Za-z-]+)*$/,
  "content-security-policy": /^(?:sandbox; )?default-src 'none'; frame-ancestors 'none'$/,
  "cross-origin-resource-policy": /^(?:cross|same)-origin$/,
  "referrer-policy": /^no-referrer$/,
  "x-content-type-options": /^nosniff$/,
  "x-frame-options": /^DENY$/
}

const METHODS = ["get", "post", "put", "patch", "delete"]

const SCHEMAS = "#/components/schemas/"

/** Returns the names of the components whose properties others add to, with `allOf`. */
const extendedSchemas = (value: Json): ReadonlyArray<string> => {
  if (Array.isArray(value)) return value.flatMap(extendedSchemas)
  if (!isObject(value)) return []
  const parts = Array.isArray(value["allOf"]) ? value["allOf"] : []
  const names = parts.flatMap((part: Json) => {
    const reference = isObject(part) ? part["$ref"] : undefined
    return typeof reference === "string" ? [reference.slice(SCHEMAS.length)] : []
  })
  return [...names, ...Object.values(value).flatMap(extendedSchemas)]
}

/** Returns a schema that accepts no property that it does not describe. Schemas of responses are open in the document. */
const closed = (schema: Json, isPart = false): Json => {
  if (Array.isArray(schema)) return schema.map((item) => closed(item))
  if (!isObject(schema)) return schema
  const inner = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (key === "allOf" && Array.isArray(value)) return [key, value.map((part) => closed(part, true))]
      if (key === "properties" && isObject(value))
        return [key, Object.fromEntries(Object.entries(value).map(([name, property]) => [name, closed(property)]))]
      return [key, ["enum", "const", "default", "examples"].includes(key) ? value : closed(value)]
    })
  )
  const describes = "properties" in schema || "allOf" in schema
  return describes && !isPart && !("additionalProperties" in schema)
    ? { ...inner, unevaluatedProperties: false }
    : inner
}

/** Returns a header as its schema expects it: an integer is written in digits. */
const headerValue = (text: string, { type }: JsonObject): Json =>
  type === "integer" && /^\d+$/.test(text) ? Number(text) : text

/** The contract that a server serves, and the responses that were compared with it. */
export class ServedContract {
  readonly operations: ReadonlyArray<DocumentedOperation>
  /** The documented methods of each path. */
  readonly methods: ReadonlyMap<string, ReadonlyArray<string>>
  /** Each operation with the statuses that were received. */
  readonly received = new Map<string, Set<number>>()
  /** The names of the headers that responses had, in lower case. */
  readonly receivedHeaders = new Set<string>()
  /** Each difference between a response and the document. */
  readonly contradictions = new Set<string>()
  private readonly document: JsonObject
  private readonly ajv = new Ajv2020({ strict: false, allErrors: true })
  private readonly validators = new Map<Json, ValidateFunction>()
  private readonly templates: ReadonlyArray<readonly [RegExp, string]>
  private exposed: ReadonlyArray<string> = []

  private constructor(document: JsonObject) {
    this.document = document
    formats.default.default(this.ajv, { mode: "full" })
    this.ajv.addFormat("binary", true)
    const open = new Set(extendedSchemas(document))
    const schemas = Object.fromEntries(
      Object.entries(child(document, "components", "schemas")).map(([name, schema]) => [
        name,
        closed(schema, open.has(name))
      ])
    )
    this.ajv.addSchema({ components: { schemas } }, "document")
    const paths = Object.entries(child(document, "paths"))
    this.operations = paths.flatMap(([path, item]) =>
      METHODS.flatMap((method) => {
        const operation = child(item, method)
        const { operationId } = operation
        if (typeof operationId !== "string") return []
        const samplePath = path.replace("{serviceId}", "events.list").replaceAll(/\{\w+\}/g, UNKNOWN_ID)
        const statuses = Object.keys(child(operation, "responses")).map(Number)
        return [{ operationId, method: method.toUpperCase(), path, samplePath, statuses, operation }]
      })
    )
    const byPath = Map.groupBy(this.operations, ({ path }) => path)
    this.methods = new Map([...byPath].map(([path, operations]) => [path, operations.map(({ method }) => method)]))
    this.templates = paths
      .map(([path]): readonly [RegExp, string] => [
        new RegExp(`^${path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`),
        path
      ])
      // A path without parameters comes before one that it also matches.
      .toSorted(([, left], [, right]) => Number(left.includes("{")) - Number(right.includes("{")))
  }

  static async read(baseUrl: string): Promise<ServedContract> {
    const response = await fetch(`${baseUrl}/openapi.json`)
    return new ServedContract((await response.json()) as JsonObject)
  }

  /** Returns `fetch` for a server, which compares every response with the document. */
  fetch(baseUrl: string): typeof fetch {
    return async (input, init) => {
      const request = new Request(input, init)
      const response = await fetch(request)
      await this.compare({ method: request.method, path: request.url.slice(baseUrl.length) }, response.clone())
      return response
    }
  }

  /** Compares a response with the document, and records each difference. */
  async compare({ method, path }: Sent, response: Response): Promise<void> {
    const received = { status: response.status, headers: response.headers, text: await response.text() }
    for (const name of received.headers.keys()) this.receivedHeaders.add(name)
    const [plain = ""] = path.split("?", 1)
    const template = this.templates.find(([pattern]) => pattern.test(plain))?.[1]
    const verb = method === "HEAD" ? "GET" : method
    const found = this.operations.find((each) => each.path === template && each.method === verb)
    const report = (flaws: ReadonlyArray<string>): void => {
      for (const flaw of flaws)
        this.contradictions.add(
          `${method} ${found?.operationId ?? template ?? "elsewhere"} ${received.status}: ${flaw}`
        )
    }
    if (found !== undefined) {
      this.received.set(found.operationId, (this.received.get(found.operationId) ?? new Set()).add(received.status))
      const documented = this.resolved(child(found.operation, "responses")[`${received.status}`])
      return report(
        isObject(documented) ? this.flawsOf(method, documented, received) : ["the status is not documented"]
      )
    }
    if (method === "OPTIONS") {
      this.exposed = received.headers.get("access-control-expose-headers")?.toLowerCase().split(", ") ?? []
      return
    }
    const name = template === undefined ? "UnknownPath" : "OtherMethod"
    return report(this.flawsOf(method, child(this.document, "components", "responses", name), received))
  }

  /** Returns the names of the documented headers of responses, in lower case. */
  headerNames(): ReadonlyArray<string> {
    const names = new Set(
      this.operations.flatMap(({ operation }) =>
        Object.values(child(operation, "responses")).flatMap((response) =>
          Object.keys(child(this.resolved(response), "headers")).map((name) => name.toLowerCase())
        )
      )
    )
    return [...names]
  }

  /** Returns the names of those headers that a browser hides from pages. */
  hiddenHeaders(): ReadonlyArray<string> {
    // Browsers show the other one always (Fetch, "CORS-safelisted response-header name").
    return this.headerNames().filter((name) => name !== "cache-control" && !this.exposed.includes(name))
  }

  private flawsOf(method: string, response: JsonObject, received: Received): ReadonlyArray<string> {
    return [...this.headerFlaws(response, received), ...this.bodyFlaws(method, response, received)]
  }

  private headerFlaws(response: JsonObject, { headers }: Received): ReadonlyArray<string> {
    const described = new Map(
      Object.entries(child(response, "headers")).map(([name, header]) => [name.toLowerCase(), this.resolved(header)])
    )
    const missing = [...described].flatMap(([name, header]) =>
      child(header)["required"] === true && !headers.has(name) ? [`${name} is required and missing`] : []
    )
    const wrong = [...headers].flatMap(([name, text]) => {
      if (GENERIC.has(name)) return []
      const forBrowsers = FOR_BROWSERS[name]
      if (forBrowsers !== undefined) return forBrowsers.test(text) ? [] : [`${name} is ${text}`]
      const header = described.get(name)
      if (header === undefined) return [`the header ${name} is not documented: ${text}`]
      const schema = child(header, "schema")
      return this.schemaFlaws(schema, headerValue(text, schema)).map((flaw) => `header ${name} ${flaw}: ${text}`)
    })
    return [...missing, ...wrong]
  }

  private bodyFlaws(method: string, response: JsonObject, { headers, text }: Received): ReadonlyArray<string> {
    const content = child(response, "content")
    const type = headers.get("content-type")
    if (Object.keys(content).length === 0) {
      return type === null && text === "" ? [] : [`a body of type ${type} is not documented`]
    }
    const essence = (type ?? "").split(";", 1)[0]!.trim().toLowerCase()
    const media = content[essence] ?? content["*/*"]
    if (!isObject(media)) return [`the media type ${type} is not documented`]
    if (method === "HEAD") return text === "" ? [] : ["HEAD has a body"]
    if (essence !== "application/json" || content[essence] === undefined) return []
    return this.schemaFlaws(child(media, "schema"), JSON.parse(text)).map((flaw) => `body ${flaw}`)
  }

  private schemaFlaws(schema: JsonObject, value: Json): ReadonlyArray<string> {
    const validate =
      this.validators.get(schema) ??
      this.ajv.compile(JSON.parse(JSON.stringify(closed(schema)).replaceAll('"#/', '"document#/')) as object)
    this.validators.set(schema, validate)
    if (validate(value)) return []
    return [
      this.ajv.errorsText(validate.errors, { separator: "; " }) +
        (validate.errors ?? [])
          .flatMap(({ params }) => {
            const { unevaluatedProperty } = params as { readonly unevaluatedProperty?: string }
            return unevaluatedProperty === undefined ? [] : [` (${unevaluatedProperty})`]
          })
          .join("")
    ]
  }

  /** Returns the target of a reference. */
  private resolved(value: Json): Json {
    const reference = isObject(value) ? value["$ref"] : undefined
    if (typeof reference !== "string") return value
    return child(this.document, ...reference.slice("#/".length).split("/"))
  }
}
