import {
  type Delivery,
  type DurableEvent,
  type EventDraft,
  EventStore,
  INTERNAL_SOURCE,
  type Uuid
} from "@agentos/core"
import { assert } from "@effect/vitest"
import { Array, Effect } from "effect"
import * as Fresh from "../Fresh.ts"

/** A draft of the tenant with a unique key, unless `parts` say otherwise. */
export const draft = (tenantId: Uuid.Uuid, parts?: Partial<EventDraft>): Effect.Effect<EventDraft> =>
  Effect.gen(function* () {
    return {
      tenantId,
      type: "email.received",
      source: INTERNAL_SOURCE,
      service: "email",
      resourceId: yield* Fresh.id,
      agentId: yield* Fresh.id,
      payload: { subject: "hello", size: 12 },
      dedupeKey: yield* Fresh.id,
      ...parts
    }
  })

/** `count` drafts of the tenant. */
export const drafts = (tenantId: Uuid.Uuid, count: number, parts?: Partial<EventDraft>) =>
  Effect.forEach(
    Array.makeBy(count, (index) => index),
    () => draft(tenantId, parts)
  )

/** `count` events of the tenant, stored in one call. */
export const append = Effect.fnUntraced(function* (tenantId: Uuid.Uuid, count: number, parts?: Partial<EventDraft>) {
  const store = yield* EventStore
  const stored = yield* store.append(yield* drafts(tenantId, count, parts))
  assert.strictEqual(stored.length, count)
  return stored
})

/** A tenant with `count` events. */
export const inbox = Effect.fnUntraced(function* (count: number) {
  const { tenantId } = yield* Fresh.tenant
  return { tenantId, events: yield* append(tenantId, count) }
})

/** A stored event of the tenant. */
export const appendOne = (tenantId: Uuid.Uuid, parts?: Partial<EventDraft>) =>
  Effect.map(append(tenantId, 1, parts), (stored) => stored[0]!)

/** Returns every event of the tenant, in the order of its list. */
export const all = Effect.fnUntraced(function* (tenantId: Uuid.Uuid) {
  const store = yield* EventStore
  return yield* store.list(tenantId, {}, undefined, 1_000)
})

/** Returns the events' ids, for comparison. */
export const ids = (events: ReadonlyArray<DurableEvent>): ReadonlyArray<string> => events.map((event) => event.eventId)

/** Returns the ids of the delivered events, for comparison. */
export const deliveredIds = (deliveries: ReadonlyArray<Delivery>): ReadonlyArray<string> =>
  ids(deliveries.map(({ event }) => event))

/** Returns the event as its tenant reads it. */
export const found = Effect.fnUntraced(function* (event: Pick<DurableEvent, "tenantId" | "eventId">) {
  const store = yield* EventStore
  const lookup = yield* store.find(event.tenantId, event.eventId)
  if (lookup._tag !== "Owned") return assert.fail(`expected the tenant to find its own event, got ${lookup._tag}`)
  return lookup.value
})

/** Fails unless createdAt and then eventId increase from each event to the next. */
export const assertGrowing = (events: ReadonlyArray<DurableEvent>): void => {
  for (const [index, event] of events.slice(1).entries()) {
    const previous = events[index]!
    assert.isTrue(
      previous.createdAt <= event.createdAt && previous.eventId < event.eventId,
      `event ${index + 1} of ${events.length} comes before the one that it follows`
    )
  }
}
