import { AgentOsApi, OPERATIONS, operations, routerPath } from "@agentos/api"
import { CATALOG } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
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

describe("AgentOsApi", () => {
  it("has exactly one endpoint for each operation of the catalog, at its method and path", () => {
    const found = endpoints()
    assert.deepStrictEqual(
      found,
      new Map(CATALOG.map((entry) => [entry.operationId, `${entry.method} ${routerPath(entry)}`]))
    )
  })

  it("describes each operation of the catalog and no other", () => {
    assert.deepStrictEqual(Object.keys(OPERATIONS).toSorted(), CATALOG.map(({ operationId }) => operationId).toSorted())
  })

  it("keeps the operations in the order of the catalog", () => {
    assert.deepStrictEqual(
      operations.map(({ name }) => name),
      CATALOG.map(({ operationId }) => operationId)
    )
  })
})
