import {
  CallGroup,
  type Mailbox,
  type MailboxSender,
  MailboxStore,
  type RefusedMails,
  SenderPolicy
} from "@agentos/core"
import { Effect, Exit, Layer, Option } from "effect"
import { createHash } from "node:crypto"
import { Database } from "./Database.ts"
import { orDie } from "./DatabaseFailure.ts"
import { SENDING } from "./MessageStorePostgres.ts"
import * as Parameter from "./Parameter.ts"
import * as Row from "./Row.ts"
import * as Table from "./Table.ts"

/** A local part has no colon, so a hash is never a local part. */
export const ERASED_PREFIX = "erased:"

/** Returns the text that replaces the local part of an erased tenant, so that its address is not assigned again. */
const erasedLocalPart = (localPart: string): string =>
  ERASED_PREFIX + createHash("sha256").update(localPart).digest("hex")

const CHANGING = {
  displayName: Table.textOrNull("display_name"),
  outboundSignature: Table.textOrNull("outbound_signature"),
  active: Table.boolean("active"),
  // The default is stored as null.
  senderPolicy: Table.map(
    Table.json<SenderPolicy.SenderPolicy>().orNull("sender_policy"),
    (policy) => policy ?? SenderPolicy.ANYONE,
    (policy) => (SenderPolicy.isAnyone(policy) ? null : policy)
  ),
  metadata: Table.map(
    Table.json<Mailbox["metadata"]>().orNull("metadata"),
    (metadata) => metadata ?? {},
    (metadata) => (Object.keys(metadata).length === 0 ? null : metadata)
  ),
  updatedAt: Table.moment("updated_at")
}

const MAILBOXES = Table.table("mailboxes", {
  mailboxId: Table.uuid("mailbox_id"),
  tenantId: Table.uuid("tenant_id"),
  address: Table.text("address"),
  localPart: Table.text("local_part"),
  createdAt: Table.moment("created_at"),
  refused: Table.map(
    Table.json<RefusedMails>().orNull("refused"),
    (refused) => refused ?? {},
    (refused) => (Object.keys(refused).length === 0 ? null : refused)
  ),
  ...CHANGING
})

type MailboxRow = Table.Stored<typeof MAILBOXES>

const toMailbox: (row: MailboxRow) => Mailbox = MAILBOXES.toRecord

const STANDING = {
  usage: Table.group({ messages: Table.long("message_count"), bytes: Table.long("stored_bytes") }),
  tenantUsage: Table.group({
    messages: Table.long("tenant_message_count"),
    bytes: Table.long("tenant_stored_bytes")
  }),
  isTenantSuspended: Table.boolean("is_suspended")
}

const toStanding = Table.table("mailboxes", STANDING).toRecord

type StandingRow = Table.RowOf<typeof STANDING> & Pick<MailboxRow, "mailbox_id">

/** The columns of the sending are null if the tenant has never sent. */
type SenderRow = MailboxRow &
  StandingRow & { readonly suppressed: ReadonlyArray<string> } & (Table.Stored<typeof SENDING> | { readonly day: null })

const toSender = (row: SenderRow): MailboxSender => ({
  mailbox: toMailbox(row),
  standing: toStanding(row),
  suppressed: row.suppressed,
  sending: row.day === null ? undefined : SENDING.toRecord(row)
})

interface LocalPartRow {
  readonly local_part: string
  readonly tenant_id: string
  readonly is_free: boolean
}

/** A question whether a local part is available to a tenant. */
interface LocalPartQuestion {
  readonly localPart: string
  readonly tenantId: string | null
}

/** Maximum number of local parts in one statement. */
const QUESTIONS_MAX = 64

export const layer: Layer.Layer<MailboxStore, never, Database> = Layer.effect(
  MailboxStore,
  Effect.gen(function* () {
    const { sql, transact } = yield* Database
    const columns = sql.literal(MAILBOXES.columns)

    /** Turns the operation's reservation into ownership; dies if the operation has not reserved the local part. */
    const create = Effect.fnUntraced(function* (mailbox: Mailbox, operationId: string) {
      const rows = yield* sql`
        with owned as (
          update local_parts set owned = true, operation_id = null, mailbox_id = ${Parameter.uuid(mailbox.mailboxId)}
          where local_part = ${Parameter.text(mailbox.localPart)} and tenant_id = ${Parameter.uuid(mailbox.tenantId)}
            and operation_id = ${Parameter.uuid(operationId)} and mailbox_id is null
          returning local_part
        )
        insert into mailboxes ${Table.insertSelect(sql, Table.valuesOf(MAILBOXES.fields, mailbox))}
        from owned
        returning mailbox_id`
      if (rows.length === 0) {
        return yield* Effect.die(new Error(`operation ${operationId} has not reserved ${mailbox.localPart}`))
      }
    })

    /**
     * Locks the mailbox against new messages, then the raw mails of its messages against each other's removal:
     * the transaction that removes the last message of a mail sees that it is the last, and removes the mail.
     */
    const remove = Effect.fnUntraced(function* (tenantId: string, mailboxId: string) {
      const mine = sql`mailbox_id = ${Parameter.uuid(mailboxId)}`
      const [mailbox] = yield* sql<Pick<MailboxRow, "local_part">>`
        select local_part from mailboxes where ${mine} and tenant_id = ${Parameter.uuid(tenantId)} for update`
      if (mailbox === undefined) return undefined
      yield* sql`
        select 1 from inbound_mails
        where inbound_mail_id in (select inbound_mail_id from messages where ${mine})
        order by inbound_mail_id for update`
      const [removed] = yield* sql<{ readonly count: bigint; readonly mails: ReadonlyArray<string> | null }>`
        with removed as (
          delete from messages where ${mine} returning message_id, inbound_mail_id
        ), detached as (
          delete from sent_attachments where message_id in (select message_id from removed)
        )
        select count(*) as count, array_agg(distinct inbound_mail_id) filter (where inbound_mail_id is not null) as mails
        from removed`
      yield* sql`
        delete from inbound_mails where inbound_mail_id = any(${Parameter.uuids(removed?.mails ?? [])}) and completed
          and not exists (select 1 from messages where messages.inbound_mail_id = inbound_mails.inbound_mail_id)`
      yield* sql`delete from message_labels where ${mine}`
      yield* sql`delete from thread_labels where ${mine}`
      yield* sql`delete from threads where ${mine}`
      yield* sql`update local_parts set mailbox_id = null where local_part = ${Parameter.text(mailbox.local_part)}`
      yield* sql`delete from mailboxes where ${mine}`
      return Number(removed?.count ?? 0n)
    })

    const senders = (tenantId: string, mailboxId: string, addresses: ReadonlyArray<string>) => sql<SenderRow>`
      select
        ${sql.literal(MAILBOXES.qualified)}, message_count, stored_bytes, tenant_message_count,
        tenant_stored_bytes, suspended_at is not null as is_suspended,
        ${sql.literal(SENDING.columns)},
        array(
          select address from suppressions
          where tenant_id = ${Parameter.uuid(tenantId)} and address = any(${Parameter.texts(addresses)})
        ) as suppressed
      from mailboxes
      join tenants using (tenant_id)
      left join mail_sending using (tenant_id)
      join lateral (
        select sum(owned.message_count)::bigint as tenant_message_count,
          sum(owned.stored_bytes)::bigint as tenant_stored_bytes
        from mailboxes as owned where owned.tenant_id = mailboxes.tenant_id
      ) as owned on true
      where mailboxes.mailbox_id = ${Parameter.uuid(mailboxId)}`

    /** Reads the sum over a tenant's mailboxes once for each tenant, from their index. */
    const standings = (mailboxIds: ReadonlyArray<string>) => sql<StandingRow>`
      with asked as materialized (
        select mailbox_id, tenant_id, message_count, stored_bytes from mailboxes
        where mailbox_id = any(${Parameter.uuids(mailboxIds)})
      )
      select
        mailbox_id, message_count, stored_bytes, tenant_message_count, tenant_stored_bytes,
        suspended_at is not null as is_suspended
      from asked
      join tenants using (tenant_id)
      join lateral (
        select sum(message_count)::bigint as tenant_message_count, sum(stored_bytes)::bigint as tenant_stored_bytes
        from mailboxes where mailboxes.tenant_id = asked.tenant_id
      ) as owned on true`

    const areAvailable = (questions: ReadonlyArray<LocalPartQuestion>): Effect.Effect<ReadonlyArray<boolean>> => {
      const localParts = questions.map(({ localPart }) => Parameter.storable(localPart))
      const erased = localParts.map(erasedLocalPart)
      return Effect.map(
        orDie(sql<LocalPartRow>`
          select local_part, tenant_id, operation_id is null and mailbox_id is null as is_free
          from local_parts where local_part = any(${Parameter.texts([...localParts, ...erased])})`),
        (rows) => {
          const known = new Map(rows.map((row) => [row.local_part, row]))
          return questions.map(({ tenantId }, place) => {
            if (known.has(erased[place]!)) return false
            const row = known.get(localParts[place]!)
            return row === undefined || (row.is_free && row.tenant_id === tenantId)
          })
        }
      )
    }
    /** Each request for a challenge asks once. Overlapping questions are answered by one statement. */
    const isAvailableTogether = yield* CallGroup.make<LocalPartQuestion, boolean, never>({
      limit: QUESTIONS_MAX,
      sizeOf: () => 1,
      work: (questions) => Effect.map(areAvailable(questions), (answers) => answers.map(Exit.succeed))
    })

    return MailboxStore.of({
      find: (tenantId, mailboxId) =>
        Row.lookup(
          tenantId,
          toMailbox
        )(sql<MailboxRow>`select ${columns} from mailboxes where mailbox_id = ${Parameter.uuid(mailboxId)}`),
      list: (tenantId) =>
        Row.all(toMailbox)(sql<MailboxRow>`
          select ${columns} from mailboxes where tenant_id = ${Parameter.uuid(tenantId)}
          order by created_at, mailbox_id`),
      findActive: (localParts) =>
        Row.all(toMailbox)(sql<MailboxRow>`
          select ${columns} from mailboxes where local_part = any(${Parameter.texts(localParts)}) and active`),
      findStandings: (mailboxIds) =>
        mailboxIds.length === 0
          ? Effect.succeed(new Map())
          : Effect.map(
              orDie(standings(mailboxIds)),
              (rows) => new Map(rows.map((row) => [row.mailbox_id, toStanding(row)]))
            ),
      findSender: (tenantId, mailboxId, addresses) =>
        Row.lookup(tenantId, toSender)(senders(tenantId, mailboxId, addresses)),
      isAvailable: (localPart, tenantId) =>
        Effect.flatMap(Effect.serviceOption(sql.transactionService), (open) =>
          Option.isNone(open)
            ? isAvailableTogether({ localPart, tenantId })
            : // Only its own connection shows the changes of a transaction.
              Effect.map(areAvailable([{ localPart, tenantId }]), ([isFree]) => isFree === true)
        ),
      reserve: (localPart, tenantId, operationId) =>
        Effect.map(
          orDie(sql`
            insert into local_parts (local_part, tenant_id, owned, operation_id)
            select ${Parameter.text(localPart)}, ${Parameter.uuid(tenantId)}, false, ${Parameter.uuid(operationId)}
            where not exists (select 1 from local_parts where local_part = ${Parameter.text(erasedLocalPart(localPart))})
            on conflict (local_part) do update set operation_id = excluded.operation_id
            where local_parts.tenant_id = excluded.tenant_id and local_parts.mailbox_id is null
              and (local_parts.operation_id is null or local_parts.operation_id = excluded.operation_id)
            returning local_part`),
          (rows) => (rows.length > 0 ? "reserved" : "taken")
        ),
      release: (operationId) =>
        Row.run(sql`
          with freed as (
            update local_parts set operation_id = null
            where operation_id = ${Parameter.uuid(operationId)} and owned
          )
          delete from local_parts where operation_id = ${Parameter.uuid(operationId)} and not owned`),
      create: (mailbox, operationId) => orDie(create(mailbox, operationId)),
      addRefused: (localPart, refused) => {
        const counts = Object.entries(refused)
        return counts.length === 0
          ? Effect.void
          : Row.run(sql`
            update mailboxes set refused = (
              select json_object_agg(reason, total)::text from (
                select reason, sum(count)::bigint as total from (
                  select key, value::bigint from json_each_text(coalesce(mailboxes.refused, '{}')::json)
                  union all
                  select * from unnest(
                    ${Parameter.texts(counts.map(([reason]) => reason))},
                    ${Parameter.integers(counts.map(([, count]) => count))}
                  )
                ) as counted (reason, count) group by reason order by reason
              ) as totals
            )
            where local_part = ${Parameter.text(localPart)} and active`)
      },
      update: (mailbox) =>
        Row.any(sql`
          update mailboxes set ${Table.set(sql, Table.valuesOf(CHANGING, mailbox))}
          where mailbox_id = ${Parameter.uuid(mailbox.mailboxId)} and tenant_id = ${Parameter.uuid(mailbox.tenantId)}
          returning mailbox_id`),
      remove: (tenantId, mailboxId) => transact(orDie(remove(tenantId, mailboxId)))
    })
  })
)
