import { CATALOG } from "@agentos/core"
import { Schema } from "effect"
import { OpenApi } from "effect/http-api"
import { AgentOsApi } from "../AgentOsApi.ts"
import { API_NAME, API_VERSION } from "../discovery/ApiIdentity.ts"
import { type Operation, takesBody } from "../operation/Operation.ts"
import { OPERATIONS } from "../operation/Operations.ts"
import { isObject, type JsonObject, mendSchema } from "./JsonSchemaMending.ts"
import { ACCESS_TOKEN, HEADERS, operationDocument } from "./OperationDocument.ts"

const operations: ReadonlyArray<Operation> = CATALOG.map(({ operationId }) => OPERATIONS[operationId])

const child = (json: Schema.Json | undefined, key: string): JsonObject => {
  const value = isObject(json) ? json[key] : undefined
  return isObject(value) ? value : {}
}

const generatedOperation = (generated: JsonObject, { entry }: Operation): JsonObject =>
  child(child(generated["paths"], entry.path), entry.method.toLowerCase())

/** Returns every operation of the catalog, by path and method, in catalog order. */
const paths = (generated: JsonObject, serverUrl: string): JsonObject => {
  const found: Record<string, Record<string, JsonObject>> = {}
  for (const operation of operations) {
    const { method, path } = operation.entry
    const document = operationDocument(operation, generatedOperation(generated, operation), serverUrl)
    found[path] = { ...found[path], [method.toLowerCase()]: document }
  }
  return found
}

/** Adds the catalog's description of each property of a body. */
const described = (schema: JsonObject, descriptions: ReadonlyMap<string, string>): JsonObject => ({
  ...schema,
  properties: Object.fromEntries(
    Object.entries(child(schema, "properties")).map(([name, property]) => {
      const description = descriptions.get(name)
      return [name, isObject(property) && description !== undefined ? { description, ...property } : property]
    })
  )
})

/** Returns the names of the body schemas, with the catalog's descriptions of their properties. */
const bodies = (generated: JsonObject): ReadonlyMap<string, ReadonlyMap<string, string>> =>
  new Map(
    operations.filter(takesBody).map((operation) => {
      const { inputs } = operation.entry
      const body = child(generatedOperation(generated, operation), "requestBody")
      const ref = child(child(child(body, "content"), "application/json"), "schema")["$ref"]
      const name = typeof ref === "string" ? ref.replace("#/components/schemas/", "") : operation.name
      return [name, new Map(inputs.map((input) => [input.name, input.description]))]
    })
  )

/** Schemas of requests are closed, and described by the catalog. Schemas of responses may gain properties. */
const schemas = (generated: JsonObject): JsonObject => {
  const inputs = bodies(generated)
  return Object.fromEntries(
    Object.entries(child(generated["components"], "schemas")).map(([name, schema]) => {
      const descriptions = inputs.get(name)
      const mended = mendSchema(schema, descriptions === undefined)
      return [name, descriptions !== undefined && isObject(mended) ? described(mended, descriptions) : mended]
    })
  )
}

/**
 * Returns the OpenAPI 3.1 document of the API for a server at `serverUrl`, generated from the contract, with the
 * generator's omissions completed.
 */
export const openApiDocument = (serverUrl: string): JsonObject => {
  const generated = Schema.decodeUnknownSync(Schema.Record(Schema.String, Schema.Json))(OpenApi.fromApi(AgentOsApi))
  return {
    openapi: "3.1.0",
    info: {
      title: API_NAME,
      version: API_VERSION,
      summary: "Real mailboxes and phone numbers for agents, paid per call with x402.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" }
    },
    servers: [{ url: serverUrl }],
    tags: generated["tags"] ?? [],
    paths: paths(generated, serverUrl),
    components: {
      securitySchemes: {
        [ACCESS_TOKEN]: {
          type: "http",
          scheme: "bearer",
          bearerFormat: "at_v1",
          description:
            "The access token that a start-here operation returns. It is valid for every service of its wallet."
        }
      },
      headers: HEADERS,
      schemas: schemas(generated)
    }
  }
}
