import { AgentOsApi, OPERATIONS, routerPath } from "@agentos/api"
import { CATALOG, type CatalogEntry } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { HttpApi } from "effect/http-api"

const endpoints = () => {
  const found = new Map<string, string>()
  HttpApi.reflect(AgentOsApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => {
      assert.isFalse(found.has(endpoint.identifier), `${endpoint.identifier} is there once`)
      found.set(endpoint.identifier, `${endpoint.method} ${endpoint.path}`)
    }
  })
  return found
}

interface Shape {
  readonly names: ReadonlyArray<string>
  readonly required: ReadonlyArray<string>
}

const JsonShape = Schema.Struct({
  schema: Schema.Struct({
    $ref: Schema.optionalKey(Schema.String),
    properties: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json)),
    required: Schema.optionalKey(Schema.Array(Schema.String))
  }),
  definitions: Schema.Record(
    Schema.String,
    Schema.Struct({
      properties: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json)),
      required: Schema.optionalKey(Schema.Array(Schema.String))
    })
  )
})

const shapeOf = (codec: Schema.Codec<unknown, unknown>): Shape => {
  const { definitions, schema } = Schema.decodeUnknownSync(JsonShape)(Schema.toJsonSchemaDocument(codec))
  const found = schema.$ref === undefined ? schema : definitions[schema.$ref.split("/").at(-1) ?? ""]
  return { names: Object.keys(found?.properties ?? {}).toSorted(), required: [...(found?.required ?? [])].toSorted() }
}

const catalogShape = (entry: CatalogEntry, place: "body" | "query" | "path"): Shape => {
  const inputs = entry.inputs.filter((input) => input.in === place)
  return {
    names: inputs.map(({ name }) => name).toSorted(),
    required: inputs.flatMap(({ name, required }) => (required ? [name] : [])).toSorted()
  }
}

describe("AgentOsApi", () => {
  it("has exactly one endpoint for each operation of the catalog, at its method and path", () => {
    const found = endpoints()
    assert.deepStrictEqual(
      found,
      new Map(CATALOG.map((entry) => [entry.operationId, `${entry.method} ${routerPath(entry)}`]))
    )
    assert.lengthOf(CATALOG, 28)
  })

  it("describes each operation of the catalog and no other", () => {
    assert.deepStrictEqual(Object.keys(OPERATIONS).toSorted(), CATALOG.map(({ operationId }) => operationId).toSorted())
  })

  for (const operation of Object.values(OPERATIONS)) {
    it(`accepts for ${operation.name} exactly the inputs of the catalog`, () => {
      assert.deepStrictEqual(shapeOf(operation.payload), catalogShape(operation.entry, "body"), "body")
      assert.deepStrictEqual(shapeOf(operation.query), catalogShape(operation.entry, "query"), "query")
      assert.deepStrictEqual(shapeOf(operation.params), catalogShape(operation.entry, "path"), "path")
    })
  }
})
