import {
  BLANK_CONTENT,
  type Contact,
  type DeliveryReport,
  type Feedback,
  filterTerms,
  Lookup,
  type Message,
  type OldRows,
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
  type TenantId,
  term,
  threadOf,
  UNREAD
} from "@agentos/core"
import { Effect, Layer, Option } from "effect"
import type { Statement } from "effect/sql"
import { createHash } from "node:crypto"
import { storeClock } from "./ClockOffset.ts"
import { Database } from "./Database.ts"
import { orDie } from "./DatabaseFailure.ts"
import { make as makeThreads, type MarksRow, type ThreadKey, toMarks } from "./MessageThreads.ts"
import * as Parameter from "./Parameter.ts"
import { inScope } from "./Retention.ts"
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
type Columns = "messageId" | "tenantId" | "mailboxId" | "threadId" | "createdAt" | "labels" | "unread"
type StoredSummary = Omit<MessageSummary, Columns>
type StoredBody = Pick<Message, "text" | "html" | "extractedText" | "links">

const { automatic, mailingList, replyTo, truncated } = BLANK_CONTENT
/** The fields that older versions did not write, apart from names, and the values that are read for them. */
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

type SummaryRow = Table.Stored<typeof SUMMARIES> & MarksRow
type MessageRow = Table.Stored<typeof MESSAGES> & MarksRow

const toSummary = (row: SummaryRow): MessageSummary => {
  const { summary, ...message } = SUMMARIES.toRecord(row)
  return { ...message, ...summary, ...toMarks(row, summary) }
}

const toMessage = (row: MessageRow): Message => {
  const { body, summary, ...message } = MESSAGES.toRecord(row)
  return { ...message, ...summary, ...toMarks(row, summary), extractedText: null, ...body }
}

const toStored = (message: Message): { readonly summary: string; readonly body: string } => {
  const {
    createdAt: _1,
    extractedText,
    html,
    labels: _2,
    links,
    mailboxId: _3,
    messageId: _4,
    tenantId: _5,
    text,
    threadId: _6,
    unread: _7,
    ...rest
  } = message
  const summary: StoredSummary = rest
  const body: StoredBody = { text, html, extractedText, ...(links === undefined ? {} : { links }) }
  return { summary: JSON.stringify(summary), body: JSON.stringify(body) }
}

const digest = (text: string): Uint8Array => createHash("sha256").update(text).digest()
const digestOrNull = (text: string | null): Uint8Array | null => (text === null ? null : digest(text))

/** The labels that the messages of a filter have. The first one is the rarest, as far as is known. */
const labelsOf = ({ label, unread }: MessageFilter): ReadonlyArray<string> => [
  ...(label === undefined ? [] : [label]),
  ...(unread === true ? [UNREAD] : [])
]

/** The messages of a thread that describe it, oldest first, after others were deleted. Few threads have more. */
const DESCRIBED_MAX = 100

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
    const threads = makeThreads(sql)
    const summaryColumns = sql`${sql.literal(SUMMARIES.columns)}, ${threads.marksOf("messages")}`
    const columns = sql`${sql.literal(MESSAGES.columns)}, ${threads.marksOf("messages")}`

    /**
     * Waits for a mailbox that is being removed, and then finds it gone; an existing mailbox stays until the
     * insert ends. Of two copies in one call, the first is stored.
     */
    const insertAll = (messages: ReadonlyArray<NewMessage>) => {
      const stored = messages.map(({ message }) => toStored(message))
      const ids = (of: (message: Message) => string) => Parameter.uuids(messages.map(({ message }) => of(message)))
      return sql<{
        readonly message_id: string
        readonly thread_id: string
        readonly mailbox_id: string
        readonly labeled: boolean
      }>`
        with mailbox as materialized (
          select mailbox_id, tenant_id from mailboxes where mailbox_id = any(${ids((message) => message.mailboxId)})
          order by mailbox_id for key share
        ), stored as (
        insert into messages (
          message_id, tenant_id, mailbox_id, thread_id, message_id_digest, duplicate_key, inbound_mail_id, created_at,
          size_bytes, summary, body, search, threaded
        )
        select
          given.message_id, given.tenant_id, given.mailbox_id, thread_id, message_id_digest, duplicate_key,
          inbound_mail_id, created_at, size_bytes, summary, body, ${searchOf("terms")}, true
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
        returning message_id, tenant_id, mailbox_id, thread_id, created_at, size_bytes
        ), counted as (
          update mailboxes set message_count = message_count + added.messages, stored_bytes = stored_bytes + added.bytes
          from (
            select mailbox_id, count(*) as messages, sum(size_bytes)::bigint as bytes from stored group by mailbox_id
          ) as added
          where mailboxes.mailbox_id = added.mailbox_id
        ), ${threads.joinThreads(messages.map(({ message }) => message))}
        select message_id, thread_id, mailbox_id, labeled from stored join threaded using (thread_id, mailbox_id)`
    }

    const insert = Effect.fnUntraced(function* (messages: ReadonlyArray<NewMessage>) {
      const rows = yield* insertAll(messages)
      const inserted = new Set(rows.map((row) => row.message_id))
      const labeled = rows.filter((row) => row.labeled)
      const added = messages
        .filter(({ message }) => inserted.has(message.messageId))
        .flatMap(({ message: { labels, mailboxId, threadId } }) =>
          labels.map((label) => ({ thread_id: threadId, mailbox_id: mailboxId, label, delta: 1 }))
        )
      if (labeled.length + added.length > 0) yield* threads.relabel(labeled, added)
      return inserted
    })

    /** Adds messages to their threads that are in none, except those of a mailbox that is being removed. */
    const addToThreads = Effect.fnUntraced(function* (chosen: Statement.Fragment) {
      const rows = yield* sql<SummaryRow>`
        select ${summaryColumns} from messages where threaded is null and ${chosen}`
      if (rows.length === 0) return 0
      yield* sql`
        with stored as (
          update messages set threaded = true where message_id = any(${Parameter.uuids(rows.map((row) => row.message_id))})
          returning message_id, tenant_id, mailbox_id, thread_id, created_at
        ), ${threads.joinThreads(rows.map(toSummary))}
        select 1 from threaded`
      return rows.length
    })

    /** True for a message without retries. The subquery is read by key, whatever the planner expects. */
    const isAtRest = sql`coalesce((
      select false from message_retries where message_retries.message_id = messages.message_id
    ), true)`

    /** The first condition selects the index `messages_oldest`. */
    const findOld = ({ age, limit, ...scope }: OldRows) => sql<Pick<SummaryRow, "message_id" | "tenant_id">>`
      select message_id, tenant_id from messages
      where message_id <> mailbox_id and created_at <= (select ${now()}) - ${Parameter.integer(age)} and ${isAtRest}
        ${inScope(sql, scope)}
      order by created_at, message_id limit ${Parameter.integer(limit)}`

    /** Describes a thread by its messages, all of which are read unless there are too many. */
    const describe = Effect.fnUntraced(function* (key: ThreadKey) {
      const read = (order: string, limit: number) => sql<SummaryRow>`
        select ${summaryColumns} from messages
        where thread_id = ${Parameter.uuid(key.thread_id)} and mailbox_id = ${Parameter.uuid(key.mailbox_id)} and threaded
        order by created_at ${sql.literal(order)}, message_id ${sql.literal(order)} limit ${Parameter.integer(limit)}`
      const oldest = yield* read("asc", DESCRIBED_MAX)
      const isWhole = oldest.length < DESCRIBED_MAX
      const left = isWhole ? oldest : [...oldest, ...(yield* read("desc", 1))]
      yield* threads.describe(key, left.length === 0 ? undefined : threadOf(left.map(toSummary)), isWhole)
    })

    /**
     * Locks the raw mails like `MailboxStore.remove`, then the messages and their threads in the order of `addToThreads`.
     * No message is added to a thread that is described.
     */
    const remove = Effect.fnUntraced(function* (tenantId: string, messageIds: ReadonlyArray<string>) {
      const chosen = sql`message_id = any(${Parameter.uuids(messageIds)}) and tenant_id = ${Parameter.uuid(tenantId)}`
      yield* sql`
        select 1 from inbound_mails
        where inbound_mail_id = any(array(select inbound_mail_id from messages where ${chosen}))
        order by inbound_mail_id for update`
      yield* threads.lockThreads(
        yield* sql<ThreadKey>`
          select thread_id, mailbox_id from messages where ${chosen} order by message_id for update`
      )
      const removed = yield* sql<
        ThreadKey & {
          readonly inbound_mail_id: string | null
          readonly is_threaded: boolean
          readonly labels: ReadonlyArray<string>
        }
      >`
        with removed as (
          delete from messages where ${chosen} and ${isAtRest}
          returning message_id, mailbox_id, thread_id, inbound_mail_id, size_bytes, coalesce(threaded, false) as is_threaded
        ), detached as (
          delete from sent_attachments where message_id = any(array(select message_id from removed))
        ), unreported as (
          delete from mail_reports where message_id = any(array(select message_id from removed))
        ), unlabeled as (
          delete from message_labels where message_id = any(array(select message_id from removed))
          returning message_id, label
        ), counted as (
          update mailboxes set message_count = message_count - taken.messages, stored_bytes = stored_bytes - taken.bytes
          from (
            select mailbox_id, count(*) as messages, sum(size_bytes)::bigint as bytes from removed group by mailbox_id
          ) as taken
          where mailboxes.mailbox_id = taken.mailbox_id
        ), shortened as (
          update threads set message_count = message_count - taken.messages
          from (
            select thread_id, mailbox_id, count(*) as messages from removed where is_threaded group by thread_id, mailbox_id
          ) as taken
          where threads.thread_id = taken.thread_id and threads.mailbox_id = taken.mailbox_id
        )
        select thread_id, mailbox_id, inbound_mail_id, is_threaded, coalesce(labels, '{}') as labels
        from removed
        left join (select message_id, array_agg(label) as labels from unlabeled group by message_id) as marks
          using (message_id)`
      const mails = removed.flatMap(({ inbound_mail_id: id }) => id ?? [])
      yield* sql`
        delete from inbound_mails where inbound_mail_id = any(${Parameter.uuids(mails)}) and completed
          and not exists (select 1 from messages where messages.inbound_mail_id = inbound_mails.inbound_mail_id)`
      const shortened = removed.filter((row) => row.is_threaded)
      const keys = Map.groupBy(shortened, (row) => `${row.thread_id} ${row.mailbox_id}`)
      for (const [first] of keys.values()) yield* describe(first!)
      yield* threads.relabel(
        shortened,
        shortened.flatMap(({ labels, mailbox_id, thread_id }) =>
          labels.map((label) => ({ thread_id, mailbox_id, label, delta: -1 }))
        )
      )
      return removed.length
    })

    const findMarks = (messageIds: ReadonlyArray<string>) => sql<
      MarksRow & Pick<SummaryRow, "message_id" | "tenant_id" | "summary">
    >`
      select message_id, tenant_id, summary, ${threads.marksOf("messages")} from messages
      where message_id = any(${Parameter.uuids(messageIds)})`

    const setMarks = Effect.fnUntraced(function* (
      tenantId: string,
      marks: Parameters<MessageStore["Service"]["setMarks"]>[1]
    ) {
      if (marks.size === 0) return
      yield* addToThreads(sql`message_id = any(${Parameter.uuids([...marks.keys()])}) order by message_id for update`)
      yield* threads.setMarks(tenantId, marks)
    })

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

    /** Returns the condition on the mailbox, or on the tenant. */
    const ownedBy = (tenantId: string, { mailboxId }: MessageFilter) =>
      mailboxId === undefined
        ? sql`tenant_id = ${Parameter.uuid(tenantId)}`
        : sql`mailbox_id = (
            select mailbox_id from mailboxes
            where mailbox_id = ${Parameter.uuid(mailboxId)} and tenant_id = ${Parameter.uuid(tenantId)}
          )`

    /** Returns the conditions on labels of the messages of a relation, except that they have the label `but`. */
    const labelConditions = (relation: string, filter: MessageFilter, but?: string) => {
      const has = (label: string) => sql`exists (
        select 1 from message_labels as other
        where other.message_id = ${sql.literal(relation)}.message_id and other.label = ${Parameter.text(label)}
      )`
      return [
        ...labelsOf(filter)
          .filter((label) => label !== but)
          .map(has),
        ...(filter.unread === false ? [sql`not ${has(UNREAD)}`] : [])
      ]
    }

    /** Reads the messages of a mailbox or of the tenant in the order of their index, or in that of their labels. */
    const inOrder = (
      tenantId: string,
      filter: MessageFilter,
      after: Position | undefined,
      columns: Statement.Fragment,
      limit: number
    ) => {
      const [label] = labelsOf(filter)
      const conditions = [ownedBy(tenantId, filter), ...timeConditions(filter, after)]
      if (label === undefined) {
        return sql<SummaryRow>`
          select ${columns} from messages where ${sql.and([...conditions, ...labelConditions("messages", filter)])}
          order by created_at desc, message_id desc limit ${Parameter.integer(limit)}`
      }
      const labeled = [
        ...conditions,
        sql`label = ${Parameter.text(label)}`,
        ...labelConditions("message_labels", filter, label)
      ]
      return sql<SummaryRow>`
        select ${columns} from messages where message_id = any(array(
          select message_id from message_labels where ${sql.and(labeled)}
          order by created_at desc, message_id desc limit ${Parameter.integer(limit)}
        ))
        order by created_at desc, message_id desc`
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
        select ${sql.literal(SUMMARIES.columns)}, ${threads.marksOf("newest")} from (
          ${inOrder(tenantId, filter, after, sql.literal("*"), NEWEST)}
        ) as newest
        where search @@ ${query} order by created_at desc, message_id desc limit ${Parameter.integer(limit)}`
      if (newest.length === limit) return newest
      const { mailboxId } = filter
      const place = [term.tenant(tenantId), ...(mailboxId === undefined ? [] : [term.mailbox(mailboxId)])]
      const conditions = [
        sql`tenant_id = ${Parameter.uuid(tenantId)}`,
        ...timeConditions(filter, after),
        ...labelConditions("found", filter)
      ]
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

    /** Reads the messages in the order of their index on threads. No other column restricts them where it is chosen. */
    const listThread = (
      tenantId: string,
      { mailboxId, threadId }: { readonly mailboxId: string; readonly threadId: string },
      after: Position | undefined,
      limit: number
    ) => {
      const conditions = [
        sql`thread_id = ${Parameter.uuid(threadId)}`,
        ...(after === undefined
          ? []
          : [sql`(created_at, message_id) > (${Parameter.integer(after.createdAt)}, ${Parameter.uuid(after.id)})`])
      ]
      return sql<SummaryRow>`
        select ${summaryColumns} from messages where message_id = any(array(
          select message_id from (
            select message_id, tenant_id, mailbox_id, created_at from messages where ${sql.and(conditions)}
            order by created_at, message_id offset 0
          ) as thread
          where mailbox_id = ${Parameter.uuid(mailboxId)} and tenant_id = ${Parameter.uuid(tenantId)}
          order by created_at, message_id limit ${Parameter.integer(limit)}
        ))
        order by created_at, message_id`
    }

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
      insert: (messages) => (messages.length === 0 ? Effect.succeed(new Set()) : transact(orDie(insert(messages)))),
      find: (tenantId, messageId) =>
        Row.lookup(
          tenantId,
          toMessage
        )(sql<MessageRow>`
            select ${columns} from messages where message_id = ${Parameter.uuid(messageId)}`),
      list: (tenantId, filter, after, limit) => Row.all(toSummary)(list(tenantId, filter, after, limit)),
      makeSearchable: (limit) => transact(orDie(makeSearchable(limit))),
      addToThreads: (limit) =>
        transact(
          orDie(addToThreads(sql`true order by message_id limit ${Parameter.integer(limit)} for update skip locked`))
        ),
      findOld: (old) =>
        Effect.map(orDie(findOld(old)), (rows) =>
          rows.map((row) => ({ messageId: row.message_id, tenantId: row.tenant_id }))
        ),
      remove: (tenantId, messageIds) => transact(orDie(remove(tenantId, messageIds))),
      findMarks: (tenantId, messageIds) =>
        Effect.map(
          orDie(findMarks(messageIds)),
          (rows) =>
            new Map(
              rows.map((row) => [
                row.message_id,
                row.tenant_id === tenantId ? Lookup.owned(toMarks(row, parseSummary(row.summary))) : Lookup.foreign
              ])
            )
        ),
      setMarks: (tenantId, marks) => transact(orDie(setMarks(tenantId, marks))),
      listThreads: (...request) => threads.list(...request),
      findThread: (...request) => threads.find(...request),
      listThread: (...request) => Row.all(toSummary)(listThread(...request)),
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
          Row.first(toSummary)(sql<SummaryRow>`
            select ${summaryColumns} from messages where message_id = ${Parameter.uuid(messageId)}`),
          Option.filter(({ direction }) => direction === "outbound")
        ),
      addReport: (report) => Row.any(addReport(report)),
      listReports: (messageId) =>
        Row.all(REPORTS.toRecord)(sql<Table.Stored<typeof REPORTS>>`
          select ${sql.literal(REPORTS.columns)} from mail_reports
          where message_id = ${Parameter.uuid(messageId)} order by received_at, report_id`),
      setOutcome: (messageId, outcome) => orDie(setOutcome(messageId, outcome)),
      findSending: (tenantId) =>
        Effect.map(
          orDie(sql<Table.Stored<typeof SENDING>>`
            select ${sql.literal(SENDING.columns)} from mail_sending where tenant_id = ${Parameter.uuid(tenantId)}`),
          ([row]) => (row === undefined ? undefined : SENDING.toRecord(row))
        ),
      listPaused: (limit) =>
        Effect.map(
          orDie(sql<Table.Stored<typeof SENDING> & { readonly tenant_id: TenantId }>`
            select tenant_id, ${sql.literal(SENDING.columns)} from mail_sending
            where paused_until > ${now()}
            order by paused_until limit ${Parameter.integer(limit)}`),
          (rows) =>
            rows.flatMap((row) => {
              const { pause } = SENDING.toRecord(row)
              return pause === null ? [] : [{ tenantId: row.tenant_id, pause }]
            })
        ),
      putSending: (tenantId, sending) =>
        Row.run(sql`
          insert into mail_sending ${Table.insert(sql, {
            tenant_id: Parameter.uuid(tenantId),
            ...Table.valuesOf(SENDING.fields, sending),
            bounced: Parameter.integer(0),
            complained: Parameter.integer(0)
          })}
          on conflict (tenant_id) do update set ${sql.literal(Table.replace(SENDING.fields))}`),
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
        Row.all(SUPPRESSIONS.toRecord)(sql<Table.Stored<typeof SUPPRESSIONS>>`
          select ${sql.literal(SUPPRESSIONS.columns)} from suppressions
          where tenant_id = ${Parameter.uuid(tenantId)} and address collate "C" > ${Parameter.text(after ?? "")}
          order by address collate "C" limit ${Parameter.integer(limit)}`),
      liftSuppression: (tenantId, address) =>
        Row.any(sql`
          delete from suppressions
          where tenant_id = ${Parameter.uuid(tenantId)} and address = ${Parameter.text(address)} returning address`),
      liftBounces: (lifted) =>
        lifted.length === 0
          ? Effect.void
          : Row.run(sql`
            delete from suppressions using unnest(
              ${Parameter.uuids(lifted.map(({ tenantId }) => tenantId))},
              ${Parameter.texts(lifted.map(({ address }) => address))}
            ) as given (tenant_id, address)
            where suppressions.tenant_id = given.tenant_id and suppressions.address = given.address
              and suppressions.reason = 'bounced'`),
      addFeedback: (feedback, windowMillis) => transact(orDie(addFeedback(feedback, windowMillis))),
      clearFeedback: (tenantId) => Row.run(sql`delete from mail_feedback where tenant_id = ${Parameter.uuid(tenantId)}`)
    })
  })
)
