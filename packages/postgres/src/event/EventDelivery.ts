import type { EventMachine, HeldLease } from "@agentos/core"
import { Effect } from "effect"
import { orDie } from "../DatabaseFailure.ts"
import * as Parameter from "../Parameter.ts"
import type { EventDatabase } from "./EventDatabase.ts"

export const makeDelivery = ({ sql, announcements, transact, policy, clock }: EventDatabase) => {
  /** The leases of sessions, locked in the order in which events are always locked. */
  const held = (sessionIds: ReadonlyArray<string>) => sql`
    held as materialized (
      select event_id, leased_until <= (select now from clock) as lapsed from events
      where session_id = any(${Parameter.texts(sessionIds)})
      order by tenant_id, created_at, event_id
      for update
    )`

  const renew = (sessionIds: ReadonlyArray<string>) => sql<{ readonly session_id: string; readonly event_id: string }>`
    with ${clock()}, ${held(sessionIds)}
    update events set leased_until = (select now from clock) + ${Parameter.integer(policy.leaseDuration)}
    from held where events.event_id = held.event_id and not lapsed
    returning events.session_id, events.event_id`

  const release = Effect.fnUntraced(function* (sessionIds: ReadonlyArray<string>, reason: EventMachine.ReleaseReason) {
    const rows = yield* sql<{ readonly tenant_id: string }>`
      with ${clock()}, ${held(sessionIds)}, freed as (
        update events set
          lapses = lapses + (lapsed or ${Parameter.boolean(reason === "unacknowledged")})::integer,
          session_id = null, delivery_id = null, leased_until = null
        from held where events.event_id = held.event_id
        returning events.tenant_id
      )
      select distinct tenant_id from freed`
    yield* announcements.announce(rows.map((row) => row.tenant_id))
  })

  return {
    renew: (sessionIds: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<HeldLease>> =>
      sessionIds.length === 0
        ? Effect.succeed([])
        : Effect.map(orDie(renew(sessionIds)), (rows) =>
            rows.map((row) => ({ sessionId: row.session_id, eventId: row.event_id }))
          ),
    release: (sessionIds: ReadonlyArray<string>, reason: EventMachine.ReleaseReason): Effect.Effect<void> =>
      sessionIds.length === 0 ? Effect.void : transact(orDie(release(sessionIds, reason)))
  }
}
