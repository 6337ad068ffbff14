import { Effect } from "effect"
import { orDie } from "../DatabaseFailure.ts"
import * as Parameter from "../Parameter.ts"
import type { EventDatabase } from "./EventDatabase.ts"

/**
 * Makes `expire` and `remove`. Both skip locked rows, so they hold no lock while waiting, and their lock order
 * does not matter.
 */
export const makeEnding = ({ sql, clock }: EventDatabase) => {
  const count = (rows: ReadonlyArray<{ readonly count: bigint }>) => Number(rows[0]?.count ?? 0n)

  /** Reads `events_expiring` from its beginning. */
  const expire = (limit: number) => sql<{ readonly count: bigint }>`
    with ${clock()}, over as materialized (
      select event_id from events
      where open_tenant_id = tenant_id and expires_at <= (select now from clock)
      order by expires_at limit ${Parameter.integer(limit)}
      for update skip locked
    ), changed as (
      update events set status = 'expired', session_id = null, delivery_id = null, leased_until = null
      where event_id = any(array(select event_id from over))
      returning 1
    )
    select count(*) as count from changed`

  /** An event's id begins with its creation time, so the oldest events are at the beginning of `events_key`. */
  const remove = (age: number, limit: number) => sql<{ readonly count: bigint }>`
    with ${clock()}, cutoff as materialized (
      select now - ${Parameter.integer(age)} as created_at from clock
    ), found as materialized (
      select event_id from events
      where event_id < (
          select (lpad(to_hex(greatest(created_at + 1, 0)), 12, '0') || repeat('0', 20))::uuid from cutoff
        )
        and created_at <= (select created_at from cutoff)
        and (open_tenant_id is null or expires_at <= (select now from clock))
      order by event_id limit ${Parameter.integer(limit)}
      for update skip locked
    ), removed as (
      delete from events where event_id = any(array(select event_id from found))
      returning 1
    )
    select count(*) as count from removed`

  return {
    expire: (limit: number): Effect.Effect<number> => Effect.map(orDie(expire(limit)), count),
    remove: (age: number, limit: number): Effect.Effect<number> => Effect.map(orDie(remove(age, limit)), count)
  }
}
