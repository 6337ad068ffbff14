import { BodyMemoryExhausted, OPERATIONS, RequestTimedOut } from "@agentos/api"
import { ByteBudget, TransitMemory } from "@agentos/core"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Option } from "effect"
import { HttpServerRequest } from "effect/http"
import { TestClock } from "effect/testing"
import { connect, type Socket } from "node:net"
import { RouteMatch } from "../../src/edge/Routing.ts"
import { BodyMemory } from "../../src/operation/BodyMemory.ts"
import { operationRoute } from "../../src/operation/OperationRoute.ts"
import { readBody } from "../../src/operation/RequestBody.ts"
import { call, errorOf, fresh, newTenant } from "../support/TestClient.ts"
import { startServer, type TestServer } from "../support/TestServer.ts"

const SEND = "/api/v1/email/messages/send"
const KIB = 1024
/** A client may use half of it. */
const TRANSIT_LIMIT_BYTES = 1024 * KIB

let server: TestServer
let token: string
beforeAll(async () => {
  server = await startServer({ transitLimitBytes: TRANSIT_LIMIT_BYTES, trustedProxies: ["127.0.0.0/8"] })
  token = (await newTenant(server)).token
})
afterAll(() => server.stop())

/** Starts a body of `bytes` bytes and never ends it. Resolves once the bytes are written. */
const beginBody = async (address: string, bytes: number): Promise<Socket> => {
  const socket = connect(server.port, "127.0.0.1")
  socket.on("error", () => {})
  const head = [
    `POST ${SEND} HTTP/1.1`,
    "Host: agentos.test",
    `Authorization: Bearer ${token}`,
    `X-Forwarded-For: ${address}`,
    "Content-Type: application/json",
    `Content-Length: ${10 * 1024 * KIB}`
  ]
  await new Promise<void>((resolve) =>
    socket.write(`${head.join("\r\n")}\r\n\r\n${"x".repeat(bytes)}`, () => resolve())
  )
  return socket
}

/** Sends a body that is read completely and then refused as invalid with 400, unless no memory is available for it. */
const sendBody = (address: string, bytes: number) =>
  call(server, "POST", SEND, { body: "x".repeat(bytes), token, headers: { "x-forwarded-for": address } })

/** Repeats a body until the response has the status, because other connections take effect after a delay. */
const sendUntil = async (status: number, address: string, bytes: number) => {
  for (;;) {
    const answer = await sendBody(address, bytes)
    if (answer.status === status) return answer
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

const small = (address: string) =>
  call(server, "POST", "/api/v1/email/mailboxes", {
    body: { localPart: fresh("small") },
    headers: { "x-forwarded-for": address }
  })

describe("the memory of request bodies", () => {
  it("has a share for each client, which is released when its requests end", async () => {
    const held = await beginBody("192.0.2.1", 450 * KIB)
    try {
      const refused = await sendUntil(429, "192.0.2.1", 100 * KIB)
      assert.strictEqual(errorOf(refused).code, "RATE_LIMITED")
      assert.isTrue(errorOf(refused).retryable)
      assert.match(errorOf(refused).message, /Nothing was charged\.$/)
      assert.strictEqual(refused.headers.get("retry-after"), "5")
      assert.strictEqual((await sendBody("192.0.2.2", 100 * KIB)).status, 400)
      assert.strictEqual((await small("192.0.2.1")).status, 402)
    } finally {
      held.destroy()
    }
    assert.strictEqual((await sendUntil(400, "192.0.2.1", 100 * KIB)).status, 400)
  })

  it("has one share for an IPv6 /64 network", async () => {
    const held = await beginBody("2001:db8:0:1::1", 450 * KIB)
    try {
      await sendUntil(429, "2001:db8:0:1:ffff::2", 100 * KIB)
      assert.strictEqual((await sendBody("2001:db8:0:2::1", 100 * KIB)).status, 400)
    } finally {
      held.destroy()
    }
  })

  it("is bounded for all clients together, while small requests are still answered", async () => {
    const held = await Promise.all(
      ["198.51.100.1", "198.51.100.2", "198.51.100.3", "198.51.100.4"].map((address) => beginBody(address, 250 * KIB))
    )
    try {
      const refused = await sendUntil(503, "192.0.2.9", 200 * KIB)
      assert.strictEqual(errorOf(refused).code, "SERVICE_UNAVAILABLE")
      assert.isTrue(errorOf(refused).retryable)
      assert.strictEqual(refused.headers.get("retry-after"), "5")
      assert.strictEqual((await small("192.0.2.9")).status, 402)
      assert.strictEqual((await small("198.51.100.1")).status, 402)
    } finally {
      for (const socket of held) socket.destroy()
    }
    await sendUntil(400, "192.0.2.9", 200 * KIB)
  })
})

const budget = new ByteBudget(TRANSIT_LIMIT_BYTES)
const memory = BodyMemory.layer.pipe(Layer.provide(Layer.succeed(TransitMemory, budget)))

/** Returns a request whose body delivers a chunk on each call of `bring`. */
const slowRequest = () => {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  const body = new ReadableStream<Uint8Array>({ start: (opened) => void (controller = opened) })
  const request = HttpServerRequest.fromWeb(
    new Request(`http://agentos.test${SEND}`, {
      method: "POST",
      body,
      duplex: "half",
      headers: { "content-length": `${TRANSIT_LIMIT_BYTES}` }
    })
  )
  return {
    request,
    bring: (bytes: number) =>
      Effect.andThen(
        Effect.sync(() => controller?.enqueue(new Uint8Array(bytes))),
        // The stream delivers the chunk in its own tasks.
        Effect.promise(() => new Promise((resolve) => setImmediate(() => setImmediate(resolve))))
      )
  }
}

const match: RouteMatch["Service"] = {
  route: operationRoute(OPERATIONS.sendMessage, Effect.never),
  template: SEND,
  allowed: ["POST"],
  params: {},
  query: {}
}

const reading = (request: HttpServerRequest.HttpServerRequest) =>
  Effect.scoped(readBody).pipe(
    Effect.provideService(HttpServerRequest.HttpServerRequest, request),
    Effect.provideService(RouteMatch, match),
    Effect.flip,
    Effect.forkChild
  )

describe("readBody", () => {
  it.effect("fails if a body stops arriving, and releases its memory", () =>
    Effect.gen(function* () {
      const { bring, request } = slowRequest()
      const fiber = yield* reading(request)
      yield* bring(100 * KIB)
      assert.isAbove(budget.usedBytes, 80 * KIB)
      yield* TestClock.adjust("10 seconds")
      assert.instanceOf(yield* Fiber.join(fiber), RequestTimedOut)
      assert.strictEqual(budget.usedBytes, 0)
    }).pipe(Effect.provide(memory))
  )

  it.effect("waits for a body that delivers 128 KiB in ten seconds", () =>
    Effect.gen(function* () {
      const { bring, request } = slowRequest()
      const fiber = yield* reading(request)
      yield* bring(128 * KIB)
      yield* TestClock.adjust("10 seconds")
      assert.isUndefined(fiber.pollUnsafe())
      yield* bring(127 * KIB)
      yield* TestClock.adjust("10 seconds")
      assert.instanceOf(yield* Fiber.join(fiber), RequestTimedOut)
    }).pipe(Effect.provide(memory))
  )

  it.effect("reserves memory for the received bytes, not for the declared length", () =>
    Effect.gen(function* () {
      const { bring, request } = slowRequest()
      const fiber = yield* reading(request)
      yield* bring(16 * KIB)
      assert.strictEqual(budget.usedBytes, 0)
      for (let chunk = 0; chunk < 10_000; chunk++) yield* bring(1)
      assert.strictEqual(budget.usedBytes, 64 * KIB)
      yield* bring(TRANSIT_LIMIT_BYTES / 2)
      const error = yield* Fiber.join(fiber)
      assert.instanceOf(error, BodyMemoryExhausted)
      assert.strictEqual(budget.usedBytes, 0)
    }).pipe(Effect.provide(memory))
  )
})

describe("BodyMemory", () => {
  it.effect("releases the memory of a request with its scope", () =>
    Effect.gen(function* () {
      const { lease } = yield* BodyMemory
      yield* Effect.scoped(
        Effect.gen(function* () {
          const first = yield* lease(Option.some("192.0.2.1"))
          yield* first.reserve(100)
          const second = yield* lease(Option.some("192.0.2.1"))
          yield* second.reserve(50)
          assert.strictEqual(budget.usedBytes, 150)
        })
      )
      assert.strictEqual(budget.usedBytes, 0)
    }).pipe(Effect.provide(memory))
  )
})
