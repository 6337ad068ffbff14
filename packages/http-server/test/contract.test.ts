import { AgentOsApi } from "@agentos/api"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { newTenant } from "./support/TestClient.ts"
import { startServer, type TestServer } from "./support/TestServer.ts"

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

/** Returns a client that is generated from the contract alone. */
const clientWith = (token: string | undefined) =>
  HttpApiClient.make(AgentOsApi, {
    baseUrl: server.url,
    transformClient: HttpClient.mapRequest((request) =>
      token === undefined ? request : HttpClientRequest.bearerToken(request, token)
    )
  }).pipe(Effect.provide(FetchHttpClient.layer))

describe("a client generated from the contract", () => {
  it("decodes the server's responses and errors", async () => {
    const { eventIds, token } = await newTenant(server).then(async (tenant) => ({
      ...tenant,
      eventIds: await server.append(tenant.wallet, ["a"])
    }))
    const [eventId = ""] = eventIds
    await Effect.runPromise(
      Effect.gen(function* () {
        const client = yield* clientWith(token)
        assert.strictEqual((yield* client.describeApi({ params: {}, query: {} })).data.name, "AgentOS")
        const { data } = yield* client.getService({ params: { serviceId: "events.list" }, query: {} })
        assert.strictEqual(data.service.path, "/api/v1/events/list")
        const listed = yield* client.listEvents({ params: {}, query: {}, payload: { service: "email", limit: 1 } })
        assert.strictEqual(listed.data.items[0]?.eventId, eventId)
        const replayed = yield* client.replayEvents({ params: {}, query: { limit: 1 } })
        assert.lengthOf(replayed.data.items, 1)
        const acknowledged = yield* client.acknowledgeEventById({ params: { eventId }, query: {}, payload: {} })
        assert.strictEqual(acknowledged.data.event.status, "acknowledged")

        const stranger = yield* clientWith(undefined)
        const refused = yield* Effect.flip(stranger.listMailboxes({ params: {}, query: {} }))
        assert.strictEqual("error" in refused ? refused.error.code : refused._tag, "ONBOARDING_REQUIRED")
      })
    )
  })
})
