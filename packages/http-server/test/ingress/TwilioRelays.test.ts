import { Ingress, type ProviderIngress } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as IngressSockets from "../../src/ingress/IngressSockets.ts"
import { idle } from "../support/Turns.ts"
import { CARRIER_TOKEN, PUBLIC_URL, signatureOf } from "./CarrierClient.ts"
import {
  askToResume,
  connect,
  type Conversations,
  host,
  hostWith,
  makeConversations,
  newCall,
  twilioOver,
  until
} from "./RelayHost.ts"

type Ports = Layer.Success<typeof host>

/** Runs a test of relays over scripted conversations. `stop` ends the relays as the server's shutdown would. */
const scenario = (
  name: string,
  test: (
    conversations: Conversations,
    stop: Effect.Effect<void>,
    provider: ProviderIngress
  ) => Effect.Effect<void, unknown, Ports | Scope.Scope>,
  on = host
) =>
  it.effect(name, () =>
    Effect.gen(function* () {
      const conversations = makeConversations()
      const scope = yield* Scope.make()
      const provider = yield* twilioOver(conversations)
      yield* Layer.buildWithScope(Layer.provide(IngressSockets.layer, Layer.succeed(Ingress, [provider])), scope)
      // If a test leaves relays open, the carrier sends no requests, so their shutdown takes until the timeout.
      yield* Effect.addFinalizer(() =>
        Effect.gen(function* () {
          for (const { end } of conversations.led) yield* Deferred.succeed(end, undefined)
          const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
          while (closing.pollUnsafe() === undefined) {
            yield* pause
            yield* TestClock.adjust("1 second")
          }
        })
      )
      yield* test(conversations, Scope.close(scope, Exit.void), provider)
    }).pipe(Effect.scoped, Effect.provide(on))
  )

/** A short real-time pause, which sockets depend on. */
const pause = Effect.promise(idle)

const statusOf = Effect.fnUntraced(function* (path: string, signature?: string) {
  const client = yield* connect(path, signature)
  return yield* Effect.promise(() => client.status)
})

/** Opens a relay whose conversation has started. */
const opened = Effect.fnUntraced(function* (conversations: Conversations) {
  const { call, path } = yield* newCall(conversations)
  const client = yield* connect(path)
  assert.strictEqual(yield* Effect.promise(() => client.status), 101)
  client.setUp(call.providerCallId ?? "")
  yield* until(() => conversations.led.some((one) => one.call === call))
  const led = conversations.led.find((one) => one.call === call)!
  return { call, client, led }
})

const prompt = (voicePrompt: string, last = true) => ({ type: "prompt", voicePrompt, lang: "en-US", last })

describe("a relay's handshake", () => {
  scenario("requires the carrier's signature of the public URL before its token is checked", (conversations) =>
    Effect.gen(function* () {
      const { path } = yield* newCall(conversations)
      const socketUrl = PUBLIC_URL.replace("http", "ws")
      for (const wrong of [
        "",
        signatureOf(`${PUBLIC_URL}${path}`),
        signatureOf(`${socketUrl}${path}x`),
        signatureOf(`ws://127.0.0.1${path}`),
        signatureOf(`${socketUrl}${path}`, {}, `${CARRIER_TOKEN}0`)
      ]) {
        assert.strictEqual(yield* statusOf(path, wrong), 403)
      }
      assert.lengthOf(conversations.asked, 0)
      assert.strictEqual(yield* statusOf(path), 101)
    })
  )

  scenario("accepts a token once, and no unknown token", (conversations) =>
    Effect.gen(function* () {
      const { path } = yield* newCall(conversations)
      assert.strictEqual(yield* statusOf(path), 101)
      assert.strictEqual(yield* statusOf(path), 404)
      assert.strictEqual(yield* statusOf("/webhooks/twilio/relay/none"), 404)
      assert.strictEqual(yield* statusOf("/webhooks/twilio/relay/"), 404)
      assert.strictEqual(yield* statusOf("/webhooks/twilio/relay/a/b"), 404)
      assert.strictEqual(yield* statusOf("/elsewhere"), 404)
    })
  )

  scenario("must be followed in time by a setup message of the same call", (conversations) =>
    Effect.gen(function* () {
      const { path } = yield* newCall(conversations)
      const wrong = yield* connect(path)
      yield* Effect.promise(() => wrong.status)
      wrong.setUp("CA00000000000000000000000000000000")
      assert.strictEqual(yield* Effect.promise(() => wrong.closed), 1008)

      const silent = yield* connect((yield* newCall(conversations)).path)
      assert.strictEqual(yield* Effect.promise(() => silent.status), 101)
      silent.send(prompt("Hello?"))
      yield* TestClock.adjust("9 seconds")
      assert.strictEqual(silent.socket.readyState, silent.socket.OPEN)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* Effect.promise(() => silent.closed), 1008)
      assert.lengthOf(conversations.led, 0)

      // The carrier may connect before the response to placing the call arrives.
      const early = yield* newCall(conversations, null)
      const client = yield* connect(early.path)
      yield* Effect.promise(() => client.status)
      client.setUp("CA00000000000000000000000000000000")
      yield* until(() => conversations.led.length === 1)
    })
  )
})

describe("a relay", () => {
  scenario("passes on events and sends commands in order", (conversations) =>
    Effect.gen(function* () {
      const { client, led } = yield* opened(conversations)
      client.send(
        prompt("I want", false),
        prompt("I want to book"),
        { type: "interrupt", utteranceUntilInterrupt: "Of cou", durationUntilInterruptMs: 300 },
        { type: "dtmf", digit: "#" },
        { type: "error", description: "Invalid message" },
        { type: "info", name: "tokensPlayed" },
        prompt("Bye")
      )
      client.socket.send("{")
      client.socket.send(Buffer.from(JSON.stringify(prompt("in bytes"))))
      client.send(prompt("The end"))
      yield* until(() => led.heard.length === 6)
      assert.deepStrictEqual(led.heard, [
        { _tag: "Said", text: "I want to book" },
        { _tag: "Interrupted", spoken: "Of cou" },
        { _tag: "Pressed", key: "#" },
        { _tag: "Failed", why: "Invalid message" },
        { _tag: "Said", text: "Bye" },
        { _tag: "Said", text: "The end" }
      ])
      yield* led.say({ _tag: "Say", text: "Of ", isLast: false })
      yield* led.say({ _tag: "Say", text: 'course, "ma’am"', isLast: true })
      yield* led.say({ _tag: "End" })
      yield* until(() => client.received.length === 3)
      assert.deepStrictEqual(client.received, [
        { type: "text", token: "Of ", last: false },
        { type: "text", token: 'course, "ma’am"', last: true },
        { type: "end" }
      ])
    })
  )

  scenario("is closed when its conversation has ended and the carrier has not closed it", (conversations) =>
    Effect.gen(function* () {
      const { client, led } = yield* opened(conversations)
      yield* Deferred.succeed(led.end, undefined)
      yield* Deferred.await(led.ended)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(client.socket.readyState, client.socket.OPEN)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* Effect.promise(() => client.closed), 1000)
    })
  )

  scenario("ends its conversation when the socket closes or is terminated", (conversations) =>
    Effect.gen(function* () {
      const one = yield* opened(conversations)
      one.client.socket.close(1000)
      assert.strictEqual(yield* Deferred.await(one.led.ended), "done")
      const other = yield* opened(conversations)
      other.client.socket.terminate()
      assert.strictEqual(yield* Deferred.await(other.led.ended), "done")
      yield* other.led.say({ _tag: "Say", text: "Anybody?", isLast: true })
      // A conversation that reads nothing has two seconds.
      conversations.script.isDeaf = true
      const deaf = yield* opened(conversations)
      deaf.client.socket.close(1000)
      yield* Effect.promise(() => deaf.client.closed)
      yield* until(() => deaf.client.socket.readyState === deaf.client.socket.CLOSED)
      yield* pause
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(yield* Deferred.await(deaf.led.ended), "interrupted")
    })
  )

  scenario("is closed when it sends more than the conversation reads, or too large a message", (conversations) =>
    Effect.gen(function* () {
      conversations.script.isDeaf = true
      const { client } = yield* opened(conversations)
      client.send(...Array.from({ length: 255 }, (_, index) => prompt(`${index}`)))
      const other = yield* opened(conversations)
      other.client.send(...Array.from({ length: 300 }, (_, index) => prompt(`${index}`)))
      assert.strictEqual(yield* Effect.promise(() => other.client.closed), 1008)
      assert.strictEqual(client.socket.readyState, client.socket.OPEN)
      client.send(prompt("a".repeat(64 * 1024)))
      assert.strictEqual(yield* Effect.promise(() => client.closed), 1009)
    })
  )

  scenario("is closed when its peer does not read or does not answer pings", (conversations) =>
    Effect.gen(function* () {
      const slow = yield* opened(conversations)
      slow.client.socket.pause()
      const text = "a".repeat(60_000)
      for (let count = 0; count < 200 && slow.client.socket.readyState === slow.client.socket.OPEN; count++) {
        yield* slow.led.say({ _tag: "Say", text, isLast: false })
      }
      slow.client.socket.resume()
      assert.strictEqual(yield* Effect.promise(() => slow.client.closed), 1008)
      assert.isBelow(slow.client.received.length, 200)

      const dead = yield* opened(conversations)
      const alive = yield* opened(conversations)
      const pings: Array<number> = []
      alive.client.socket.on("ping", () => pings.push(0))
      dead.client.socket.pause()
      yield* TestClock.adjust("20 seconds")
      yield* until(() => pings.length === 1)
      yield* pause
      yield* TestClock.adjust("20 seconds")
      yield* until(() => pings.length === 2)
      dead.client.socket.resume()
      assert.strictEqual(yield* Effect.promise(() => dead.client.closed), 1006)
      assert.strictEqual(alive.client.socket.readyState, alive.client.socket.OPEN)
    })
  )

  scenario("is closed as failed when its conversation fails", (conversations) =>
    Effect.gen(function* () {
      conversations.script.dies = true
      const { call, path } = yield* newCall(conversations)
      const client = yield* connect(path)
      yield* Effect.promise(() => client.status)
      client.setUp(call.providerCallId ?? "")
      assert.strictEqual(yield* Effect.promise(() => client.closed), 1011)
    })
  )

  scenario(
    "is closed as broken when the server stops, which waits until the carrier has asked how each call continues",
    (conversations, stop, provider) =>
      Effect.gen(function* () {
        const { call, client, led } = yield* opened(conversations)
        const other = yield* newCall(conversations)
        const silent = yield* connect(other.path)
        yield* Effect.promise(() => silent.status)
        assert.notInclude(yield* askToResume(provider, call), "<Pause")
        const stopped = yield* Effect.forkChild(stop)
        assert.strictEqual(yield* Effect.promise(() => client.closed), 1012)
        assert.strictEqual(yield* Effect.promise(() => silent.closed), 1012)
        assert.strictEqual(yield* Deferred.await(led.ended), "done")
        const late = yield* newCall(conversations)
        assert.strictEqual(yield* statusOf(late.path), 503)
        assert.include(yield* askToResume(provider, call), `<Pause length="6"/>`)
        assert.isUndefined(stopped.pollUnsafe())
        yield* askToResume(provider, other.call)
        yield* Fiber.join(stopped)
      })
  )

  scenario("delays the shutdown of the server by at most two and a half seconds", (conversations, stop) =>
    Effect.gen(function* () {
      const { client } = yield* opened(conversations)
      const stopped = yield* Effect.forkChild(stop)
      assert.strictEqual(yield* Effect.promise(() => client.closed), 1012)
      yield* TestClock.adjust("2400 millis")
      assert.isUndefined(stopped.pollUnsafe())
      yield* TestClock.adjust("100 millis")
      yield* Fiber.join(stopped)
    })
  )
})

describe("the limits of relays", () => {
  const rateLimit = { burst: 20, perSecond: 0.001 }

  scenario(
    "refuse unsigned handshakes with 429 beyond the rate limit, and never refuse one that the carrier signed",
    (conversations) =>
      Effect.gen(function* () {
        const { path } = yield* newCall(conversations)
        const statuses: Array<number> = []
        for (let times = 0; times < 3; times++) statuses.push(yield* statusOf(path, "forged"))
        assert.deepStrictEqual(statuses, [403, 403, 429])
        assert.strictEqual(yield* statusOf(path), 101)
      }),
    hostWith(rateLimit)
  )

  scenario(
    "close a relay whose peer floods it, with messages or fragments, with 1008, and no other",
    (conversations) =>
      Effect.gen(function* () {
        const { client } = yield* opened(conversations)
        const other = yield* opened(conversations)
        client.send(...Array.from({ length: 300 }, () => prompt("guess", false)))
        assert.strictEqual(yield* Effect.promise(() => client.closed), 1008)
        const fragmenting = yield* opened(conversations)
        for (let index = 0; index < 17; index++) fragmenting.client.socket.send(" ", { fin: false })
        assert.strictEqual(yield* Effect.promise(() => fragmenting.client.closed), 1008)
        other.client.send(prompt("hello"))
        yield* until(() => other.led.heard.length === 1)
        assert.strictEqual(other.client.socket.readyState, other.client.socket.OPEN)
      }),
    hostWith(rateLimit)
  )
})
