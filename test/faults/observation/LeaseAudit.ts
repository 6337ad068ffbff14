import type { OpenDatabase, Row } from "../../support/ClusterDatabase.ts"
import type { EventRow, LeaseChange, LeaseState, RolledBack } from "./EventHistory.ts"

/** Rows of one query. */
const PAGE = 20_000

const millis = (moment: string): string => `floor(extract(epoch from ${moment}) * 1000)::bigint`

/**
 * Adds a trigger that records each change of an event's delivery. Renewals of live leases are frequent and are not
 * recorded: the next change shows the expiry that they set.
 */
export const installAudit = async (database: OpenDatabase): Promise<void> => {
  await database.execute(
    "create schema chaos",
    `create table chaos.changes (
      place bigserial primary key, event_id uuid not null, transaction bigint not null,
      started_at bigint not null, at bigint not null,
      status_before text not null, session_before text, delivery_before uuid, until_before bigint,
      status_after text not null, session_after text, delivery_after uuid, until_after bigint
    )`,
    `create function chaos.record() returns trigger language plpgsql as $$
    begin
      insert into chaos.changes (
        event_id, transaction, started_at, at,
        status_before, session_before, delivery_before, until_before,
        status_after, session_after, delivery_after, until_after
      ) values (
        new.event_id, pg_current_xact_id()::text::bigint,
        ${millis("statement_timestamp()")}, ${millis("clock_timestamp()")},
        old.status, old.session_id, old.delivery_id, old.leased_until,
        new.status, new.session_id, new.delivery_id, new.leased_until
      );
      return null;
    end $$`,
    `create trigger record_change after update on events for each row when (
      old.status <> new.status
      or old.session_id is distinct from new.session_id
      or old.delivery_id is distinct from new.delivery_id
      or (
        old.leased_until is distinct from new.leased_until
        and (
          old.leased_until is null or new.leased_until is null or new.leased_until < old.leased_until
          or old.leased_until <= ${millis("statement_timestamp()")}
        )
      )
    ) execute function chaos.record()`
  )
}

/** Events that are neither acknowledged nor final in another state. */
export const countOpen = async (database: OpenDatabase): Promise<number> => {
  const [row] = await database.execute("select count(*) as count from events where open_tenant_id is not null")
  return Number(row?.["count"])
}

export const readChanges = async (database: OpenDatabase): Promise<ReadonlyArray<LeaseChange>> =>
  (await readPages(database, "select * from chaos.changes", "place", "0")).map((row) => ({
    eventId: String(row["event_id"]),
    transaction: Number(row["transaction"]),
    startedAt: Number(row["started_at"]),
    at: Number(row["at"]),
    before: toState(row, "before"),
    after: toState(row, "after")
  }))

const toState = (row: Row, when: "before" | "after"): LeaseState => ({
  status: String(row[`status_${when}`]),
  sessionId: textOrNull(row[`session_${when}`]),
  deliveryId: textOrNull(row[`delivery_${when}`]),
  leasedUntil: numberOrNull(row[`until_${when}`])
})

const textOrNull = (value: unknown): string | null => (typeof value === "string" ? value : null)
const numberOrNull = (value: unknown): number | null => (value === null ? null : Number(value))

/** Every event of these tenants. */
export const readRows = async (
  database: OpenDatabase,
  tenantIds: ReadonlyArray<string>
): Promise<ReadonlyArray<EventRow>> => {
  const statement = `select event_id, tenant_id, status, delivery_count, leased_until from events
    where tenant_id in (${tenantIds.map((tenantId) => `'${tenantId}'`).join(", ")})`
  const rows = await readPages(
    database,
    `select * from (${statement}) event`,
    "event_id",
    "'00000000-0000-0000-0000-000000000000'"
  )
  return rows.map((row) => ({
    tenantId: String(row["tenant_id"]),
    eventId: String(row["event_id"]),
    status: String(row["status"]),
    deliveryCount: Number(row["delivery_count"]),
    leasedUntil: numberOrNull(row["leased_until"])
  }))
}

/** All rows, page by page along an increasing column. */
const readPages = async (
  database: OpenDatabase,
  select: string,
  column: string,
  first: string
): Promise<ReadonlyArray<Row>> => {
  const all: Array<Row> = []
  for (let after = first; ;) {
    const rows = await database.execute(`${select} where ${column} > ${after} order by ${column} limit ${PAGE}`)
    for (const row of rows) all.push(row)
    if (rows.length < PAGE) return all
    after = `'${String(rows.at(-1)?.[column])}'`
  }
}

/** Transactions that were rolled back. The transactions before and after show when each began. */
export const readRolledBack = async (
  database: OpenDatabase,
  changes: ReadonlyArray<LeaseChange>
): Promise<ReadonlyArray<RolledBack>> => {
  if (changes.length === 0) return []
  const inOrder = changes.toSorted((a, b) => a.transaction - b.transaction)
  const [lowest, highest] = [inOrder[0]!.transaction, inOrder.at(-1)!.transaction]
  const rows = await database.execute(
    `select transaction from generate_series(${lowest}::bigint, ${highest}::bigint) transaction
     where pg_xact_status(transaction::text::xid8) = 'aborted' order by transaction`
  )
  return rows.map((row) => {
    const transaction = Number(row["transaction"])
    const next = inOrder.findIndex((change) => change.transaction > transaction)
    return {
      from: inOrder.slice(0, next).reduce((latest, { startedAt }) => Math.max(latest, startedAt), 0),
      to: inOrder.slice(next).reduce((earliest, { at }) => Math.min(earliest, at), Number.POSITIVE_INFINITY)
    }
  })
}
