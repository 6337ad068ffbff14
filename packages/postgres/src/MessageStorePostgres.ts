import {
  BLANK_CONTENT,
  type Contact,
  type DeliveryReport,
  type Feedback,
  filterTerms,
  type Message,
  type MessageFilter,
  MessageStore,
  type MessageSummary,
  messageTerms,
  type NewMessage,
  type Position,
  receivedBy,
  type Recipient,
  REPORT_LIMIT,
  type SenderAuthentication,
  type SendingQuota,
  type StoredReport,
  term
} from "@agentos/core"
import { Effect, Layer, Option } from "effect"
import type { Statement } from "effect/sql"
import { createHash } from "node:crypto"
import { storeClock } from "./ClockOffset.ts"
import { Database } from "./Database.ts"
import { orDie } from "./DatabaseFailure.ts"
import * as Parameter from "./Parameter.ts"
import * as Row from "./Row.ts"
import * as Table from "./Table.ts"

const REPORTS = Table.table("mail_reports", {
  reportId: Table.uuid("report_id"),
  messageId: Table.uuid("message_id"),
  receivedAt: Table.moment("received_at"),
  remoteAddress: Table.text("remote_address"),
  report: Table.json<DeliveryReport>().column("report")
})

export const SENDING = Table.table("mail_sending", {
  day: Table.integer("day"),
  recipients: Table.integer("recipients"),
  recipientsBefore: Table.integer("recipients_before"),
  level: Table.integer("level"),
  pause: Table.groupOrNull({
    until: Table.moment("paused_until"),
    reason: Table.textOf<SendingQuota.PauseReason>().column("pause_reason")
  })
})

const SUPPRESSIONS = Table.table("suppressions", {
  address: Table.text("address"),
  reason: Table.textOf<SendingQuota.PauseReason>().column("reason"),
  createdAt: Table.moment("created_at")
})

/** The fields of a message that have columns of their own; the rest is JSON. */
type Columns = "messageId" | "tenantId" | "mailboxId" | "threadId" | "createdAt"
type StoredSummary = Omit<MessageSummary, Columns>
type StoredBody = Pick<Message, "text" | "html" | "extractedText">

const { automatic, mailingList, replyTo, truncated } = BLANK_CONTENT
/** The fields that older versions did not write, apart from names, and what they are then. */
const LATER = { automatic, mailingList, replyTo, truncated }
type Later = keyof typeof LATER

/**
 * A summary as any version wrote it: older ones had none of the fields in `Later`, no names, no recipients of received messages, and
 * authentication results without a domain. They have the status `received` for every recipient of a received message.
 */
type WrittenSummary = Omit<StoredSummary, "authentication" | "sender" | "recipients" | Later> &
  Partial<Pick<StoredSummary, Later>> & {
    readonly authentication: (Omit<SenderAuthentication, "domain"> & Partial<SenderAuthentication>) | null
    readonly sender?: Contact
    readonly recipients: ReadonlyArray<Omit<Recipient, "name"> & Partial<Recipient>>
  }

const withoutName = (address: string): Contact => ({ address, name: null })

const parseSummary = (text: string): StoredSummary => {
  const written: WrittenSummary = JSON.parse(text)
  const { authentication, cc, direction, from, recipients, sender, to } = written
  return {
    ...LATER,
    ...written,
    sender: sender ?? withoutName(from),
    recipients:
      sender === undefined && direction === "inbound"
        ? receivedBy(to.map(withoutName), cc.map(withoutName), () => true)
        : recipients.map((recipient) => ({ name: null, ...recipient })),
    authentication: authentication === null ? null : { domain: null, ...authentication }
  }
}

/** Older versions did not store the new part of a reply. */
type WrittenBody = Partial<StoredBody> & Omit<StoredBody, "extractedText">

const SUMMARY = {
  messageId: Table.uuid("message_id"),
  tenantId: Table.uuid("tenant_id"),
  mailboxId: Table.uuid("mailbox_id"),
  threadId: Table.uuid("thread_id"),
  createdAt: Table.moment("created_at"),
  summary: Table.asText<StoredSummary>(parseSummary, JSON.stringify).column("summary")
}

const SUMMARIES = Table.table("messages", SUMMARY)
const MESSAGES = Table.table("messages", { ...SUMMARY, body: Table.json<WrittenBody>().column("body") })

type SummaryRow = Table.Stored<typeof SUMMARIES>
type MessageRow = Table.Stored<typeof MESSAGES>

const toSummary = (row: SummaryRow): MessageSummary => {
  const { summary, ...message } = SUMMARIES.toRecord(row)
  return { ...message, ...summary }
}

const toMessage = (row: MessageRow): Message => {
  const { body, summary, ...message } = MESSAGES.toRecord(row)
  return { ...message, ...summary, extractedText: null, ...body }
}

const toStored = (message: Message): { readonly summary: string; readonly body: string } => {
  const {
    createdAt: _1,
    extractedText,
    html,
    mailboxId: _2,
    messageId: _3,
    tenantId: _4,
    text,
    threadId: _5,
    ...rest
  } = message
  const summary: StoredSummary = rest
  const body: StoredBody = { text, html, extractedText }
  return { summary: JSON.stringify(summary), body: JSON.stringify(body) }
}

const digest = (text: string): Uint8Array => createHash("sha256").update(text).digest()
const digestOrNull = (text: string | null): Uint8Array | null => (text === null ? null : digest(text))

/** The number of newest messages that are searched without the index on terms. */
const NEWEST = 500

/** Returns a query for messages with all of these terms. Each is quoted, so that no part of it is an operator. */
const tsqueryOf = (terms: ReadonlyArray<string>): string =>
  terms.map((each) => `'${each.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`).join(" & ")

export const layer: Layer.Layer<MessageStore, never, Database> = Layer.effect(
  MessageStore,
  Effect.gen(function* () {
    const { sql, transact } = yield* Database
    const { now } = yield* storeClock
    const summaryColumns = sql.literal(SUMMARIES.columns)
    const columns = sql.literal(MESSAGES.columns)

    /**
     * Waits for a mailbox that is being removed, and then finds it gone; an existing mailbox stays until the
     * insert ends. Of two copies in one call, the first is stored.
     */
    const insert = (messages: ReadonlyArray<NewMessage>) => {
      const stored = messages.map(({ message }) => toStored(message))
      const ids = (of: (message: Message) => string) => Parameter.uuids(messages.map(({ message }) => of(message)))
      return sql<{ readonly message_id: string }>`
        with mailbox as materialized (
          select mailbox_id, tenant_id from mailboxes where mailbox_id = any(${ids((message) => message.mailboxId)})
          order by mailbox_id for key share
        ), stored as (
        insert into messages (
          message_id, tenant_id, mailbox_id, thread_id, message_id_digest, duplicate_key, inbound_mail_id, created_at,
          size_bytes, summary, body, search
        )
        select
          given.message_id, given.tenant_id, given.mailbox_id, thread_id, message_id_digest, duplicate_key,
          inbound_mail_id, created_at, size_bytes, summary, body, ${searchOf("terms")}
        from unnest(
          ${ids((message) => message.messageId)},
          ${ids((message) => message.tenantId)},
          ${ids((message) => message.mailboxId)},
          ${ids((message) => message.threadId)},
          ${Parameter.byteStrings(messages.map(({ message }) => digestOrNull(message.messageIdHeader)))},
          ${Parameter.byteStrings(messages.map(({ duplicateKey }) => digestOrNull(duplicateKey)))},
          ${Parameter.uuids(messages.map(({ inboundMailId }) => inboundMailId))},
          ${Parameter.integers(messages.map(({ message }) => message.createdAt))},
          ${Parameter.integers(messages.map(({ sizeBytes }) => sizeBytes))},
          ${Parameter.texts(stored.map(({ summary }) => summary))},
          ${Parameter.texts(stored.map(({ body }) => body))},
          ${Parameter.texts(messages.map(({ message }) => messageTerms(message).join("\n")))}
        ) with ordinality as given (
          message_id, tenant_id, mailbox_id, thread_id, message_id_digest, duplicate_key, inbound_mail_id, created_at,
          size_bytes, summary, body, terms, place
        )
        join mailbox on mailbox.mailbox_id = given.mailbox_id and mailbox.tenant_id = given.tenant_id
        order by place
        on conflict do nothing
        returning message_id, mailbox_id, size_bytes
        ), counted as (
          update mailboxes set message_count = message_count + added.messages, stored_bytes = stored_bytes + added.bytes
          from (
            select mailbox_id, count(*) as messages, sum(size_bytes)::bigint as bytes from stored group by mailbox_id
          ) as added
          where mailboxes.mailbox_id = added.mailbox_id
        )
        select message_id from stored`
    }

    const addReport = (report: StoredReport) => sql`
      insert into mail_reports ${Table.insertSelect(sql, Table.valuesOf(REPORTS.fields, report))}
      where (select count(*) from mail_reports where message_id = ${Parameter.uuid(report.messageId)})
        < ${Parameter.integer(REPORT_LIMIT)}
      on conflict do nothing returning report_id`

    const setOutcome = Effect.fnUntraced(function* (
      messageId: string,
      { recipients, relayIds = [], status }: Parameters<MessageStore["Service"]["setOutcome"]>[1]
    ) {
      const [row] = yield* sql<Pick<SummaryRow, "summary">>`
        select summary from messages where message_id = ${Parameter.uuid(messageId)} for update`
      if (row === undefined) return
      const summary: WrittenSummary = JSON.parse(row.summary)
      const added = relayIds.length === 0 ? {} : { relayIds: [...(summary.relayIds ?? []), ...relayIds] }
      const terms = relayIds.map(term.relay).join("\n")
      yield* sql`
        update messages set summary = ${Parameter.text(JSON.stringify({ ...summary, recipients, status, ...added }))}
          ${terms === "" ? sql`` : sql`, search = search || array_to_tsvector(string_to_array(${Parameter.text(terms)}, E'\\n'))`}
        where message_id = ${Parameter.uuid(messageId)}`
    })

    const addFeedback = Effect.fnUntraced(function* (
      { at, messageId, reason, reporters, tenantId }: Feedback,
      windowMillis: number
    ) {
      const tenant = Parameter.uuid(tenantId)
      yield* sql`
        insert into mail_feedback (tenant_id, reason, reporter, message_id, created_at)
        select distinct
          ${tenant}, ${Parameter.text(reason)}, reporter, ${Parameter.uuid(messageId)}, ${Parameter.integer(at)}
        from unnest(${Parameter.texts(reporters)}) as reporter order by reporter
        on conflict (tenant_id, reason, reporter) do update set
          message_id = excluded.message_id, created_at = excluded.created_at`
      yield* sql`
        delete from mail_feedback
        where tenant_id = ${tenant} and created_at <= ${Parameter.integer(at - windowMillis)}`
      const [row] = yield* sql<{ readonly reporters: number; readonly messages: number }>`
        select count(*)::integer as reporters, count(distinct message_id)::integer as messages from mail_feedback
        where tenant_id = ${tenant} and reason = ${Parameter.text(reason)}`
      return row ?? { reporters: 0, messages: 0 }
    })

    const searchOf = (terms: string) => sql.literal(`array_to_tsvector(string_to_array(${terms}, E'\\n'))`)

    const timeConditions = ({ since, until }: MessageFilter, after: Position | undefined) => [
      ...(since === undefined ? [] : [sql`created_at >= ${Parameter.integer(since)}`]),
      ...(until === undefined ? [] : [sql`created_at < ${Parameter.integer(until)}`]),
      ...(after === undefined
        ? []
        : [sql`(created_at, message_id) < (${Parameter.integer(after.createdAt)}, ${Parameter.uuid(after.id)})`])
    ]

    /** Reads the messages of a mailbox or of the tenant in the order of their index. */
    const inOrder = (
      tenantId: string,
      filter: MessageFilter,
      after: Position | undefined,
      columns: Statement.Fragment,
      limit: number
    ) => {
      const owned =
        filter.mailboxId === undefined
          ? sql`tenant_id = ${Parameter.uuid(tenantId)}`
          : sql`mailbox_id = (
              select mailbox_id from mailboxes
              where mailbox_id = ${Parameter.uuid(filter.mailboxId)} and tenant_id = ${Parameter.uuid(tenantId)}
            )`
      return sql<SummaryRow>`
        select ${columns} from messages where ${sql.and([owned, ...timeConditions(filter, after)])}
        order by created_at desc, message_id desc limit ${Parameter.integer(limit)}`
    }

    /**
     * Looks among the newest messages first, where a frequent term fills a page. The index on terms returns all
     * messages with the terms, and is asked only for those that are not frequent. Nothing else restricts the inner
     * select, so that no other index suits it.
     */
    const list = Effect.fnUntraced(function* (
      tenantId: string,
      filter: MessageFilter,
      after: Position | undefined,
      limit: number
    ) {
      const filtered = filterTerms(filter)
      if (filtered.length === 0) return yield* inOrder(tenantId, filter, after, summaryColumns, limit)
      const query = sql`${Parameter.text(tsqueryOf(filtered))}::tsquery`
      const newest = yield* sql<SummaryRow>`
        select ${summaryColumns} from (
          ${inOrder(tenantId, filter, after, sql.literal("*"), NEWEST)}
        ) as newest
        where search @@ ${query} order by created_at desc, message_id desc limit ${Parameter.integer(limit)}`
      if (newest.length === limit) return newest
      const { mailboxId } = filter
      const place = [term.tenant(tenantId), ...(mailboxId === undefined ? [] : [term.mailbox(mailboxId)])]
      const conditions = [sql`tenant_id = ${Parameter.uuid(tenantId)}`, ...timeConditions(filter, after)]
      return yield* sql<SummaryRow>`
        with found as materialized (
          select message_id, tenant_id, created_at from messages
          where search @@ ${Parameter.text(tsqueryOf([...place, ...filtered]))}::tsquery
        ), page as materialized (
          select message_id from found where ${sql.and(conditions)}
          order by created_at desc, message_id desc limit ${Parameter.integer(limit)}
        )
        select ${summaryColumns} from messages where message_id = any(array(select message_id from page))
        order by created_at desc, message_id desc`
    })

    const makeSearchable = Effect.fnUntraced(function* (limit: number) {
      const rows = yield* sql<MessageRow>`
        select ${columns} from messages where search is null
        order by message_id limit ${Parameter.integer(limit)} for update skip locked`
      if (rows.length === 0) return 0
      yield* sql`
        update messages set search = ${searchOf("terms")}
        from unnest(
          ${Parameter.uuids(rows.map((row) => row.message_id))},
          ${Parameter.texts(rows.map((row) => messageTerms(toMessage(row)).join("\n")))}
        ) as given (message_id, terms)
        where messages.message_id = given.message_id`
      return rows.length
    })

    return MessageStore.of({
      insert: (messages) =>
        messages.length === 0
          ? Effect.succeed(new Set())
          : Effect.map(orDie(insert(messages)), (rows) => new Set(rows.map((row) => row.message_id))),
      find: (tenantId, messageId) =>
        Effect.map(
          orDie(sql<MessageRow>`
            select ${columns} from messages where message_id = ${Parameter.uuid(messageId)}`),
          Row.lookup(tenantId, toMessage)
        ),
      list: (tenantId, filter, after, limit) =>
        Effect.map(orDie(list(tenantId, filter, after, limit)), Row.all(toSummary)),
      makeSearchable: (limit) => transact(orDie(makeSearchable(limit))),
      findThreads: (mailboxIds, messageIdHeaders) =>
        Effect.map(
          orDie(sql<{ readonly mailbox_id: string; readonly thread_id: string }>`
            select distinct on (mailbox_id) mailbox_id, thread_id from messages
            where mailbox_id = any(${Parameter.uuids(mailboxIds)})
              and message_id_digest = any(${Parameter.byteStrings(messageIdHeaders.map(digest))})
            order by mailbox_id, created_at desc, message_id desc`),
          (rows) => new Map(rows.map((row) => [row.mailbox_id, row.thread_id]))
        ),
      findSuppressed: (tenantId, addresses) =>
        Effect.map(
          orDie(sql<{ readonly address: string }>`
            select address from suppressions
            where tenant_id = ${Parameter.uuid(tenantId)} and address = any(${Parameter.texts(addresses)})`),
          (rows) => rows.map((row) => row.address)
        ),
      findSent: (messageId) =>
        Effect.map(
          orDie(sql<SummaryRow>`
            select ${summaryColumns} from messages where message_id = ${Parameter.uuid(messageId)}`),
          (rows) => Option.filter(Row.first(toSummary)(rows), ({ direction }) => direction === "outbound")
        ),
      addReport: (report) => Effect.map(orDie(addReport(report)), Row.any),
      listReports: (messageId) =>
        Effect.map(
          orDie(sql<Table.Stored<typeof REPORTS>>`
            select ${sql.literal(REPORTS.columns)} from mail_reports
            where message_id = ${Parameter.uuid(messageId)} order by received_at, report_id`),
          Row.all(REPORTS.toRecord)
        ),
      setOutcome: (messageId, outcome) => orDie(setOutcome(messageId, outcome)),
      findSending: (tenantId) =>
        Effect.map(
          orDie(sql<Table.Stored<typeof SENDING>>`
            select ${sql.literal(SENDING.columns)} from mail_sending where tenant_id = ${Parameter.uuid(tenantId)}`),
          ([row]) => (row === undefined ? undefined : SENDING.toRecord(row))
        ),
      putSending: (tenantId, sending) =>
        orDie(
          Effect.asVoid(sql`
            insert into mail_sending ${Table.insert(sql, {
              tenant_id: Parameter.uuid(tenantId),
              ...Table.valuesOf(SENDING.fields, sending),
              bounced: Parameter.integer(0),
              complained: Parameter.integer(0)
            })}
            on conflict (tenant_id) do update set ${sql.literal(Table.replace(SENDING.fields))}`)
        ),
      suppress: (tenantId, addresses, reason) =>
        addresses.length === 0
          ? Effect.succeed([])
          : Effect.map(
              orDie(sql<{ readonly address: string }>`
                insert into suppressions (tenant_id, address, reason, created_at)
                select
                  ${Parameter.uuid(tenantId)}, address, ${Parameter.text(reason)},
                  ${now()}
                from unnest(${Parameter.texts(addresses)}) as address order by address
                on conflict do nothing returning address`),
              (rows) => rows.map(({ address }) => address)
            ),
      listSuppressions: (tenantId, after, limit) =>
        Effect.map(
          orDie(sql<Table.Stored<typeof SUPPRESSIONS>>`
            select ${sql.literal(SUPPRESSIONS.columns)} from suppressions
            where tenant_id = ${Parameter.uuid(tenantId)} and address collate "C" > ${Parameter.text(after ?? "")}
            order by address collate "C" limit ${Parameter.integer(limit)}`),
          Row.all(SUPPRESSIONS.toRecord)
        ),
      liftSuppression: (tenantId, address) =>
        Effect.map(
          orDie(sql`
            delete from suppressions
            where tenant_id = ${Parameter.uuid(tenantId)} and address = ${Parameter.text(address)} returning address`),
          Row.any
        ),
      addFeedback: (feedback, windowMillis) => transact(orDie(addFeedback(feedback, windowMillis))),
      clearFeedback: (tenantId) =>
        orDie(Effect.asVoid(sql`delete from mail_feedback where tenant_id = ${Parameter.uuid(tenantId)}`))
    })
  })
)
