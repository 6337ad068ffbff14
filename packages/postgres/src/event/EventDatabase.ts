import { EventPolicy } from "@agentos/core"
import { Effect } from "effect"
import type { Statement } from "effect/sql"
import { ClockOffset } from "../ClockOffset.ts"
import { Database } from "../Database.ts"
import * as Parameter from "../Parameter.ts"

/** The services that all statements on events use. */
export interface EventDatabase extends Pick<
  typeof Database.Service,
  "sql" | "delivery" | "announcements" | "transact"
> {
  readonly policy: EventPolicy
  /** See `ClockOffset`. */
  readonly offset: () => number
  /**
   * Begins a statement with a table `clock`, whose one row holds the moment `now`, so that all of the statement
   * uses one moment. It is read as `(select now from clock)`, which is evaluated once and keeps the order of an
   * index; a join would not.
   */
  readonly clock: () => Statement.Fragment
}

export const makeEventDatabase: Effect.Effect<EventDatabase, never, Database> = Effect.gen(function* () {
  const { sql, delivery, announcements, transact } = yield* Database
  const offset = yield* ClockOffset
  const policy = yield* EventPolicy
  return {
    sql,
    delivery,
    announcements,
    transact,
    policy,
    offset,
    clock: () => sql`clock as materialized (select epoch_millis() + ${Parameter.integer(offset())} as now)`
  }
})
