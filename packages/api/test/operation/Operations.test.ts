import { OPERATIONS, operations } from "@agentos/api"
import { CATALOG } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"

describe("the operations", () => {
  it("are exactly those of the catalog", () => {
    assert.deepStrictEqual(Object.keys(OPERATIONS).toSorted(), CATALOG.map(({ operationId }) => operationId).toSorted())
  })

  it("are in the order of the catalog", () => {
    assert.deepStrictEqual(
      operations.map(({ name }) => name),
      CATALOG.map(({ operationId }) => operationId)
    )
  })
})
