import { TenantErasureStore } from "@agentos/core"
import { Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import { Database } from "./Database.ts"
import { orDie } from "./DatabaseFailure.ts"
import { ERASED_PREFIX } from "./MailboxStorePostgres.ts"
import { withoutAnswer } from "./OperationStorePostgres.ts"
import * as Parameter from "./Parameter.ts"

interface Counted {
  readonly count: bigint
}

export const layer: Layer.Layer<TenantErasureStore, never, Database> = Layer.effect(
  TenantErasureStore,
  Effect.map(Database, ({ sql }) => {
    const first = <A extends object>(rows: ReadonlyArray<A>): A => rows[0]!
    const countsOf = (row: Readonly<Record<string, bigint>>): Record<string, number> =>
      Object.fromEntries(Object.entries(row).map(([name, count]) => [name, Number(count)]))

    /** Deletes up to `limit` rows of a table. */
    const remove = (table: string, condition: Statement.Fragment, limit: number) => sql<Counted>`
      with removed as (
        delete from ${sql.literal(table)} where ctid = any(array(
          select ctid from ${sql.literal(table)} where ${condition} limit ${Parameter.integer(limit)}
        )) returning 1
      )
      select count(*) as count from removed`

    /**
     * Deletes messages, what belongs to them, and raw mail that no other message refers to. The raw mails are locked first, so
     * that the transaction which removes the last message of a mail sees that it is the last.
     */
    const removeMessages = Effect.fnUntraced(function* (tenant: Statement.Fragment, limit: number) {
      const doomed = yield* sql<{ readonly message_id: string; readonly inbound_mail_id: string | null }>`
        select message_id, inbound_mail_id from messages where ${tenant} limit ${Parameter.integer(limit)}`
      const messages = Parameter.uuids(doomed.map(({ message_id }) => message_id))
      const mails = Parameter.uuids([...new Set(doomed.map(({ inbound_mail_id }) => inbound_mail_id))])
      yield* sql`select 1 from inbound_mails where inbound_mail_id = any(${mails}) order by inbound_mail_id for update`
      yield* sql`delete from mail_reports where message_id = any(${messages})`
      yield* sql`delete from messages where message_id = any(${messages})`
      yield* sql`
        delete from inbound_mails where inbound_mail_id = any(${mails}) and completed
          and not exists (select 1 from messages where messages.inbound_mail_id = inbound_mails.inbound_mail_id)`
      return [{ count: BigInt(doomed.length) }]
    })

    /** Keeps the columns that the ledger is compared with. The client's texts are replaced, and its keys by the id of the operation. */
    const eraseOperations = (tenant: Statement.Fragment, wallet: string, limit: number) => sql<Counted>`
      with erased as (
        update operations set
          endpoint = ${Parameter.text(ERASED_ENDPOINT)}, idempotency_key = operation_id::text, fingerprint = '',
          request_id = '', trace = null, ${withoutAnswer(sql, sql`''`)},
          failure = case when failure is not null
            then json_build_object('kind', failure::json ->> 'kind', 'message', 'Erased.')::text end,
          terms = json_build_object(
            'scheme', 'exact', 'network', network, 'asset', terms::json ->> 'asset', 'amount', amount::text,
            'payTo', terms::json ->> 'payTo', 'maxTimeoutSeconds', 0, 'extra', json_build_object()
          )::text
        where operation_id = any(array(
          select operation_id from operations
          where payer = ${Parameter.text(wallet)} and endpoint <> ${Parameter.text(ERASED_ENDPOINT)} and ${tenant}
          limit ${Parameter.integer(limit)}
        )) returning 1
      )
      select count(*) as count from erased`

    const eraseLocalParts = (tenant: Statement.Fragment) => sql<Counted>`
      with erased as (
        update local_parts set
          local_part = ${Parameter.text(ERASED_PREFIX)} || encode(sha256(convert_to(local_part, 'UTF8')), 'hex'),
          owned = true, operation_id = null, mailbox_id = null
        where ${tenant} and local_part not like ${Parameter.text(`${ERASED_PREFIX}%`)} returning 1
      )
      select count(*) as count from erased`

    return TenantErasureStore.of({
      countContents: (tenantId) => {
        const tenant = sql`tenant_id = ${Parameter.uuid(tenantId)}`
        return Effect.map(
          orDie(sql<Record<string, bigint>>`
            select
              (select count(*) from mailboxes where ${tenant}) as mailboxes,
              (select count(*) from messages where ${tenant}) as messages,
              (select count(*) from events where ${tenant}) as events,
              (select count(*) from calls where ${tenant} and connected_seconds >= 0) as calls,
              (select count(*) from phone_numbers where ${tenant}) as numbers,
              (select count(*) from operations
                where payer = (select wallet from tenants where ${tenant}) and ${tenant}) as operations`),
          (rows) => countsOf(first(rows)) as never
        )
      },
      findObstacles: (tenantId) => {
        const tenant = sql`tenant_id = ${Parameter.uuid(tenantId)}`
        return Effect.map(
          orDie(sql<Record<string, bigint>>`
            select
              (select count(*) from operations where ${tenant} and due_at is not null) as "openOperations",
              (select count(*) from phone_numbers where ${tenant} and state <> 'released') as numbers,
              (select count(*) from calls where ${tenant} and connected_seconds >= 0 and state <> 'ended') as "liveCalls",
              (select count(*) from inbound_mails where not completed
                and counted_mailbox_ids && array(select mailbox_id from mailboxes where ${tenant})) as "waitingMails"`),
          (rows) => countsOf(first(rows)) as never
        )
      },
      erase: ({ tenantId, wallet }, limit) => {
        const tenant = sql`tenant_id = ${Parameter.uuid(tenantId)}`
        const ofCalls = sql`call_id in (select call_id from calls where ${tenant} and connected_seconds >= 0)`
        const steps = [
          remove("message_labels", tenant, limit),
          remove("thread_labels", tenant, limit),
          remove("threads", tenant, limit),
          remove("message_retries", tenant, limit),
          remove("sent_attachments", tenant, limit),
          removeMessages(tenant, limit),
          eraseLocalParts(tenant),
          remove(
            "mailboxes",
            sql`${tenant} and not exists (select 1 from messages where messages.mailbox_id = mailboxes.mailbox_id)`,
            limit
          ),
          remove("mail_sending", tenant, limit),
          remove("mail_feedback", tenant, limit),
          remove("suppressions", tenant, limit),
          remove("events", tenant, limit),
          remove("deleted_agents", tenant, limit),
          remove("event_webhooks", tenant, limit),
          remove("agent_sessions", tenant, limit),
          remove("declined_calls", tenant, limit),
          remove("call_grants", ofCalls, limit),
          remove("call_turns", ofCalls, limit),
          remove(
            "calls",
            sql`${tenant} and connected_seconds >= 0
              and not exists (select 1 from call_turns where call_turns.call_id = calls.call_id)
              and not exists (select 1 from call_grants where call_grants.call_id = calls.call_id)`,
            limit
          ),
          remove(
            "phone_numbers",
            sql`${tenant} and not exists (select 1 from calls where calls.phone_number_id = phone_numbers.phone_number_id)`,
            limit
          ),
          remove("sign_ins", tenant, limit),
          remove("tenant_retentions", tenant, limit),
          eraseOperations(tenant, wallet, limit)
        ]
        return orDie(
          Effect.map(
            Effect.forEach(steps, (step) => Effect.map(step, (rows) => Number(first(rows).count))),
            (counts) => counts.reduce((sum, count) => sum + count, 0)
          )
        )
      }
    })
  })
)

/** The endpoint of an erased operation, which no route has. */
const ERASED_ENDPOINT = "erased"
