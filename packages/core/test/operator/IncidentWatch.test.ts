import {
  type Condition,
  type ConditionSource,
  ConditionSources,
  INCIDENTS_MAX,
  IncidentStore,
  type JobRecord,
  JobRunner,
  Jobs,
  MessageStore,
  NotInformed,
  type Notification,
  OperatorChannels,
  type StoreFigures,
  Timestamp
} from "@agentos/core"
import { Fresh, StoreClock } from "@agentos/core/contract-tests"
import { Memory } from "@agentos/memory"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as IncidentWatch from "../../src/operator/IncidentWatch.ts"

const LOW: Condition = { kind: "wallet_low", subject: "refund wallet", summary: "It is empty.", action: "Fill it." }

/** The world around the servers: conditions, and the receivers of messages. */
const makeWorld = () => ({
  found: [] as ReadonlyArray<Condition>,
  isKnown: true,
  down: new Set<string>(),
  /** Name of the channel, type and subject. */
  received: [] as Array<string>,
  notifications: [] as Array<Notification>,
  attempts: 0
})
type World = ReturnType<typeof makeWorld>

/** A server that runs the jobs until the scope closes. */
const startServer = (world: World, channels = ["webhook", "mail"]) => {
  const source: ConditionSource = {
    kinds: ["wallet_low", "certificate_expiring"],
    find: Effect.suspend(() => (world.isKnown ? Effect.succeed(world.found) : Effect.fail("no answer")))
  }
  const inform = (name: string) => ({
    name,
    inform: (notification: Notification) =>
      Effect.suspend(() => {
        world.attempts++
        if (world.down.has(name)) return Effect.fail(new NotInformed({ message: "down" }))
        world.notifications.push(notification)
        world.received.push(
          `${name} ${notification.type.replace("operator.incident.", "")} ${notification.data.subject}`
        )
        return Effect.void
      })
  })
  const jobs = Layer.effect(Jobs, IncidentWatch.make).pipe(
    Layer.provide(Layer.succeed(OperatorChannels, channels.map(inform))),
    Layer.provide(Layer.succeed(ConditionSources, [source]))
  )
  return Effect.forkChild(
    Effect.provide(
      Effect.flatMap(JobRunner, ({ run }) => run),
      JobRunner.layer.pipe(Layer.provide(jobs))
    )
  )
}

const scenario = (
  name: string,
  test: (world: World) => Effect.Effect<void, unknown, Layer.Success<typeof Memory.layer>>
) =>
  it.effect(name, () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1_800_000_000_000)
      yield* test(makeWorld())
    }).pipe(Effect.provide(Memory.layer))
  )

const incidents = Effect.flatMap(IncidentStore, ({ list }) => list)

describe("the watch for incidents", () => {
  scenario(
    "informs by each channel once when a condition begins and once when it has ended, over two servers",
    (world) =>
      Effect.gen(function* () {
        const servers = [yield* startServer(world), yield* startServer(world)]
        yield* TestClock.adjust("3 minutes")
        assert.deepStrictEqual(world.received, [])
        world.found = [LOW]
        yield* TestClock.adjust("10 minutes")
        assert.sameMembers(world.received, ["webhook opened refund wallet", "mail opened refund wallet"])
        // Both servers are replaced.
        yield* Effect.forEach(servers, Fiber.interrupt)
        yield* startServer(world)
        yield* TestClock.adjust("2 hours")
        assert.lengthOf(world.received, 2)
        world.found = []
        yield* TestClock.adjust("4 minutes")
        assert.lengthOf(world.received, 2)
        yield* TestClock.adjust("3 minutes")
        assert.sameMembers(world.received.slice(2), ["webhook resolved refund wallet", "mail resolved refund wallet"])
        assert.deepStrictEqual(yield* incidents, [])
        const [opened, resolved] = world.notifications.filter((_, index) => index % 2 === 0)
        const { incidentId, openedAt } = opened!.data
        assert.deepStrictEqual(opened, {
          id: `${incidentId}_opened_${Date.parse(openedAt)}`,
          type: "operator.incident.opened",
          timestamp: openedAt,
          data: { ...LOW, incidentId, openedAt, resolvedAt: null }
        })
        assert.strictEqual(resolved?.id, `${incidentId}_resolved_${Date.parse(resolved?.data.resolvedAt ?? "")}`)
        assert.strictEqual(resolved?.timestamp, resolved?.data.resolvedAt)
      })
  )

  scenario("keeps a condition that comes and goes, or whose source does not answer, as one incident", (world) =>
    Effect.gen(function* () {
      yield* startServer(world)
      for (let round = 0; round < 5; round++) {
        world.found = [LOW]
        yield* TestClock.adjust("2 minutes")
        world.found = []
        yield* TestClock.adjust("3 minutes")
      }
      world.isKnown = false
      yield* TestClock.adjust("1 hour")
      assert.lengthOf(world.received, 2)
      world.isKnown = true
      yield* TestClock.adjust("6 minutes")
      assert.lengthOf(world.received, 4)
    })
  )

  scenario("retries a channel that fails, later each time, without telling the others again", (world) =>
    Effect.gen(function* () {
      world.down.add("webhook")
      world.found = [LOW]
      yield* startServer(world)
      yield* TestClock.adjust("4 minutes")
      assert.deepStrictEqual(world.received, ["mail opened refund wallet"])
      const early = world.attempts
      assert.isAtLeast(early, 3)
      yield* TestClock.adjust("1 hour")
      assert.isAtMost(world.attempts - early, 6)
      world.down.clear()
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(world.received, ["mail opened refund wallet", "webhook opened refund wallet"])
    })
  )

  scenario("gives up a channel after half a day, and does not report the end to it", (world) =>
    Effect.gen(function* () {
      world.down.add("webhook")
      world.found = [LOW]
      yield* startServer(world)
      yield* TestClock.adjust("12 hours")
      const given = world.attempts
      assert.isAtMost(given, 20)
      yield* TestClock.adjust("2 hours")
      assert.strictEqual(world.attempts, given)
      world.down.clear()
      world.found = []
      yield* TestClock.adjust("10 minutes")
      assert.deepStrictEqual(world.received, ["mail opened refund wallet", "mail resolved refund wallet"])
      assert.deepStrictEqual(yield* incidents, [])
    })
  )

  scenario("is told again under another id if it is back after its end was told to some", (world) =>
    Effect.gen(function* () {
      world.found = [LOW]
      yield* startServer(world)
      yield* TestClock.adjust("1 minute")
      world.down.add("webhook")
      world.found = []
      yield* TestClock.adjust("8 minutes")
      world.found = [LOW]
      yield* TestClock.adjust("2 minutes")
      world.down.clear()
      world.found = []
      yield* TestClock.adjust("3 hours")
      const ids = world.notifications.map(({ id }) => id)
      assert.deepStrictEqual(
        world.received.filter((line) => line.startsWith("mail")),
        ["opened", "resolved", "opened", "resolved"].map((event) => `mail ${event} refund wallet`)
      )
      // Two openings and two ends; the webhook knows the first opening and the last end.
      assert.strictEqual(new Set(ids).size, 4)
    })
  )

  scenario("says nothing of the end while it can't be told, if the condition is back", (world) =>
    Effect.gen(function* () {
      world.found = [LOW]
      yield* startServer(world)
      yield* TestClock.adjust("1 minute")
      world.found = []
      world.down = new Set(["webhook", "mail"])
      yield* TestClock.adjust("8 minutes")
      world.found = [LOW]
      yield* TestClock.adjust("1 minute")
      world.down.clear()
      yield* TestClock.adjust("3 hours")
      assert.lengthOf(world.received, 2)
    })
  )

  scenario("bounds the incidents", (world) =>
    Effect.gen(function* () {
      world.found = Array.from({ length: INCIDENTS_MAX + 50 }, (_, index) => ({ ...LOW, subject: `wallet ${index}` }))
      yield* startServer(world, ["webhook"])
      yield* TestClock.adjust("10 minutes")
      assert.lengthOf(world.received, INCIDENTS_MAX)
      assert.lengthOf(yield* incidents, INCIDENTS_MAX)
    })
  )

  it.effect("does not exist without channels", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* IncidentWatch.make, [])
    }).pipe(Effect.provide(Memory.layer))
  )

  scenario("finds the tenants whose sending is paused", (world) =>
    Effect.gen(function* () {
      const { putSending } = yield* MessageStore
      const tenant = yield* Effect.provideService(Fresh.tenant, StoreClock, {
        now: Timestamp.now,
        advance: TestClock.adjust
      })
      const until = Timestamp.add(yield* Timestamp.now, Timestamp.HOUR)
      const record = { day: 20_000, recipients: 7, recipientsBefore: 2, level: 3 }
      yield* putSending(tenant.tenantId, { ...record, pause: { until, reason: "bounced" } })
      yield* startServer(world, ["mail"])
      yield* TestClock.adjust("30 minutes")
      assert.deepStrictEqual(world.received, [`mail opened ${tenant.tenantId}`])
      assert.include(world.notifications[0]?.data.summary, Timestamp.toIso(until))
      yield* TestClock.adjust("40 minutes")
      assert.deepStrictEqual(world.received, [`mail opened ${tenant.tenantId}`, `mail resolved ${tenant.tenantId}`])
    })
  )
})

describe("conditions of the store", () => {
  const NOW = Timestamp.fromMillis(1_800_000_000_000)
  const job = (changes: Partial<JobRecord>): JobRecord => ({
    name: "number-expiry",
    dueAt: Timestamp.add(NOW, -301_000),
    leasedUntil: null,
    startedAt: null,
    succeededAt: null,
    failedAt: null,
    failure: null,
    runs: 1,
    failures: 0,
    done: 0,
    ...changes
  })
  const found = (figures: Partial<StoreFigures>) =>
    IncidentWatch.lateConditions(
      { jobs: [], open: [], failingMails: { count: 0, failure: null }, ...figures } as StoreFigures,
      NOW
    ).map(({ kind, subject, summary }) => [kind, subject, summary])
  const open = (seconds: number) =>
    ({
      state: "refund_due",
      network: "eip155:1",
      asset: "0xa",
      count: 2,
      amount: 5n,
      oldestAt: Timestamp.add(NOW, -seconds * 1_000)
    }) as const

  it("are late refunds by token, late jobs, and mail that can't be delivered, as the alerts have them", () => {
    assert.deepStrictEqual(found({ open: [open(600)] }), [])
    assert.deepStrictEqual(found({ open: [open(601), { ...open(900), state: "settling" }] }), [
      ["refund_due", "eip155:1 0xa", "2 refunds are due, the oldest for 10 minutes."]
    ])
    assert.deepStrictEqual(
      found({ jobs: [job({}), job({ dueAt: NOW }), job({ leasedUntil: Timestamp.add(NOW, 1) })] }),
      [["job_late", "number-expiry", "The job number-expiry is late by 5 minutes."]]
    )
    assert.deepStrictEqual(found({ failingMails: { count: 2, failure: "No room." } }), [
      ["mail_failing", "inbound mail", "2 received mails can't be delivered. The oldest: No room."]
    ])
  })
})
