import { type Delivery, type EventSignal, EventStore } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { type ContractTests, propertyOptions } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { StoreClock } from "../StoreClock.ts"
import { EventModel, viewOf } from "./EventModel.ts"
import * as Sample from "./EventSample.ts"
import { TEST_EVENT_POLICY } from "./TestEventPolicy.ts"

const upTo = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))
const Sessions = Schema.Array(upTo(1)).check(Schema.isMaxLength(2))

/** A limit above the number of events of all tenants, including those that other tests have left. */
const ALL = 100_000

/** The delivery that an acknowledgement names: none, the event's last one, an earlier one, or any event's. */
const Named = Schema.Union([Schema.Literals(["none", "last", "earlier"]), upTo(20)])

const Lease = Schema.TaggedStruct("Lease", { session: upTo(1), limit: upTo(4) })
const LeaseAndLapse = Schema.TaggedStruct("LeaseAndLapse", { session: upTo(1) })

/**
 * Commands on an inbox. Events, keys, sessions and deliveries are small numbers, and commands that make events
 * fail are listed more than once, so that interesting cases are frequent.
 */
const Command = Schema.Union([
  Schema.TaggedStruct("Append", { keys: Schema.Array(upTo(12)).check(Schema.isMaxLength(3)) }),
  Lease,
  Lease,
  LeaseAndLapse,
  LeaseAndLapse,
  Schema.TaggedStruct("Renew", { sessions: Sessions }),
  Schema.TaggedStruct("Release", { sessions: Sessions, reason: Schema.Literals(["unacknowledged", "withdrawn"]) }),
  Schema.TaggedStruct("Acknowledge", {
    items: Schema.Array(Schema.Struct({ event: upTo(5), delivery: Named })).check(Schema.isMaxLength(3))
  }),
  Schema.TaggedStruct("AcknowledgeAll", { before: upTo(5) }),
  Schema.TaggedStruct("Expire", {}),
  Schema.TaggedStruct("Remove", {}),
  Schema.TaggedStruct("Advance", {
    millis: Schema.Literals([
      10_000,
      TEST_EVENT_POLICY.leaseDuration - 10_000,
      TEST_EVENT_POLICY.minFailAge,
      TEST_EVENT_POLICY.retention / 2
    ])
  })
])
type Command = typeof Command.Type

/** A new inbox with its model, and a function that runs one command on both and compares the results. */
const start = Effect.gen(function* () {
  const store = yield* EventStore
  const clock = yield* StoreClock
  const { tenantId } = yield* Fresh.tenant
  const sessions = yield* Effect.all([Fresh.id, Fresh.id])
  const model = new EventModel()
  const events: Array<string> = []
  const deliveries: Array<Delivery> = []
  const pick = <A>(items: ReadonlyArray<A>, index: number): A | undefined => items[index % Math.max(items.length, 1)]

  const lease = Effect.fnUntraced(function* (session: string, limit: number) {
    const taken = yield* store.lease(tenantId, session, limit)
    assert.deepStrictEqual(
      taken.map((delivery) => delivery.event.eventId),
      model.leasable(limit)
    )
    deliveries.push(...taken)
    assert.strictEqual(new Set(deliveries.map((delivery) => delivery.deliveryId)).size, deliveries.length)
    model.leased(session, taken)
  })

  const advance = Effect.fnUntraced(function* (millis: number) {
    yield* clock.advance(millis)
    model.advance(millis)
  })

  const run = Effect.fnUntraced(function* (command: Command) {
    switch (command._tag) {
      case "Append": {
        const keys = command.keys.map(String)
        const drafts = yield* Effect.forEach(keys, (dedupeKey) =>
          Sample.draft(tenantId, { dedupeKey, resourceId: dedupeKey })
        )
        const stored = yield* store.append(drafts)
        assert.deepStrictEqual(
          stored.map((event) => event.resourceId),
          model.admit(keys)
        )
        events.push(...Sample.ids(stored))
        return model.append(stored)
      }
      case "Lease":
        return yield* lease(sessions[command.session]!, command.limit)
      case "LeaseAndLapse":
        yield* lease(sessions[command.session]!, 100)
        return yield* advance(TEST_EVENT_POLICY.leaseDuration)
      case "Renew": {
        const named = command.sessions.map((index) => sessions[index]!)
        return assert.sameDeepMembers([...(yield* store.renew(named))], model.renew(named))
      }
      case "Release": {
        const named = command.sessions.map((index) => sessions[index]!)
        yield* store.release(named, command.reason)
        return model.release(named, command.reason)
      }
      case "Acknowledge": {
        const unknown = yield* Fresh.id
        const items = command.items.map(({ delivery, event }) => {
          const eventId = pick(events, event) ?? unknown
          const own = deliveries.filter((each) => each.event.eventId === eventId)
          const named = { none: undefined, last: own.at(-1), earlier: own.at(-2) }
          if (delivery === "none") return { eventId, deliveryId: undefined }
          const chosen = typeof delivery === "number" ? pick(deliveries, delivery) : named[delivery]
          return { eventId, deliveryId: chosen?.deliveryId ?? unknown }
        })
        const outcomes = yield* store.acknowledge(tenantId, items)
        return assert.deepStrictEqual(
          outcomes,
          items.map(({ deliveryId, eventId }) => model.acknowledge(eventId, deliveryId))
        )
      }
      case "AcknowledgeAll": {
        const eventId = pick(events, command.before)
        if (eventId === undefined) return
        const found = yield* store.find(tenantId, eventId)
        if (found._tag !== "Owned") return
        const { createdAt } = found.value
        return assert.strictEqual(
          yield* store.acknowledgeAll(tenantId, { before: createdAt }),
          model.acknowledgeAll(createdAt)
        )
      }
      case "Expire":
        return void (yield* store.expire(ALL))
      case "Remove":
        yield* store.remove(TEST_EVENT_POLICY.retention, ALL)
        return model.remove(TEST_EVENT_POLICY.retention)
      case "Advance":
        return yield* advance(command.millis)
    }
  })

  const compare = Effect.gen(function* () {
    const views = (yield* Sample.all(tenantId)).map(viewOf)
    model.adoptFailures(new Set(views.filter((view) => view.status === "failed").map((view) => view.eventId)))
    assert.deepStrictEqual(views, model.views())
    const failing = model.failing()
    const settled = (ids: ReadonlyArray<string>) => ids.filter((eventId) => !failing.has(eventId))
    const replayable = Sample.ids(yield* store.replayable(tenantId, 1_000))
    assert.deepStrictEqual(settled(replayable), settled(model.replayable()))
    assert.strictEqual(yield* store.countReplayable(tenantId, 1_000), replayable.length)
  })

  return { run, compare }
})

/** Compares any sequence of commands on an inbox with the model. */
export const eventModelTests: ContractTests<EventStore | EventSignal> = (it, capabilities) => {
  describe("an inbox", () => {
    it.effect.prop(
      "matches its model after any commands",
      { commands: Schema.Array(Command).check(Schema.isMaxLength(40)) },
      ({ commands }) =>
        Effect.gen(function* () {
          const { compare, run } = yield* start
          for (const command of commands) {
            yield* run(command)
            yield* compare
          }
        }),
      propertyOptions(capabilities)
    )
  })
}
