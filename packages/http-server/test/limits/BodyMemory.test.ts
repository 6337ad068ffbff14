import { BodyMemoryExhausted, OPERATIONS, RequestTimedOut } from "@agentos/api"
import { ByteBudget, TransitMemory } from "@agentos/core"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Option } from "effect"
import { HttpServerRequest } from "effect/http"
import { TestClock } from "effect/testing"
import { connect, type Socket } from "node:net"
import { vi } from "vitest"
import { RequestFacts, RequestRecord, type RouteMatch } from "../../src/edge/Route.ts"
import { BodyMemory } from "../../src/operation/BodyMemory.ts"
import { operationRoute } from "../../src/operation/OperationRoute.ts"
import { readBody } from "../../src/operation/RequestBody.ts"
import { call, errorOf, fresh, newTenant, rawCall } from "../support/TestClient.ts"
import { startServer, type TestServer } from "../support/TestServer.ts"

const SEND = "/api/v1/email/messages/send"
const KIB = 1024
const UNCOUNTED_BYTES = 16 * KIB
/** A client may use half of it. */
const TRANSIT_LIMIT_BYTES = 1024 * KIB

const serverMemory = new ByteBudget(TRANSIT_LIMIT_BYTES)
let server: TestServer
let token: string
beforeAll(async () => {
  server = await startServer({ transitMemory: serverMemory, trustedProxies: ["127.0.0.0/8"] })
  token = (await newTenant(server)).token
})
afterAll(() => server.stop())

/** A JSON text of this length, a string, so that only its length counts. */
const textOf = (bytes: number): string => `"${"x".repeat(bytes - 2)}"`

/** Starts a body and sends all of it but one byte. Resolves once the server holds them. */
const beginBody = async (address: string, bytes: number): Promise<Socket> => {
  const socket = connect(server.port, "127.0.0.1")
  socket.on("error", () => {})
  const head = [
    `POST ${SEND} HTTP/1.1`,
    "Host: agentos.test",
    `Authorization: Bearer ${token}`,
    `X-Forwarded-For: ${address}`,
    "Content-Type: application/json",
    `Content-Length: ${bytes + 1}`
  ]
  const before = serverMemory.usedBytes
  socket.write(`${head.join("\r\n")}\r\n\r\n${textOf(bytes + 1).slice(0, -1)}`)
  await vi.waitFor(() => assert.isAtLeast(serverMemory.usedBytes, before + bytes - UNCOUNTED_BYTES), {
    timeout: 60_000,
    interval: 5
  })
  return socket
}

/** Sends a body that is read completely and then refused as invalid with 400, unless no memory is available for it. */
const sendBody = (address: string, bytes: number) =>
  call(server, "POST", SEND, { body: textOf(bytes), token, headers: { "x-forwarded-for": address } })

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
  it("has a share for each client, for which its further bodies wait", async () => {
    const held = await beginBody("192.0.2.1", 450 * KIB)
    const order: Array<string> = []
    const waiting = sendBody("192.0.2.1", 100 * KIB).then(({ status }) => order.push(`waited: ${status}`))
    order.push(`another client: ${(await sendBody("192.0.2.2", 100 * KIB)).status}`)
    order.push(`a small body: ${(await small("192.0.2.1")).status}`)
    held.destroy()
    await waiting
    assert.deepStrictEqual(order, ["another client: 400", "a small body: 402", "waited: 400"])
  })

  it("refuses the bodies of a client at once while eight of them wait", async () => {
    const held = await beginBody("192.0.2.3", 450 * KIB)
    const refused: Array<Awaited<ReturnType<typeof sendBody>>> = []
    const sent = Array.from({ length: 20 }, async () => {
      const answer = await sendBody("192.0.2.3", 100 * KIB)
      if (answer.status === 429) refused.push(answer)
      if (refused.length === 12) held.destroy()
      return answer.status
    })
    const statuses = await Promise.all(sent)
    assert.lengthOf(refused, 12)
    assert.lengthOf(
      statuses.filter((status) => status === 400),
      8
    )
    for (const answer of refused) {
      assert.strictEqual(errorOf(answer).code, "RATE_LIMITED")
      assert.isTrue(errorOf(answer).retryable)
      assert.match(errorOf(answer).message, /Nothing was charged\.$/)
      assert.strictEqual(answer.headers.get("retry-after"), "5")
    }
  })

  it("has one share for an IPv6 /64 network", async () => {
    const held = await beginBody("2001:db8:0:1::1", 450 * KIB)
    const order: Array<string> = []
    const waiting = sendBody("2001:db8:0:1:ffff::2", 100 * KIB).then(({ status }) => order.push(`waited: ${status}`))
    order.push(`another network: ${(await sendBody("2001:db8:0:2::1", 100 * KIB)).status}`)
    held.destroy()
    await waiting
    assert.deepStrictEqual(order, ["another network: 400", "waited: 400"])
  })

  it("refuses a body that is longer than the share from its headers", async () => {
    const head = [`POST ${SEND} HTTP/1.1`, "Host: agentos.test", `Authorization: Bearer ${token}`]
    const fields = ["Content-Type: application/json", `Content-Length: ${600 * KIB}`]
    assert.match(await rawCall(server, `${[...head, ...fields].join("\r\n")}\r\n\r\n`), /^HTTP\/1\.1 429 /)
  })

  it("is bounded for all clients together, while small requests are still answered", async () => {
    const held: Array<Socket> = []
    for (const last of [1, 2, 3, 4]) held.push(await beginBody(`198.51.100.${last}`, 250 * KIB))
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

/** Returns a request whose body, an unfinished JSON string, delivers a chunk on each call of `bring`. */
const slowRequest = (declaredBytes = TRANSIT_LIMIT_BYTES / 2) => {
  let first = '"'
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  const body = new ReadableStream<Uint8Array>({ start: (opened) => void (controller = opened) })
  const request = HttpServerRequest.fromWeb(
    new Request(`http://agentos.test${SEND}`, {
      method: "POST",
      body,
      duplex: "half",
      headers: { "content-length": `${declaredBytes}` }
    })
  )
  return {
    request,
    end: Effect.sync(() => controller?.close()),
    bring: (bytes: number) =>
      Effect.andThen(
        Effect.sync(() => {
          controller?.enqueue(Buffer.from(first.padEnd(bytes, "x")))
          first = ""
        }),
        // The stream delivers the chunk in its own tasks.
        Effect.promise(() => new Promise((resolve) => setImmediate(() => setImmediate(resolve))))
      )
  }
}

const match: RouteMatch = {
  route: operationRoute(OPERATIONS.sendMessage, () => Effect.never),
  template: SEND,
  allowed: ["POST"],
  params: {},
  query: {}
}

const reading = (request: HttpServerRequest.HttpServerRequest) =>
  Effect.scoped(readBody).pipe(
    Effect.provideService(HttpServerRequest.HttpServerRequest, request),
    Effect.provideService(RequestRecord, new RequestFacts("request", match, 0)),
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

  it.effect("reserves memory for the received bytes, and addresses for the declared length", () =>
    Effect.gen(function* () {
      const { bring, request } = slowRequest()
      budget.reserve(TRANSIT_LIMIT_BYTES - 256 * KIB)
      yield* Effect.addFinalizer(() => Effect.sync(() => budget.release(TRANSIT_LIMIT_BYTES - 256 * KIB)))
      const otherBytes = budget.usedBytes
      const fiber = yield* reading(request)
      yield* bring(16 * KIB)
      assert.strictEqual(budget.usedBytes, otherBytes)
      for (let chunk = 0; chunk < 10_000; chunk++) yield* bring(1)
      assert.strictEqual(budget.usedBytes, otherBytes + 64 * KIB)
      yield* bring(300 * KIB)
      const error = yield* Fiber.join(fiber)
      assert.instanceOf(error, BodyMemoryExhausted)
      assert.strictEqual(budget.usedBytes, otherBytes)
    }).pipe(Effect.provide(memory))
  )

  it.effect("frees a long body with its request, or earlier", () =>
    Effect.gen(function* () {
      const read = (freeEarly: boolean) =>
        Effect.gen(function* () {
          const { bring, end, request } = slowRequest(100 * KIB)
          const fiber = yield* Effect.scoped(
            Effect.gen(function* () {
              const body = yield* readBody
              const { buffer } = body.bytes
              assert.strictEqual(buffer.byteLength, 100 * KIB)
              if (freeEarly) body.free()
              return { buffer, bytesBefore: buffer.byteLength }
            })
          ).pipe(
            Effect.provideService(HttpServerRequest.HttpServerRequest, request),
            Effect.provideService(RequestRecord, new RequestFacts("request", match, 0)),
            Effect.forkChild
          )
          yield* bring(100 * KIB)
          yield* end
          return yield* Fiber.join(fiber)
        })
      const early = yield* read(true)
      assert.deepStrictEqual([early.bytesBefore, early.buffer.byteLength], [0, 0])
      const late = yield* read(false)
      assert.deepStrictEqual([late.bytesBefore, late.buffer.byteLength], [100 * KIB, 0])
    }).pipe(Effect.provide(memory))
  )
})

describe("BodyMemory", () => {
  const client = Option.some("192.0.2.1")

  it.effect("releases the memory of a request with its scope", () =>
    Effect.gen(function* () {
      const { lease } = yield* BodyMemory
      yield* Effect.scoped(
        Effect.gen(function* () {
          const first = yield* lease(client, 400 * KIB)
          yield* first.reserve(100)
          const second = yield* lease(client, 100 * KIB)
          yield* second.reserve(50)
          assert.strictEqual(budget.usedBytes, 150)
        })
      )
      assert.strictEqual(budget.usedBytes, 0)
      yield* Effect.scoped(lease(client, 512 * KIB))
    }).pipe(Effect.provide(memory))
  )

  it.effect("lets a body wait ten seconds for the share of its client", () =>
    Effect.gen(function* () {
      const { lease } = yield* BodyMemory
      yield* lease(client, 400 * KIB)
      const late = yield* Effect.forkChild(Effect.flip(Effect.scoped(lease(client, 200 * KIB))))
      yield* TestClock.adjust("9 seconds")
      assert.isUndefined(late.pollUnsafe())
      yield* TestClock.adjust("1 second")
      const error = yield* Fiber.join(late)
      assert.deepStrictEqual({ ...error }, { ...new BodyMemoryExhausted({ exhausted: "share", retryAfterSeconds: 5 }) })
      yield* Effect.scoped(lease(client, 100 * KIB))
    }).pipe(Effect.provide(memory))
  )
})
