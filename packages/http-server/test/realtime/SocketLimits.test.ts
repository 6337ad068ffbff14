import { REALTIME_PATH } from "@agentos/api"
import { Uuid } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, type Scope } from "effect"
import { TestClock } from "effect/testing"
import type { Socket } from "node:net"
import { WebSocket } from "ws"
import * as RealtimeGateway from "../../src/realtime/RealtimeGateway.ts"
import { SocketCapacity } from "../../src/realtime/RealtimeGateway.ts"
import { NodeServer } from "../../src/connection/NodeServer.ts"
import type { RateLimit } from "../../src/ServerSettings.ts"
import { idle } from "../support/Turns.ts"
import { connect } from "./RealtimeClient.ts"
import { hostWith, newTenant, open, port, type Ports } from "./GatewayHost.ts"

const KIB = 1024

const PLENTY: RateLimit = { burst: 100_000, perSecond: 100 }

/** Runs a test against its own gateway with limited clients. */
const scenario = (
  name: string,
  rateLimit: RateLimit | null,
  test: Effect.Effect<void, unknown, Ports | Scope.Scope>,
  options: { readonly trustedProxy?: string; readonly capacity?: Partial<SocketCapacity> } = {}
) =>
  it.effect(name, () =>
    Effect.gen(function* () {
      const capacity = { ...(yield* SocketCapacity), ...options.capacity }
      yield* Effect.provideService(Layer.build(RealtimeGateway.layer), SocketCapacity, capacity)
      yield* test
    }).pipe(Effect.scoped, Effect.provide(hostWith(rateLimit, options.trustedProxy)))
  )

interface Handshake {
  readonly status: number
  readonly retryAfter: string | undefined
  readonly socket: WebSocket
}

/** Requests a socket from an address. */
const handshake = (address: string) =>
  Effect.flatMap(port, (number) =>
    Effect.acquireRelease(
      Effect.callback<Handshake>((resume) => {
        const url = `ws://127.0.0.1:${number}${REALTIME_PATH}`
        const socket = new WebSocket(url, { headers: { "x-forwarded-for": address } })
        socket.on("error", () => undefined)
        socket.once("upgrade", (response) =>
          resume(Effect.succeed({ status: response.statusCode ?? 0, retryAfter: undefined, socket }))
        )
        socket.once("unexpected-response", (_, response) =>
          resume(
            Effect.succeed({ status: response.statusCode ?? 0, retryAfter: response.headers["retry-after"], socket })
          )
        )
      }),
      ({ socket }) => Effect.sync(() => socket.terminate())
    )
  )

const statusesOf = (count: number, address: (index: number) => string) =>
  Effect.map(
    Effect.forEach(
      Array.from({ length: count }, (_, index) => address(index)),
      handshake
    ),
    (handshakes) => handshakes.map(({ status }) => status)
  )

const closeCodeOf = (socket: WebSocket): Effect.Effect<number> =>
  Effect.callback<number>((resume) => {
    socket.once("close", (code) => resume(Effect.succeed(code)))
  })

/** Waits until a count has reached the minimum and stopped growing. */
const settled = (count: () => number, atLeast: number): Effect.Effect<number> =>
  Effect.promise(async () => {
    for (let last = -1; last !== count() || last < atLeast;) {
      last = count()
      await idle()
    }
    return count()
  })

/** Sends `count` acknowledgements of an unknown event, and returns a function that counts the answers. */
const flood = Effect.fnUntraced(function* (socket: WebSocket, count: number) {
  let answers = 0
  socket.on("message", () => answers++)
  const eventId = yield* Uuid.next
  for (let index = 0; index < count; index++) socket.send(JSON.stringify({ type: "event.ack", eventId }))
  return () => answers
})

describe("handshakes", () => {
  scenario(
    "are refused with 429 beyond the rate of their address, and admitted again later",
    { burst: 3, perSecond: 0.1 },
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* statusesOf(3, () => "198.51.100.1"), [101, 101, 101])
      const refused = yield* handshake("198.51.100.1")
      assert.deepStrictEqual([refused.status, refused.retryAfter], [429, "10"])
      assert.deepStrictEqual(yield* statusesOf(1, () => "198.51.100.2"), [101])
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(yield* statusesOf(1, () => "198.51.100.1"), [101])
    })
  )

  scenario(
    "are counted by the address that the last untrusted proxy reported",
    { burst: 2, perSecond: 0.1 },
    Effect.gen(function* () {
      const forged = yield* statusesOf(3, (index) => `203.0.113.${index}, 198.51.100.1`)
      assert.deepStrictEqual(forged, [101, 101, 429])
      const rotated = yield* statusesOf(3, (index) => `2001:db8:0:1::${index + 1}`)
      assert.deepStrictEqual(rotated, [101, 101, 429])
    })
  )

  scenario(
    "are counted by the peer's address if the peer is not a trusted proxy",
    { burst: 2, perSecond: 0.1 },
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* statusesOf(3, (index) => `198.51.100.${index}`), [101, 101, 429])
    }),
    { trustedProxy: "192.0.2.1/32" }
  )

  scenario(
    "are limited to 1,000 unauthenticated sockets per client, even without rate limits",
    null,
    Effect.gen(function* () {
      const statuses = yield* statusesOf(1_001, (index) => `2001:db8:0:1::${index.toString(16)}`)
      assert.strictEqual(statuses.indexOf(429), 1_000)
      assert.deepStrictEqual(yield* statusesOf(1, () => "2001:db8:0:2::1"), [101])
    })
  )

  scenario(
    "are refused with 503 while too many sockets of all clients have not authenticated",
    null,
    Effect.gen(function* () {
      const { tenantId, tokenVersion } = yield* newTenant
      const client = yield* connect(yield* port)
      assert.deepStrictEqual(yield* statusesOf(2, (index) => `198.51.100.${index + 1}`), [101, 503])
      client.send({ type: "session.authenticate", token: `${tenantId} ${tokenVersion}` })
      yield* client.expect("session.ready")
      assert.deepStrictEqual(yield* statusesOf(2, (index) => `198.51.100.${index + 3}`), [101, 503])
    }),
    { capacity: { unauthenticated: 2 } }
  )

  scenario(
    "are refused with 503 at the socket limit of the server, authenticated or not",
    null,
    Effect.gen(function* () {
      yield* open(yield* newTenant)
      assert.deepStrictEqual(yield* statusesOf(2, (index) => `198.51.100.${index + 1}`), [101, 503])
    }),
    { capacity: { sockets: 2 } }
  )

  it.effect("are limited to 20,000 sockets per server, 5,000 unauthenticated, 1,000 of those per client", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* SocketCapacity, {
        sockets: 20_000,
        unauthenticated: 5_000,
        unauthenticatedPerClient: 1_000
      })
    })
  )

  scenario(
    "have their own rate limit per client, which is lower than that of requests",
    PLENTY,
    Effect.gen(function* () {
      const statuses = yield* statusesOf(601, (index) => `2001:db8:0:1::${index.toString(16)}`)
      assert.strictEqual(statuses.indexOf(429), 600)
      assert.deepStrictEqual(yield* statusesOf(1, () => "2001:db8:0:2::1"), [101])
    })
  )

  scenario(
    "cost ten with a token that is not valid",
    { burst: 20, perSecond: 0.001 },
    Effect.gen(function* () {
      for (let times = 0; times < 2; times++) {
        const { socket, status } = yield* handshake("198.51.100.1")
        assert.strictEqual(status, 101)
        yield* Effect.promise(() => new Promise((resolve) => socket.once("open", resolve)))
        socket.send(JSON.stringify({ type: "session.authenticate", token: "guess" }))
        assert.strictEqual(yield* closeCodeOf(socket), 4401)
      }
      assert.deepStrictEqual(yield* statusesOf(1, () => "198.51.100.1"), [429])
      assert.deepStrictEqual(yield* statusesOf(1, () => "198.51.100.2"), [101])
    })
  )
})

describe("frames", () => {
  scenario(
    "that are longer than 32 KiB close the socket with 1009",
    PLENTY,
    Effect.gen(function* () {
      const { socket } = yield* open(yield* newTenant)
      socket.send(JSON.stringify({ type: "event.ack", eventId: "x".repeat(32 * 1024) }))
      assert.strictEqual(yield* closeCodeOf(socket), 1009)
    })
  )

  scenario(
    "that flood a socket before it authenticates close it with 4429",
    PLENTY,
    Effect.gen(function* () {
      const { socket } = yield* handshake("198.51.100.1")
      yield* Effect.promise(() => new Promise((resolve) => socket.once("open", resolve)))
      for (let index = 0; index < 21; index++) socket.ping()
      assert.strictEqual(yield* closeCodeOf(socket), 4429)
    })
  )

  scenario(
    "are not read from a socket that was closed before it authenticated",
    PLENTY,
    Effect.gen(function* () {
      const accepted: Array<Socket> = []
      const server = yield* NodeServer
      server.on("connection", (connection: Socket) => accepted.push(connection))
      const { socket } = yield* handshake("198.51.100.1")
      yield* Effect.promise(() => new Promise((resolve) => socket.once("open", resolve)))
      for (let index = 0; index < 4_000; index++) socket.send("x".repeat(4 * KIB))
      assert.strictEqual(yield* closeCodeOf(socket), 4400)
      // The 20 frames allowed before authentication, and those that arrived with them.
      assert.deepStrictEqual(
        accepted.map(({ bytesRead }) => bytesRead < 1_000 * KIB),
        [true]
      )
    })
  )

  scenario(
    "that are fragments count, before authentication and after it, and a message has at most 16",
    PLENTY,
    Effect.gen(function* () {
      const { socket: stranger } = yield* handshake("198.51.100.1")
      yield* Effect.promise(() => new Promise((resolve) => stranger.once("open", resolve)))
      for (let index = 0; index < 17; index++) stranger.send(" ", { fin: false })
      assert.strictEqual(yield* closeCodeOf(stranger), 4429)

      const eventId = yield* Uuid.next
      const ack = [...JSON.stringify({ type: "event.ack", eventId })]
      const client = yield* open(yield* newTenant)
      yield* client.expect("session.replay.complete")
      ack.slice(0, 15).forEach((letter) => client.socket.send(letter, { fin: false }))
      client.socket.send(ack.slice(15).join(""))
      assert.strictEqual((yield* client.expect("error")).code, "RESOURCE_NOT_FOUND")
      for (let index = 0; index < 17; index++) client.socket.send(" ", { fin: false })
      assert.strictEqual(yield* client.closed, 4429)
    })
  )

  scenario(
    "that are fragments are read at the rate of the session",
    PLENTY,
    Effect.gen(function* () {
      const { socket } = yield* open(yield* newTenant)
      let answers = 0
      socket.on("message", () => answers++)
      const ack = JSON.stringify({ type: "event.ack", eventId: yield* Uuid.next })
      for (let index = 0; index < 1_000; index++) {
        for (let part = 0; part < 9; part++) socket.send("", { fin: false })
        socket.send(ack)
      }
      // The rate is 4,000 frames per second, the clock stands still, and 20 frames were admitted before authentication.
      assert.isAtMost(yield* settled(() => answers, 380), 402)
      yield* TestClock.adjust("1 second")
      assert.isAtMost(yield* settled(() => answers, 780), 802)
    })
  )

  scenario(
    "beyond the rate of a session are read later, and each is answered",
    PLENTY,
    Effect.gen(function* () {
      const { socket } = yield* open(yield* newTenant)
      const answers = yield* flood(socket, 12_000)
      // The rate is 4,000 per second, the clock stands still, and 20 frames were admitted before authentication.
      assert.isAtMost(yield* settled(answers, 4_000), 4_020)
      yield* TestClock.adjust("1 second")
      assert.isAtMost(yield* settled(answers, 8_000), 8_020)
      yield* TestClock.adjust("1 second")
      yield* settled(answers, 12_000)
      assert.strictEqual(answers(), 12_000)
      assert.strictEqual(socket.readyState, WebSocket.OPEN)
    })
  )

  scenario(
    "of all sockets of a tenant share a rate",
    PLENTY,
    Effect.gen(function* () {
      const tenant = yield* newTenant
      const sockets = [yield* open(tenant), yield* open(tenant), yield* open(tenant), yield* open(tenant)]
      const counts = yield* Effect.forEach(sockets, ({ socket }) => flood(socket, 4_000))
      const total = () => counts.reduce((sum, answers) => sum + answers(), 0)
      assert.isAtMost(yield* settled(total, 8_000), 8_080)
    })
  )

  scenario(
    "are not limited if rate limits are disabled",
    null,
    Effect.gen(function* () {
      const { socket } = yield* open(yield* newTenant)
      const answers = yield* flood(socket, 12_000)
      assert.strictEqual(yield* settled(answers, 12_000), 12_000)
    })
  )
})
