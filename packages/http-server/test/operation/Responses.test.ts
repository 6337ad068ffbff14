import { operations, toWireError } from "@agentos/api"
import { PaymentRequired } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { HttpServerResponse } from "effect/http"
import { RequestFacts, type RouteMatch } from "../../src/edge/Route.ts"
import { challengeResponse } from "../../src/operation/Responses.ts"

const CAPABILITIES = { email: true, phone: true }
const PAID = operations.filter(({ entry }) => entry.price !== null)

describe("the response with a challenge", () => {
  it.each(PAID.map((operation) => [operation.name, operation] as const))(
    "of %s has the bytes and headers of the error PaymentRequired",
    async (_, operation) => {
      const { entry } = operation
      const match: RouteMatch = { route: null, template: entry.path, allowed: [], params: {}, query: {} }
      const respond = challengeResponse(operation, CAPABILITIES)
      for (const [requestId, path, challenge] of [
        ["01900000-0000-7000-8000-000000000001", entry.path, "Zmlyc3Q="],
        ["01900000-0000-7000-8000-000000000002", `${entry.path}"{path}`, "c2Vjb25k"]
      ] as const) {
        const record = new RequestFacts(requestId, match, 0)
        const error = toWireError(new PaymentRequired({ challenge, reason: null }), {
          requestId,
          method: "POST",
          path,
          entry,
          capabilities: CAPABILITIES,
          paymentState: "none"
        })
        const expected = HttpServerResponse.jsonUnsafe(error.body, { status: error.status, headers: error.headers })
        const prepared = respond(record, path, challenge)
        assert.strictEqual(record.code, "PAYMENT_REQUIRED")
        assert.deepStrictEqual([prepared.status, { ...prepared.headers }], [402, { ...expected.headers }])
        assert.strictEqual(
          await HttpServerResponse.toWeb(prepared).text(),
          await HttpServerResponse.toWeb(expected).text()
        )
      }
    }
  )

  it("is the same for each of the eleven paid services", () => assert.lengthOf(PAID, 11))
})
