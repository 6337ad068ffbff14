import { EventStore, type Tenant, Uuid } from "@agentos/core"
import { Effect } from "effect"
import type { RealtimeRig } from "../../support/RealtimeRig.ts"
import type { Append } from "../observation/EventHistory.ts"

/** Stores one event for each of the owners, in one call. */
export const appendEvents = async (rig: RealtimeRig, owners: ReadonlyArray<Tenant>): Promise<Append> => {
  const calledAt = Date.now()
  const events = await rig.run(
    Effect.gen(function* () {
      const drafts = yield* Effect.forEach(owners, ({ tenantId }) =>
        Effect.map(Uuid.next, (mark) => ({
          tenantId,
          type: "email.received" as const,
          source: "smtp",
          service: "email",
          resourceId: mark,
          agentId: "an agent",
          payload: { subject: "a message", snippet: "x".repeat(100) },
          dedupeKey: mark
        }))
      )
      return yield* (yield* EventStore).append(drafts)
    })
  )
  const returnedAt = Date.now()
  if (events.length !== owners.length) throw new Error(`${events.length} of ${owners.length} events were stored`)
  return {
    calledAt,
    returnedAt,
    events: events.map(({ createdAt, eventId, resourceId, tenantId }) => ({
      tenantId,
      eventId,
      createdAt,
      mark: resourceId
    }))
  }
}
