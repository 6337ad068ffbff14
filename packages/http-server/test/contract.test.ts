import { ErrorEnvelope, OPERATIONS, successEnvelope } from "@agentos/api"
import type { CatalogEntry } from "@agentos/core"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { call, newTenant, type TestRequest } from "./support/TestClient.ts"
import { startServer, type TestServer } from "./support/TestServer.ts"

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

/** Requests an operation, and decodes the response by the contract. */
const answerOf = async <Data extends Schema.Codec<unknown, unknown>>(
  { data, entry }: { readonly data: Data; readonly entry: CatalogEntry },
  request: TestRequest = {},
  path: string = entry.path
): Promise<Data["Type"]> => {
  const { text } = await call(server, entry.method, path, request)
  const { data: encoded } = Schema.decodeUnknownSync(successEnvelope(Schema.Unknown))(JSON.parse(text))
  return Schema.decodeUnknownSync(data)(encoded)
}

describe("a client of the contract", () => {
  it("decodes the server's responses and errors", async () => {
    const { token, wallet } = await newTenant(server)
    const [eventId = ""] = await server.append(wallet, ["a"])
    const description = await answerOf(OPERATIONS.describeApi)
    assert.strictEqual(description.name, "AgentOS")
    const { service } = await answerOf(OPERATIONS.getService, {}, "/api/v1/services/events.list")
    assert.strictEqual(service.path, "/api/v1/events/list")
    const listed = await answerOf(OPERATIONS.listEvents, { token, body: { service: "email", limit: 1 } })
    assert.strictEqual(listed.items[0]?.eventId, eventId)
    const replayed = await answerOf(OPERATIONS.replayEvents, { token }, "/api/v1/events?limit=1")
    assert.lengthOf(replayed.items, 1)
    const acknowledged = await answerOf(
      OPERATIONS.acknowledgeEventById,
      { token, body: {} },
      `/api/v1/events/${eventId}/acknowledge`
    )
    assert.strictEqual(acknowledged.event.status, "acknowledged")
    const refused = await call(server, "GET", OPERATIONS.listMailboxes.entry.path)
    assert.strictEqual(
      Schema.decodeUnknownSync(ErrorEnvelope)(JSON.parse(refused.text)).error.code,
      "ONBOARDING_REQUIRED"
    )
  })
})
