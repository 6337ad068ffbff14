import { EventSignal, EventStore, Uuid } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, type Scope } from "effect"
import { TestClock } from "effect/testing"
import * as RealtimeGateway from "../../src/realtime/RealtimeGateway.ts"
import { idle } from "../support/Turns.ts"
import { append, host, newTenant, numbered, open, port, type Ports } from "./GatewayHost.ts"
import { connect } from "./RealtimeClient.ts"

type Store = typeof EventStore.Service
type Method = Exclude<keyof Store, symbol>

const LATENCY_MILLIS = 10
const latency = Effect.promise(() => new Promise((resolve) => setTimeout(resolve, LATENCY_MILLIS)))

/** Wraps the host's store: adds latency, counts calls, and fails calls on request. */
class Watched {
  readonly calls = new Map<Method, number>()
  readonly dying = new Map<Method, number>()
  #running = 0

  /** Waits for sockets, which know no test clock, and for the calls that they cause. */
  readonly quiet = Effect.promise(async () => {
    do await idle()
    while (this.#running > 0)
  })

  count(...methods: ReadonlyArray<Method>): number {
    return methods.reduce((sum, method) => sum + (this.calls.get(method) ?? 0), 0)
  }

  around(store: Store): Store {
    return new Proxy(store, {
      get: (target, name: Method) => {
        const method = target[name] as (...args: ReadonlyArray<unknown>) => Effect.Effect<unknown>
        return (...args: ReadonlyArray<unknown>) =>
          Effect.suspend(() => {
            this.calls.set(name, (this.calls.get(name) ?? 0) + 1)
            const left = this.dying.get(name) ?? 0
            if (left === 0) {
              this.#running++
              return Effect.ensuring(
                Effect.andThen(latency, method(...args)),
                Effect.sync(() => this.#running--)
              )
            }
            this.dying.set(name, left - 1)
            return Effect.die(new Error("the database is away"))
          })
      }
    })
  }
}

interface Options {
  /** Whether no signal about stored events arrives. */
  readonly isDeaf?: boolean
}

/** Runs a test against its own gateway, whose store is wrapped. */
const scenario = (
  name: string,
  options: Options,
  test: (store: Watched) => Effect.Effect<void, unknown, Ports | Scope.Scope>
) =>
  it.effect(name, () =>
    Effect.gen(function* () {
      const watched = new Watched()
      const ports = yield* Effect.context<Ports>()
      const around = Context.add(ports, EventStore, watched.around(Context.get(ports, EventStore)))
      const deaf = Context.add(around, EventSignal, { listen: () => Effect.void })
      yield* Effect.provide(Layer.build(RealtimeGateway.layer), options.isDeaf === true ? deaf : around)
      yield* test(watched)
    }).pipe(Effect.scoped, Effect.provide(host))
  )

/** Store calls that each session could make on its own. */
const ASKING: ReadonlyArray<Method> = [
  "countReplayableEach",
  "leaseEach",
  "renew",
  "list",
  "latest",
  "latestEach",
  "countReplayable"
]

describe("RealtimeGateway with many sockets", () => {
  scenario("batches the store requests of all sockets, and makes few of them", {}, (store) =>
    Effect.gen(function* () {
      const tenants = yield* Effect.replicateEffect(newTenant, 60)
      const address = yield* port
      const clients = yield* Effect.forEach(tenants, () => connect(address), { concurrency: 10 })
      clients.forEach((client, index) => {
        const { tenantId, tokenVersion } = tenants[index]!
        client.send({ type: "session.authenticate", token: `${tenantId} ${tokenVersion}` })
      })
      for (const client of clients) {
        yield* client.expect("session.ready")
        yield* client.expect("session.replay.complete")
      }
      assert.isBelow(store.count(...ASKING), tenants.length / 2, "opening")
      const before = store.count(...ASKING)
      for (let second = 0; second < 60; second++) {
        yield* TestClock.adjust("1 second")
        // Pongs travel over the real network and must arrive before the next ping.
        yield* store.quiet
      }
      assert.isAtMost(store.count(...ASKING) - before, 6, "a minute of nothing is six looks, for all tenants")
      assert.isTrue(clients.every(({ socket }) => socket.readyState === socket.OPEN))
      yield* append(tenants[59]!, ["last"])
      yield* clients[59]!.expect("event.delivery")
    })
  )
})

describe("RealtimeGateway with invalid tokens", () => {
  scenario("refuses them without querying the store", {}, (store) =>
    Effect.gen(function* () {
      const clients = yield* Effect.replicateEffect(connect(yield* port), 3)
      for (const client of clients) client.send({ type: "session.authenticate", token: "guess" })
      for (const client of clients) assert.strictEqual((yield* client.expect("error")).code, "INVALID_TOKEN")
      assert.strictEqual(store.count(...ASKING), 0)
    })
  )
})

describe("RealtimeGateway with many observers", () => {
  scenario("batches the store requests of all observers, and sends each its new events", { isDeaf: true }, (store) =>
    Effect.gen(function* () {
      const tenants = yield* Effect.replicateEffect(newTenant, 30)
      for (const tenant of tenants.slice(0, 20)) yield* append(tenant, ["old"])
      const observers = yield* Effect.forEach(tenants, (tenant) => open(tenant, "observe"), { concurrency: 10 })
      for (const observer of observers.slice(0, 20)) yield* observer.expect("event.observed")
      for (const observer of observers) yield* observer.expect("session.replay.complete")
      yield* store.quiet
      const before = store.count(...ASKING)
      for (let look = 0; look < 3; look++) {
        yield* TestClock.adjust("10 seconds")
        yield* store.quiet
      }
      assert.strictEqual(store.count(...ASKING) - before, 3)
      const [event] = yield* append(tenants[29]!, ["new"])
      yield* (yield* EventStore).acknowledge(tenants[29]!.tenantId, [{ eventId: event!.eventId }])
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual((yield* observers[29]!.expect("event.observed")).event.eventId, event!.eventId)
      assert.strictEqual(store.count(...ASKING) - before, 5)
    })
  )
})

describe("RealtimeGateway during a short database outage", () => {
  scenario("acknowledges after a short delay", {}, (store) =>
    Effect.gen(function* () {
      const tenant = yield* newTenant
      const [event] = yield* append(tenant, ["kept"])
      const client = yield* open(tenant)
      yield* client.expect("event.delivery")
      yield* client.expect("session.replay.complete")
      store.dying.set("acknowledgeEach", 2)
      client.send({ type: "event.ack", eventId: event!.eventId })
      const answer = yield* Effect.forkChild(client.expect("event.acknowledged"))
      while (store.count("acknowledgeEach") < 3) {
        yield* store.quiet
        yield* TestClock.adjust("500 millis")
      }
      yield* Fiber.join(answer)
      const found = yield* (yield* EventStore).find(tenant.tenantId, event!.eventId)
      assert.strictEqual(found._tag === "Owned" && found.value.status, "acknowledged")
      assert.strictEqual(client.socket.readyState, client.socket.OPEN)
    })
  )

  scenario("closes sessions whose lease request failed, and delivers their events to other sessions", {}, (store) =>
    Effect.gen(function* () {
      const tenant = yield* newTenant
      const [first, second] = [yield* open(tenant), yield* open(tenant)]
      yield* first.expect("session.replay.complete")
      yield* second.expect("session.replay.complete")
      store.dying.set("leaseEach", 1)
      const [event] = yield* append(tenant, ["once"])
      const bystander = yield* Effect.raceFirst(
        Effect.as(Effect.andThen(first.closed, Effect.void), second),
        Effect.as(Effect.andThen(second.closed, Effect.void), first)
      )
      const again = yield* open(tenant)
      const delivered = yield* Effect.raceFirst(nextDelivery(bystander), nextDelivery(again))
      assert.strictEqual(delivered, event!.eventId)
    })
  )

  scenario("finds events without a signal", { isDeaf: true }, () =>
    Effect.gen(function* () {
      const tenant = yield* newTenant
      const worker = yield* open(tenant)
      const observer = yield* open(tenant, "observe")
      yield* worker.expect("session.replay.complete")
      yield* observer.expect("session.replay.complete")
      const [event] = yield* append(tenant, ["untold"])
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual((yield* worker.expect("event.delivery")).event.eventId, event!.eventId)
      assert.strictEqual((yield* observer.expect("event.observed")).event.eventId, event!.eventId)
    })
  )

  scenario("delivers events whose lease expired elsewhere, without a signal", { isDeaf: true }, (store) =>
    Effect.gen(function* () {
      const tenant = yield* newTenant
      yield* append(tenant, numbered(2))
      yield* (yield* EventStore).lease(tenant.tenantId, yield* Uuid.next, 2)
      const client = yield* open(tenant)
      assert.strictEqual((yield* client.expect("session.replay.complete")).delivered, 0)
      yield* TestClock.adjust("20 seconds")
      yield* store.quiet
      yield* TestClock.adjust("20 seconds")
      yield* client.expect("event.delivery")
      yield* client.expect("event.delivery")
    })
  )
})

const nextDelivery = (client: { readonly next: Effect.Effect<{ readonly type: string }> }) =>
  Effect.gen(function* () {
    for (;;) {
      const message = (yield* client.next) as { readonly type: string; readonly event?: { readonly eventId: string } }
      if (message.type === "event.delivery") return message.event?.eventId
    }
  })
