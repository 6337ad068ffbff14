import type {
  AcknowledgeAllFilter,
  Acknowledgement,
  AcknowledgementOutcome,
  TenantAcknowledgement
} from "@agentos/core"
import { Effect, Schema } from "effect"
import type { Statement } from "effect/sql"
import { orDie } from "../DatabaseFailure.ts"
import * as Parameter from "../Parameter.ts"
import type { EventDatabase } from "./EventDatabase.ts"
import * as Row from "../Row.ts"

/** Limit of events that one statement of `acknowledgeAll` acknowledges. */
const BATCH = 10_000

const toOutcome: (outcome: string) => AcknowledgementOutcome = Row.literalOf(
  Schema.Literals(["acknowledged", "lease_lost", "expired", "missing"])
)

export const makeAcknowledging = ({ sql, clock }: EventDatabase) => {
  /**
   * Judges each acknowledgement by the stored event, then accepts it if an earlier one for the same event in
   * the call was accepted. So the result is that of one call each, one after the other. The tenant is compared
   * in a way that no index serves: events are found by their ids, and not among all of the tenant's events.
   * Events of other tenants are not locked.
   */
  const acknowledge = (given: ReadonlyArray<TenantAcknowledgement>) => sql<{ readonly outcome: string }>`
    with ${clock()}, given as materialized (
      select * from unnest(
        ${Parameter.uuids(given.map(({ tenantId }) => tenantId))},
        ${Parameter.uuids(given.map(({ eventId }) => eventId))},
        ${Parameter.booleans(given.map(({ deliveryId }) => deliveryId !== undefined))},
        ${Parameter.uuids(given.map(({ deliveryId }) => deliveryId ?? null))}
      ) with ordinality as given (tenant_id, event_id, is_named, delivery_id, place)
    ), found as materialized (
      select event_id, tenant_id, status, expires_at, leased_until, delivery_id from events
      where event_id = any(${Parameter.uuids(given.map(({ eventId }) => eventId))}) and exists (
        select from given
        where given.event_id = events.event_id and given.tenant_id is not distinct from events.tenant_id
      )
      order by tenant_id, created_at, event_id
      for update
    ), judged as materialized (
      select place, given.tenant_id, given.event_id, found.status, case
        when found.event_id is null then 'missing'
        when found.status = 'acknowledged' then 'acknowledged'
        when found.status = 'expired' then 'expired'
        when found.status <> 'failed' and expires_at <= (select now from clock) then 'expired'
        when not is_named then 'acknowledged'
        when given.delivery_id = found.delivery_id and leased_until > (select now from clock) then 'acknowledged'
        else 'lease_lost'
      end as verdict
      from given left join found on found.event_id = given.event_id and found.tenant_id = given.tenant_id
    ), settled as materialized (
      select place, event_id, status, case
        when bool_or(verdict = 'acknowledged') over (partition by tenant_id, event_id order by place)
          then 'acknowledged'
        else verdict
      end as outcome
      from judged
    ), changed as (
      update events set
        status = 'acknowledged', acknowledged_at = (select now from clock), session_id = null, leased_until = null
      where event_id = any(array(select event_id from settled where outcome = 'acknowledged' and status <> 'acknowledged'))
    )
    select outcome from settled order by place`

  const acknowledgeEach = (
    given: ReadonlyArray<TenantAcknowledgement>
  ): Effect.Effect<ReadonlyArray<AcknowledgementOutcome>> =>
    given.length === 0
      ? Effect.succeed([])
      : Effect.map(orDie(acknowledge(given)), (rows) => rows.map((row) => toOutcome(row.outcome)))

  /** Acknowledges up to a batch of the matching events: of the open ones, or of the failed ones. */
  const endSome = (tenantId: string, kind: "open" | "failed", filter: AcknowledgeAllFilter) => {
    const parts: Array<Statement.Fragment> = [
      sql`${sql.literal(`${kind}_tenant_id`)} = ${Parameter.uuid(tenantId)}`,
      sql`created_at < ${Parameter.integer(filter.before)}`
    ]
    if (kind === "open") parts.push(sql`expires_at > (select now from clock)`)
    if (filter.types !== undefined) parts.push(sql`type = any(${Parameter.texts(filter.types)})`)
    if (filter.service !== undefined) parts.push(sql`service = ${Parameter.text(filter.service)}`)
    return sql<{ readonly count: bigint }>`
      with ${clock()}, found as materialized (
        select event_id from events where ${sql.and(parts)}
        order by created_at, event_id limit ${Parameter.integer(BATCH)}
        for update
      ), changed as (
        update events set
          status = 'acknowledged', acknowledged_at = (select now from clock), session_id = null, leased_until = null
        where event_id = any(array(select event_id from found))
        returning 1
      )
      select count(*) as count from changed`
  }

  const endAll = Effect.fnUntraced(function* (tenantId: string, kind: "open" | "failed", filter: AcknowledgeAllFilter) {
    let total = 0
    for (;;) {
      const [row] = yield* endSome(tenantId, kind, filter)
      const count = Number(row?.count ?? 0n)
      total += count
      if (count < BATCH) return total
    }
  })

  /**
   * Waits until appends in progress have committed or rolled back, and moves the tenant's last moment up to the
   * cutoff, or to now if the cutoff is in the future: later appends get a later moment. The lock is held for
   * this statement alone.
   */
  const closeBefore = (tenantId: string, before: number) => sql`
    with ${clock()}
    update tenants set last_event_at = greatest(last_event_at, least((select now from clock), ${Parameter.integer(before)}))
    where tenant_id = ${Parameter.uuid(tenantId)}`

  const acknowledgeAll = Effect.fnUntraced(function* (tenantId: string, filter: AcknowledgeAllFilter) {
    yield* closeBefore(tenantId, filter.before)
    return (yield* endAll(tenantId, "open", filter)) + (yield* endAll(tenantId, "failed", filter))
  })

  return {
    acknowledge: (tenantId: string, acknowledgements: ReadonlyArray<Acknowledgement>) =>
      acknowledgeEach(acknowledgements.map((each) => ({ ...each, tenantId }))),
    acknowledgeEach,
    acknowledgeAll: (tenantId: string, filter: AcknowledgeAllFilter) => orDie(acknowledgeAll(tenantId, filter))
  }
}
