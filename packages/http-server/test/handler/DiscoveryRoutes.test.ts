import { asyncApiDocument, openApiDocument, OPERATIONS } from "@agentos/api"
import { SERVICES } from "@agentos/core"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { call, dataOf, errorOf } from "../support/TestClient.ts"
import { startServer, type TestServer } from "../support/TestServer.ts"

let server: TestServer
let bare: TestServer
beforeAll(async () => {
  server = await startServer()
  bare = await startServer({ capabilities: { email: false, phone: false } })
})
afterAll(async () => {
  await server.stop()
  await bare.stop()
})

/** The fields of each service in the catalog. */
const SERVICE_FIELDS = ["serviceId", "method", "path", "price", "authentication", "startHere", "available"].concat([
  "marketplaceListing",
  "guide",
  "purpose",
  "inputs",
  "errors",
  "nextActions"
])

const read = async <A>(data: Schema.Codec<A, unknown>, path: string, from = server) => {
  const answer = await call(from, "GET", path)
  assert.strictEqual(answer.status, 200)
  return Schema.decodeUnknownSync(data, { onExcessProperty: "error" })(dataOf(answer))
}

describe("discovery", () => {
  it("describes the API", async () => {
    const { authentication, environment, guides, name, services, version } = await read(
      OPERATIONS.describeApi.data,
      "/api/v1"
    )
    assert.deepStrictEqual(
      { environment, name, version },
      { environment: "sandbox", name: "AgentOS", version: "1.0.0" }
    )
    assert.deepStrictEqual(authentication.startHere, ["email.mailbox.create"])
    assert.lengthOf(services, SERVICES.length)
    const available = services.filter((service) => service.available).map(({ serviceId }) => serviceId)
    assert.includeMembers(available, ["email.mailbox.create", "events.list"])
    assert.notInclude(available, "phone.number.us.30d")
    for (const path of Object.values(guides)) assert.strictEqual((await call(server, "GET", path)).status, 200, path)
  })

  it("lists every service and its availability", async () => {
    const { items } = await read(OPERATIONS.listServices.data, "/api/v1/services")
    assert.deepStrictEqual(
      items.map(({ serviceId }) => serviceId),
      SERVICES.map(({ serviceId }) => serviceId)
    )
    const available = (serviceId: string) => items.find((item) => item.serviceId === serviceId)?.available
    assert.isTrue(available("email.mailbox.create"))
    assert.isTrue(available("events.list"))
    assert.isFalse(available("phone.number.us.30d"))
    assert.isFalse(available("domain.register"))
    assert.deepInclude(
      items.find(({ serviceId }) => serviceId === "email.message.send"),
      {
        method: "POST",
        path: "/api/v1/email/messages/send",
        price: { amount: "0.02", asset: "USDT" },
        authentication: "bearer",
        startHere: false,
        guide: "/docs#sending"
      }
    )
    assert.deepStrictEqual(
      items.filter(({ marketplaceListing }) => marketplaceListing).map(({ serviceId }) => serviceId),
      ["email.mailbox.create", "email.mailbox.update", "email.mailbox.delete", "email.message.send"]
    )
    for (const service of items) {
      assert.includeMembers(Object.keys(service), SERVICE_FIELDS)
      const path = `/api/v1/services/${service.serviceId}`
      assert.deepStrictEqual((await read(OPERATIONS.getService.data, path)).service, service)
    }
    const without = await read(OPERATIONS.listServices.data, "/api/v1/services", bare)
    assert.lengthOf(
      without.items.filter(({ marketplaceListing }) => marketplaceListing),
      0
    )
  })

  it("answers an unknown service with 404", async () => {
    const answer = await call(server, "GET", "/api/v1/services/email.mailbox")
    assert.strictEqual(answer.status, 404)
    assert.strictEqual(errorOf(answer).code, "RESOURCE_NOT_FOUND")
    assert.deepStrictEqual(errorOf(answer).next, { method: "GET", path: "/api/v1/services" })
  })

  it("serves documents with an entity tag, and answers 304 if they are unchanged", async () => {
    const paths = [
      "/api/v1",
      "/api/v1/services",
      "/api/v1/services/events.list",
      "/openapi.json",
      "/asyncapi.json",
      "/llms.txt",
      "/docs",
      "/favicon.svg"
    ]
    for (const path of paths) {
      const first = await call(server, "GET", path)
      const etag = first.headers.get("etag") ?? ""
      assert.notStrictEqual(etag, "", path)
      for (const tag of [etag, `"other", ${etag}`, "*"]) {
        const again = await call(server, "GET", path, { headers: { "if-none-match": tag } })
        assert.strictEqual(again.status, 304, path)
        assert.strictEqual(again.text, "")
        assert.notStrictEqual(again.headers.get("x-request-id"), first.headers.get("x-request-id"))
      }
      const other = await call(server, "GET", path, { headers: { "if-none-match": '"other"' } })
      assert.strictEqual(other.status, 200)
    }
  })

  it("serves the OpenAPI document", async () => {
    const answer = await call(server, "GET", "/openapi.json")
    assert.strictEqual(answer.headers.get("content-type"), "application/json")
    const networks = server.payments.rail.terms(1n).map(({ network }) => network)
    assert.deepStrictEqual(
      JSON.parse(answer.text),
      openApiDocument({ serverUrl: "http://agentos.test", networks, capabilities: { email: true, phone: false } })
    )
  })

  it("names only the services of this server as the way to start", async () => {
    const phone = await startServer({ capabilities: { email: false, phone: true } })
    const guidance = async (from: TestServer) => {
      const { info } = JSON.parse((await call(from, "GET", "/openapi.json")).text) as {
        readonly info: Readonly<Record<string, string>>
      }
      const { instructions } = JSON.parse((await call(from, "GET", "/.well-known/x402")).text) as {
        readonly instructions: string
      }
      assert.strictEqual(info["x-guidance"], instructions)
      return instructions.split("\n")[0] ?? ""
    }
    const us = "POST /api/v1/phone/purchase-us-number-30-days for a phone number"
    const start = "Start with a service that needs no account and no token: "
    assert.strictEqual(await guidance(server), `${start}POST /api/v1/email/mailboxes for a mailbox.`)
    assert.strictEqual(await guidance(phone), `${start}${us}.`)
    assert.strictEqual(await guidance(bare), "This server offers no paid service at the moment.")
    for (const from of [phone, bare]) {
      const skill = (await call(from, "GET", "/.well-known/agent-skills/agentos/SKILL.md")).text
      assert.notInclude(skill, "/email/")
    }
    await phone.stop()
  })

  it("serves the AsyncAPI document of the WebSocket, and names it where it names the OpenAPI document", async () => {
    const answer = await call(server, "GET", "/asyncapi.json")
    assert.strictEqual(answer.headers.get("content-type"), "application/json")
    assert.strictEqual(answer.headers.get("cache-control"), "public, max-age=300")
    assert.deepStrictEqual(
      JSON.parse(answer.text),
      asyncApiDocument({ serverUrl: "http://agentos.test", networks: [] })
    )
    const link = '<http://agentos.test/asyncapi.json>; rel="service-desc"; type="application/json"'
    for (const path of ["/", "/api/v1", "/openapi.json", "/docs", "/llms.txt", "/.well-known/x402"]) {
      assert.include((await call(server, "GET", path)).headers.get("link") ?? "", link, path)
    }
    for (const path of ["/.well-known/x402", "/.well-known/api-catalog"]) {
      const { text } = await call(server, "GET", path)
      assert.include(text, "/openapi.json", path)
      assert.include(text, "/asyncapi.json", path)
    }
  })

  it("serves the icon that challenges name, as an image that clients may cache", async () => {
    const { headers, status, text } = await call(server, "GET", "/favicon.svg")
    assert.strictEqual(status, 200)
    assert.strictEqual(headers.get("content-type"), "image/svg+xml")
    assert.strictEqual(headers.get("cache-control"), "public, max-age=300")
    assert.match(text, /^<svg xmlns="http:\/\/www.w3.org\/2000\/svg"/)
  })

  it("reports liveness and readiness", async () => {
    assert.strictEqual((await call(server, "GET", "/health/live")).text, '{"status":"live"}')
    assert.strictEqual((await call(server, "GET", "/health/ready")).text, '{"status":"ready"}')
  })
})
