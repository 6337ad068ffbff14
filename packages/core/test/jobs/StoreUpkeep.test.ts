import {
  DEFAULT_EVENT_POLICY,
  EventPolicy,
  EventStore,
  type EventDraft,
  InboundMailStore,
  JobRunner,
  JobStore,
  TenantStore,
  Timestamp,
  walletAddress
} from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, type Layer } from "effect"
import { TestClock } from "effect/testing"
import * as StoreUpkeep from "../../src/jobs/StoreUpkeep.ts"
import * as TestHost from "../support/TestHost.ts"

type Services = Layer.Success<ReturnType<typeof TestHost.make>["layer"]>

/** Runs a test on a complete core in memory, under a policy. */
const scenario = (name: string, test: Effect.Effect<void, unknown, Services>, policy = DEFAULT_EVENT_POLICY) =>
  it.effect(name, () => test.pipe(Effect.provide(TestHost.make().layer), Effect.provideService(EventPolicy, policy)))

const TENANT = "01900000-0000-7000-8000-00000000000a"

const appended = Effect.fnUntraced(function* (count: number) {
  const now = yield* Timestamp.now
  const wallet = walletAddress(`0x${"0".repeat(40)}`)
  yield* (yield* TenantStore).ensure({ tenantId: TENANT, wallet, tokenVersion: 1, createdAt: now })
  const drafts = Array.from({ length: count }, (_, index): EventDraft => ({
    tenantId: TENANT,
    type: "email.received",
    source: "smtp",
    service: "email",
    resourceId: "a message",
    agentId: "a mailbox",
    payload: {},
    dedupeKey: `${now} ${index}`
  }))
  return yield* (yield* EventStore).append(drafts)
})

const kept = Effect.flatMap(EventStore, (store) => store.list(TENANT, {}, undefined, 1_000))

/** Runs the jobs for a period, like a server that is started and stopped again. */
const serverRuns = Effect.fnUntraced(function* (time: `${number} ${"seconds" | "minutes" | "hours"}`) {
  const running = yield* Effect.forkChild((yield* JobRunner).run)
  yield* TestClock.adjust(time)
  yield* Fiber.interrupt(running)
})

const doneBy = (name: string) =>
  Effect.flatMap(JobStore, (store) =>
    Effect.map(store.list, (jobs) => {
      const job = jobs.find((each) => each.name === name)
      assert.strictEqual(job?.failures, 0, job?.failure ?? name)
      return job?.done
    })
  )

describe("event-expiry", () => {
  scenario(
    "catches up with everything that expired while no server ran, in several statements",
    Effect.gen(function* () {
      yield* serverRuns("10 seconds")
      yield* appended(2_500)
      yield* TestClock.adjust("31 days")
      const [young] = yield* appended(1)
      assert.strictEqual(yield* doneBy("event-expiry"), 0)
      yield* serverRuns("10 seconds")
      assert.strictEqual(yield* doneBy("event-expiry"), 2_500)
      assert.strictEqual(yield* (yield* EventStore).expire(10), 0)
      const events = yield* (yield* EventStore).list(TENANT, { statuses: ["pending"] }, undefined, 10)
      assert.deepStrictEqual(events, [young!])
    })
  )

  scenario(
    "limits a run to 100 batches of a thousand, however much is due",
    Effect.gen(function* () {
      const store = yield* EventStore
      const asked: Array<number> = []
      const endless = EventStore.of({
        ...store,
        expire: (limit) => Effect.sync(() => asked.push(limit)).pipe(Effect.as(limit))
      })
      const jobs = yield* Effect.provideService(StoreUpkeep.make, EventStore, endless)
      assert.strictEqual(yield* jobs.find(({ name }) => name === "event-expiry")!.run, 100_000)
      assert.deepStrictEqual(
        asked,
        Array.from({ length: 100 }, () => 1_000)
      )
    })
  )

  scenario(
    "expires events within about a minute while servers run",
    Effect.gen(function* () {
      yield* appended(3)
      yield* TestClock.adjust("30 days")
      yield* TestClock.adjust("-1 minutes")
      yield* serverRuns("3 minutes")
      assert.strictEqual(yield* doneBy("event-expiry"), 3)
    })
  )
})

describe("event-retention", () => {
  scenario(
    "deletes final events after the configured time, at once if no server ran then",
    Effect.gen(function* () {
      const [first, second] = yield* appended(3)
      yield* (yield* EventStore).acknowledge(TENANT, [{ eventId: first!.eventId }, { eventId: second!.eventId }])
      yield* TestClock.adjust("200 days")
      yield* appended(1)
      yield* serverRuns("1 minutes")
      yield* TestClock.adjust("164 days")
      yield* serverRuns("1 minutes")
      assert.deepStrictEqual(
        (yield* kept).map(({ status }) => status),
        ["acknowledged", "acknowledged", "expired", "expired"]
      )
      yield* TestClock.adjust("1 day")
      yield* serverRuns("10 seconds")
      assert.strictEqual((yield* kept).length, 1)
      assert.strictEqual(yield* doneBy("event-retention"), 3)
    }),
    { ...DEFAULT_EVENT_POLICY, auditRetention: 365 * Timestamp.DAY }
  )

  scenario(
    "deletes nothing by default, however old an event is",
    Effect.gen(function* () {
      yield* appended(2)
      yield* TestClock.adjust("3650 days")
      yield* serverRuns("10 seconds")
      assert.deepStrictEqual(
        (yield* kept).map(({ status }) => status),
        ["expired", "expired"]
      )
    })
  )

  it.effect("refuses a policy that deletes events before they expire", () =>
    Effect.gen(function* () {
      const policy = { ...DEFAULT_EVENT_POLICY, auditRetention: DEFAULT_EVENT_POLICY.retention - 1 }
      const building = Effect.provide(JobRunner, TestHost.make().layer)
      const exit = yield* Effect.exit(Effect.provideService(building, EventPolicy, policy))
      assert.include(String(exit), "can't be deleted before they have expired")
    })
  )
})

describe("inbound-mail-retention", () => {
  const add = (inboundMailId: string) =>
    Effect.gen(function* () {
      const envelope = { mailFrom: "", rcptTo: [], remoteAddress: "", helo: "", secure: true }
      const receivedAt = yield* Timestamp.now
      const mail = { inboundMailId, envelope, raw: new Uint8Array(9), receivedAt, attempts: 0 }
      yield* (yield* InboundMailStore).add([{ mail, mailboxIds: [] }])
    })
  /** Leases all waiting mail repeatedly, once a minute, and never finishes a delivery. */
  const attempt = (times: number) =>
    Effect.gen(function* () {
      for (let count = 0; count < times; count++) {
        yield* (yield* InboundMailStore).lease(10, Timestamp.MINUTE)
        yield* TestClock.adjust("1 minute")
      }
    })
  const waiting = Effect.map(
    Effect.flatMap(InboundMailStore, (store) => store.lease(10, 1)),
    (mails) => mails.map(({ inboundMailId }) => inboundMailId)
  )

  scenario(
    "abandons mail after a week of attempts, but never mail that waited while no server ran",
    Effect.gen(function* () {
      yield* add("tried")
      yield* attempt(101)
      yield* add("lay")
      yield* TestClock.adjust("6 days")
      yield* serverRuns("2 hours")
      assert.strictEqual(yield* doneBy("inbound-mail-retention"), 0)
      yield* TestClock.adjust("1 day")
      yield* serverRuns("10 seconds")
      assert.strictEqual(yield* doneBy("inbound-mail-retention"), 1)
      yield* TestClock.adjust("100 days")
      yield* serverRuns("2 hours")
      assert.deepStrictEqual(yield* waiting, ["lay"])
    })
  )
})
