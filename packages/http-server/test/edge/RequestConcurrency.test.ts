import { Transactor } from "@agentos/core"
import { afterAll, assert, beforeAll, describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Latch, Layer, Option } from "effect"
import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { REQUESTS_AT_ONCE, RequestConcurrency } from "../../src/edge/RequestConcurrency.ts"
import { settings } from "../realtime/GatewayHost.ts"
import { call, newTenant } from "../support/TestClient.ts"
import { startServer, type TestServer } from "../support/TestServer.ts"

const OPERATOR_TOKEN = "0123456789abcdef0123456789abcdef"
const REQUESTS = 20
const RATE_LIMIT = { burst: 1_200, perSecond: 20 }
const NUMBERS = "/api/v1/phone/purchase-us-number-30-days"

let server: TestServer
beforeAll(async () => {
  server = await startServer({
    carrierToken: "t".repeat(32),
    operatorToken: OPERATOR_TOKEN,
    rateLimit: RATE_LIMIT,
    trustedProxies: ["127.0.0.0/8"]
  })
})
afterAll(() => server.stop())

const from = (address: string) => ({ "x-forwarded-for": address })

/** Starts a request whose body never arrives. Resolves when the server waits for the body, after "100 Continue". */
const beginRequest = async (path: string, token: string, address: string): Promise<Socket> => {
  const socket = connect(server.port, "127.0.0.1")
  await once(socket, "connect")
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nX-Forwarded-For: ${address}\r\n` +
      "Content-Type: application/json\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n{"
  )
  await once(socket, "data")
  return socket
}

describe("concurrent requests of one client", () => {
  it("are limited to a few at a time, and run beside those of other clients", async () => {
    const body = { agentName: "Ada", agentWebhookUrl: "https://agent.example/voice" }
    const [flooding, other] = ["198.51.100.1", "198.51.100.2"]
    const latch = Latch.makeUnsafe()
    let searching = 0
    let searchingMost = 0
    server.carrier.pace.search = Effect.suspend(() => {
      searchingMost = Math.max(searchingMost, ++searching)
      return Effect.onExit(latch.await, () => Effect.sync(() => (searching -= 1)))
    })
    const ask = (address: string) => call(server, "POST", NUMBERS, { body, headers: from(address) })
    const flood = Array.from({ length: REQUESTS }, () => ask(flooding))
    await expect.poll(() => searching).toBe(REQUESTS_AT_ONCE)
    const beside = ask(other)
    await expect.poll(() => searching).toBe(REQUESTS_AT_ONCE + 1)
    latch.openUnsafe()
    const answers = await Promise.all([...flood, beside])
    assert.deepStrictEqual([...new Set(answers.map(({ status }) => status))], [402])
    assert.strictEqual(searchingMost, REQUESTS_AT_ONCE + 1)
  })

  it.effect("start in a turn of the event loop up to the limit, though each is answered without waiting", () =>
    Effect.gen(function* () {
      const { limit } = yield* RequestConcurrency
      let answered = 0
      const request = limit(Option.some("198.51.100.5"))(Effect.sync(() => (answered += 1)))
      const running = Array.from({ length: REQUESTS }, () => Effect.runFork(request))
      assert.strictEqual(answered, REQUESTS_AT_ONCE)
      yield* Fiber.joinAll(running)
      assert.strictEqual(answered, REQUESTS)
    }).pipe(Effect.provide(RequestConcurrency.layer.pipe(Layer.provide(settings(RATE_LIMIT, "127.0.0.0/8")))))
  )

  it("do not include a request whose body is still arriving", async () => {
    const { token } = await newTenant(server)
    const address = "198.51.100.3"
    const sockets = await Promise.all(
      Array.from({ length: REQUESTS_AT_ONCE + 1 }, () => beginRequest("/api/v1/events/list", token, address))
    )
    try {
      const answer = call(server, "GET", "/api/v1/events", { token, headers: from(address) })
      const first = await Promise.race([answer, ...sockets.map((socket) => once(socket, "data"))])
      assert.strictEqual(first, await answer, "a body timed out first")
    } finally {
      for (const socket of sockets) socket.destroy()
    }
  })

  it("do not include those of operators, who act while the store is slow", async () => {
    const latch = Latch.makeUnsafe()
    const holding = server.run(Effect.flatMap(Transactor, ({ transact }) => transact(latch.await)))
    const get = (path: string) =>
      call(server, "GET", `/internal/${path}`, { headers: { authorization: `Bearer ${OPERATOR_TOKEN}` } })
    const waiting = Array.from({ length: REQUESTS_AT_ONCE }, () => get("tenants"))
    const ended = Promise.race(waiting)
    // By the second one, the others have arrived.
    for (let round = 0; round < 3; round++) {
      const checked = get("doctor")
      assert.strictEqual(await Promise.race([checked, ended]), await checked)
    }
    latch.openUnsafe()
    await holding
    for (const { status } of await Promise.all(waiting)) assert.strictEqual(status, 200)
  })

  it("let the next request continue when a client aborts one", async () => {
    const { token } = await newTenant(server)
    const address = "198.51.100.4"
    for (let round = 0; round < 3; round++) {
      const abort = new AbortController()
      const given = Array.from({ length: 3 * REQUESTS_AT_ONCE }, () =>
        fetch(`${server.url}/api/v1/events`, {
          headers: { authorization: `Bearer ${token}`, ...from(address) },
          signal: abort.signal
        }).catch(() => undefined)
      )
      setImmediate(() => abort.abort())
      await Promise.all(given)
    }
    const { status } = await call(server, "GET", "/api/v1/events", { token, headers: from(address) })
    assert.strictEqual(status, 200)
  })
})
