import { OPERATIONS } from "@agentos/api"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { WebSocket } from "ws"
import { call, callPaid, dataOf, errorOf, newTenant, textAt } from "../support/TestClient.ts"
import { startServer, type TestServer } from "../support/TestServer.ts"

const LIST = "/api/v1/events/list"

let server: TestServer
beforeAll(async () => {
  server = await startServer({ publicUrl: "https://agentos.test" })
})
afterAll(() => server.stop())

/** Creates a tenant with these events. */
const tenantWith = async (...names: ReadonlyArray<string>) => {
  const tenant = await newTenant(server)
  // Acknowledges the events of the tenant's first payment, which do not matter here.
  const { token } = tenant
  await call(server, "POST", "/api/v1/events/ack-all", { token, body: { before: "2100-01-01T00:00:00Z" } })
  return { ...tenant, eventIds: await server.append(tenant.wallet, names) }
}

const read = async <A>(data: Schema.Codec<A, unknown>, method: string, path: string, token: string, body?: unknown) => {
  const answer = await call(server, method, path, { token, ...(body === undefined ? {} : { body }) })
  assert.strictEqual(answer.status, 200, answer.text)
  return Schema.decodeUnknownSync(data, { onExcessProperty: "error" })(dataOf(answer))
}

describe("events", () => {
  it("are returned to their tenant oldest first, until they are acknowledged", async () => {
    const { eventIds, token } = await tenantWith("a", "b", "c")
    const replay = () => read(OPERATIONS.replayEvents.data, "GET", "/api/v1/events", token)
    assert.deepStrictEqual(
      (await replay()).items.map(({ eventId }) => eventId),
      eventIds
    )
    const first = await read(OPERATIONS.replayEvents.data, "GET", "/api/v1/events?limit=1", token)
    assert.lengthOf(first.items, 1)

    for (let times = 0; times < 2; times++) {
      const { event } = await read(OPERATIONS.acknowledgeEvent.data, "POST", "/api/v1/events/ack", token, {
        eventId: eventIds[0]
      })
      assert.strictEqual(event.status, "acknowledged")
      const got = await read(OPERATIONS.getEvent.data, "POST", "/api/v1/events/get", token, { eventId: eventIds[0] })
      assert.deepStrictEqual(got.event, event)
      const path = `/api/v1/events/${eventIds[1]}/acknowledge`
      const body = times === 0 ? undefined : {}
      assert.strictEqual(
        (await read(OPERATIONS.acknowledgeEventById.data, "POST", path, token, body)).event.status,
        "acknowledged"
      )
    }
    assert.deepStrictEqual(
      (await replay()).items.map(({ eventId }) => eventId),
      eventIds.slice(2)
    )
  })

  it("are replayed in pages, with the number that wait", async () => {
    const { eventIds, token } = await tenantWith(...Array.from({ length: 103 }, (_, index) => `event ${index}`))
    const replay = (query: string) => read(OPERATIONS.replayEvents.data, "GET", `/api/v1/events${query}`, token)
    const first = await replay("?limit=2")
    assert.deepStrictEqual([first.items.length, first.pending], [2, 103])
    const rest = await replay(`?limit=200&cursor=${first.nextCursor}`)
    assert.deepStrictEqual([rest.items.length, rest.pending, rest.nextCursor], [101, 103, null])
    const tokenPage = await read(
      OPERATIONS.getRealtimeToken.data,
      "GET",
      `/api/v1/events/realtime-token?cursor=${first.nextCursor}`,
      token
    )
    assert.deepStrictEqual([tokenPage.items.length, tokenPage.pending], [100, 103])
    const last = await replay(`?cursor=${tokenPage.nextCursor}`)
    assert.deepStrictEqual(
      [...first.items, ...tokenPage.items, ...last.items].map(({ eventId }) => eventId),
      eventIds
    )
    assert.deepStrictEqual([last.nextCursor, last.pending], [null, 103])
    const { token: foreign } = await newTenant(server)
    const refused = await call(server, "GET", `/api/v1/events?cursor=${first.nextCursor}`, { token: foreign })
    assert.strictEqual(refused.status, 400)
  })

  it("expire when their mailbox is deleted, and others stay", async () => {
    const { eventIds: kept, mailboxId, token, wallet } = await tenantWith("kept")
    const eventIds = await server.append(wallet, ["a", "b"], mailboxId)
    const deletion = { token, body: { mailboxId } }
    assert.strictEqual((await callPaid(server, "/api/v1/email/mailboxes/delete", deletion, wallet)).status, 200)
    const list = (body: unknown) => read(OPERATIONS.listEvents.data, "POST", LIST, token, body)
    const idsOf = async (body: unknown) => (await list(body)).items.map(({ eventId }) => eventId)
    assert.deepStrictEqual(await idsOf({ status: "expired" }), eventIds)
    assert.deepStrictEqual(await idsOf({ status: "pending", types: ["email.received"] }), kept)
  })

  it("refuse an empty list of types, which no event could match", async () => {
    const { token } = await newTenant(server)
    for (const [path, body] of [
      [LIST, { types: [] }],
      ["/api/v1/events/ack-all", { before: "2100-01-01T00:00:00Z", types: [] }]
    ] as const) {
      const refused = await call(server, "POST", path, { token, body })
      assert.strictEqual(refused.status, 400)
      const issue = { path: "types", message: "must contain at least one type. Omit it to match events of all types" }
      assert.deepStrictEqual(errorOf(refused).issues, [issue])
    }
  })

  it("are listed in filtered pages", async () => {
    const { eventIds, token } = await tenantWith("a", "b", "c")
    const list = (body: unknown) => read(OPERATIONS.listEvents.data, "POST", LIST, token, body)
    const one = await list({ limit: 2, types: ["email.received"] })
    assert.deepStrictEqual(
      one.items.map(({ eventId }) => eventId),
      eventIds.slice(0, 2)
    )
    const two = await list({ types: ["email.received"], cursor: one.nextCursor, limit: 2 })
    assert.deepStrictEqual(
      two.items.map(({ eventId }) => eventId),
      eventIds.slice(2)
    )
    assert.isNull(two.nextCursor)
    assert.lengthOf((await list({ status: "acknowledged", service: "email" })).items, 0)
    assert.lengthOf((await list({ service: "phone" })).items, 0)
    assert.lengthOf(
      (await list({ resourceId: "b", from: "2020-01-01T00:00:00Z", to: "2100-01-01T00:00:00Z" })).items,
      1
    )
    assert.lengthOf((await list({ to: "2020-01-01T00:00:00Z" })).items, 0)
    const misused = await call(server, "POST", LIST, { token, body: { cursor: one.nextCursor, service: "email" } })
    assert.strictEqual(misused.status, 400)
    const wrong = await tenantWith("d")
    assert.strictEqual(
      (await call(server, "POST", LIST, { token: wrong.token, body: { cursor: one.nextCursor } })).status,
      400
    )
  })

  it("are acknowledged together up to a moment", async () => {
    const { token } = await tenantWith("a", "b")
    const path = "/api/v1/events/ack-all"
    const all = (body: unknown) => read(OPERATIONS.acknowledgeAllEvents.data, "POST", path, token, body)
    assert.strictEqual((await all({ before: "2020-01-01T00:00:00Z" })).acknowledged, 0)
    assert.strictEqual((await all({ before: "2100-01-01T00:00:00Z", service: "phone" })).acknowledged, 0)
    assert.strictEqual((await all({ before: "2100-01-01T00:00:00Z", types: ["email.received"] })).acknowledged, 2)
    assert.strictEqual((await all({ before: "2100-01-01T00:00:00Z" })).acknowledged, 0)
  })

  it("belong to their tenant alone", async () => {
    const { eventIds } = await tenantWith("a")
    const { token } = await newTenant(server)
    const [eventId] = eventIds
    for (const path of ["/api/v1/events/get", "/api/v1/events/ack"]) {
      const foreign = await call(server, "POST", path, { token, body: { eventId } })
      assert.strictEqual(foreign.status, 403)
      assert.strictEqual(errorOf(foreign).code, "RESOURCE_NOT_OWNED")
      const unknown = await call(server, "POST", path, {
        token,
        body: { eventId: "019aa000-0000-7000-8000-000000000001" }
      })
      assert.strictEqual(unknown.status, 404)
      assert.deepStrictEqual(errorOf(unknown).next, { method: "POST", path: LIST, body: {} })
    }
    assert.strictEqual((await call(server, "POST", `/api/v1/events/${eventId}/acknowledge`, { token })).status, 403)
  })

  it("are delivered over the WebSocket with its own credential", async () => {
    const { eventIds, token } = await tenantWith("a")
    const before = Date.now()
    const { items, realtime } = await read(
      OPERATIONS.getRealtimeToken.data,
      "GET",
      "/api/v1/events/realtime-token",
      token
    )
    assert.strictEqual(realtime.websocketUrl, "wss://agentos.test/api/v1/events/socket")
    const issuedAt = Date.parse(realtime.expiresAt) - 15 * 60_000
    // A token holds its time in whole seconds.
    assert.isTrue(before - 1_000 <= issuedAt && issuedAt <= Date.now() + 1_000, realtime.expiresAt)
    assert.deepStrictEqual(
      items.map(({ eventId }) => eventId),
      eventIds
    )

    const socket = new WebSocket(`ws://127.0.0.1:${server.port}/api/v1/events/socket`)
    const received: Array<string> = []
    await new Promise<void>((resolve, reject) => {
      socket.on("error", reject)
      socket.on("open", () => socket.send(JSON.stringify({ type: "session.authenticate", token: realtime.token })))
      socket.on("message", (data: Buffer) => {
        received.push(textAt(JSON.parse(data.toString("utf8")) as Schema.Json, "type"))
        if (received.length === 3) resolve()
      })
    })
    socket.close()
    assert.deepStrictEqual(received, ["session.ready", "event.delivery", "session.replay.complete"])
  })
})
