import {
  type Lookup,
  type MessageMarks,
  type MessageSummary,
  PARTICIPANT_LIMIT,
  participantsOf,
  type Position,
  type Thread,
  type ThreadFilter,
  UNREAD
} from "@agentos/core"
import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import * as Parameter from "./Parameter.ts"
import * as Row from "./Row.ts"
import * as Table from "./Table.ts"

const THREADS = Table.table("threads", {
  threadId: Table.uuid("thread_id"),
  mailboxId: Table.uuid("mailbox_id"),
  subject: Table.text("subject"),
  snippet: Table.text("snippet"),
  participants: Table.textArray("participants"),
  messageCount: Table.integer("message_count"),
  unreadCount: Table.integer("unread_count"),
  hasAttachments: Table.boolean("has_attachments"),
  firstMessageAt: Table.moment("first_at"),
  lastMessageAt: Table.moment("last_at"),
  lastMessageId: Table.uuid("last_message_id")
})

/** The fields of a thread that describe its messages, without their counts. */
const {
  hasAttachments: _hasAttachments,
  mailboxId: _mailboxId,
  messageCount: _messageCount,
  threadId: _threadId,
  unreadCount: _unreadCount,
  ...DESCRIPTION
} = THREADS.fields

type ThreadRow = Table.Stored<typeof THREADS> & { readonly tenant_id: string; readonly labels: ReadonlyArray<string> }

const toThread = (row: ThreadRow): Thread => ({ ...THREADS.toRecord(row), labels: row.labels.toSorted() })

/** The columns from which the marks of a message are read. */
export interface MarksRow {
  /** Null for a message that an older server stored and that is in no thread yet. */
  readonly threaded: boolean | null
  readonly labels: ReadonlyArray<string>
}

/** Returns the marks of a message. One that is in no thread yet is unread if it was received. */
export const toMarks = (
  { labels, threaded }: MarksRow,
  { direction }: Pick<MessageSummary, "direction">
): MessageMarks => ({
  labels: labels.filter((label) => label !== UNREAD).toSorted(),
  unread: threaded === null ? direction === "inbound" : labels.includes(UNREAD)
})

/** The labels of messages as they are stored, as two lists of the same length. */
const storedLabels = (messages: Iterable<readonly [messageId: string, marks: MessageMarks]>) => {
  const pairs = [...messages].flatMap(([messageId, { labels, unread }]) =>
    [...labels, ...(unread ? [UNREAD] : [])].map((label) => ({ messageId, label }))
  )
  return {
    messageIds: Parameter.uuids(pairs.map(({ messageId }) => messageId)),
    labels: Parameter.texts(pairs.map(({ label }) => label))
  }
}

export interface ThreadKey {
  readonly thread_id: string
  readonly mailbox_id: string
}

/** The change of the number of messages with a label in a thread. */
export type LabelDelta = ThreadKey & { readonly label: string; readonly delta: number }

/** The statements on threads and labels, for the store of messages. */
export const make = (sql: SqlClient.SqlClient) => {
  /** The columns of `MarksRow` of the messages of this relation. */
  const marksOf = (relation: string): Statement.Fragment =>
    sql.literal(
      `${relation}.threaded, array(select label from message_labels where message_labels.message_id = ${relation}.message_id) as labels`
    )

  /** The first addresses of an array, each once, in their order. */
  const distinctOf = (addresses: string): Statement.Fragment =>
    sql.literal(
      `array(select address from unnest(${addresses}) with ordinality as named (address, place)
        where address <> '' group by address order by min(place) limit ${PARTICIPANT_LIMIT})`
    )

  /**
   * The rest of a statement after the CTE `stored` with new messages and its comma: the CTEs `marked` and `threaded`,
   * which add their labels and add them to their threads. `threaded` returns the threads.
   */
  const joinThreads = (messages: ReadonlyArray<MessageSummary>): Statement.Fragment => {
    const marks = storedLabels(messages.map((message) => [message.messageId, message]))
    return sql`
      described as materialized (
        select stored.message_id, stored.tenant_id, stored.mailbox_id, stored.thread_id, stored.created_at, subject, snippet,
          participants, has_attachments, unread
        from unnest(
          ${Parameter.uuids(messages.map(({ messageId }) => messageId))},
          ${Parameter.texts(messages.map(({ subject }) => subject))},
          ${Parameter.texts(messages.map(({ snippet }) => snippet))},
          ${Parameter.texts(messages.map((message) => participantsOf(message).join("\n")))},
          ${Parameter.booleans(messages.map(({ attachments }) => attachments.length > 0))},
          ${Parameter.booleans(messages.map(({ unread }) => unread))}
        ) as told (message_id, subject, snippet, participants, has_attachments, unread)
        join stored using (message_id)
      ), marked as (
        insert into message_labels (message_id, label, tenant_id, mailbox_id, created_at)
        select message_id, label, tenant_id, mailbox_id, created_at
        from unnest(${marks.messageIds}, ${marks.labels}) as given (message_id, label)
        join stored using (message_id)
        on conflict do nothing
      ), threaded as (
        insert into threads as kept (
          thread_id, mailbox_id, tenant_id, subject, snippet, participants, message_count, unread_count, has_attachments,
          first_at, last_at, last_message_id
        )
        select
          thread_id, mailbox_id, tenant_id, subject, snippet, ${distinctOf("participants")}, message_count, unread_count,
          has_attachments, first_at, last_at, last_message_id
        from (
          select
            thread_id, mailbox_id, tenant_id,
            (array_agg(subject order by created_at, message_id))[1] as subject,
            (array_agg(snippet order by created_at desc, message_id desc))[1] as snippet,
            string_to_array(string_agg(participants, E'\\n' order by created_at, message_id), E'\\n') as participants,
            count(*)::integer as message_count,
            count(*) filter (where unread)::integer as unread_count,
            bool_or(has_attachments) as has_attachments,
            min(created_at) as first_at,
            max(created_at) as last_at,
            (array_agg(message_id order by created_at desc, message_id desc))[1] as last_message_id
          from described group by thread_id, mailbox_id, tenant_id
        ) as added
        order by thread_id, mailbox_id
        on conflict (thread_id, mailbox_id) do update set
          subject = case when excluded.first_at < kept.first_at then excluded.subject else kept.subject end,
          participants = case
            when kept.participants @> excluded.participants then kept.participants
            else ${distinctOf("kept.participants || excluded.participants")}
          end,
          message_count = kept.message_count + excluded.message_count,
          unread_count = kept.unread_count + excluded.unread_count,
          has_attachments = kept.has_attachments or excluded.has_attachments,
          first_at = least(kept.first_at, excluded.first_at),
          (snippet, last_at, last_message_id) = (
            select later.* from (values
              (kept.snippet, kept.last_at, kept.last_message_id),
              (excluded.snippet, excluded.last_at, excluded.last_message_id)
            ) as later (snippet, last_at, last_message_id)
            order by last_at desc, last_message_id desc limit 1
          )
        returning thread_id, mailbox_id, labeled
      )`
  }

  /** Locks threads in the order in which `joinThreads` does. */
  const lockThreads = (threads: ReadonlyArray<ThreadKey>) => sql`
    select 1 from threads
    join (select * from unnest(${keysOf(threads)}) as given (thread_id, mailbox_id) order by 1, 2) as given
      using (thread_id, mailbox_id)
    order by thread_id, mailbox_id for update of threads`

  const keysOf = (threads: ReadonlyArray<ThreadKey>): Statement.Fragment =>
    sql`${Parameter.uuids(threads.map((key) => key.thread_id))}, ${Parameter.uuids(threads.map((key) => key.mailbox_id))}`

  /** Adds to the numbers of messages with labels, and sets the last activity of the threads beside each label. */
  const count = Effect.fnUntraced(function* (deltas: ReadonlyArray<LabelDelta>) {
    const counts = (chosen: ReadonlyArray<LabelDelta>) => Parameter.integers(chosen.map(({ delta }) => delta))
    const unread = deltas.filter(({ label }) => label === UNREAD)
    const labels = deltas.filter(({ label }) => label !== UNREAD)
    if (unread.length > 0) {
      yield* sql`
        update threads set unread_count = unread_count + given.delta
        from unnest(${keysOf(unread)}, ${counts(unread)}) as given (thread_id, mailbox_id, delta)
        where threads.thread_id = given.thread_id and threads.mailbox_id = given.mailbox_id`
    }
    if (labels.length === 0) return
    yield* sql`
      insert into thread_labels (thread_id, mailbox_id, label, tenant_id, message_count, last_at, last_message_id)
      select thread_id, mailbox_id, label, tenant_id, delta, last_at, last_message_id
      from unnest(${keysOf(labels)}, ${Parameter.texts(labels.map(({ label }) => label))}, ${counts(labels)})
        as given (thread_id, mailbox_id, label, delta)
      join threads using (thread_id, mailbox_id)
      on conflict (thread_id, mailbox_id, label) do update set
        message_count = thread_labels.message_count + excluded.message_count,
        last_at = excluded.last_at, last_message_id = excluded.last_message_id`
    yield* sql`
      delete from thread_labels using unnest(${keysOf(labels)}) as given (thread_id, mailbox_id)
      where thread_labels.thread_id = given.thread_id and thread_labels.mailbox_id = given.mailbox_id
        and message_count <= 0`
    yield* sql`
      update threads set labeled = exists (
        select 1 from thread_labels
        where thread_labels.thread_id = threads.thread_id and thread_labels.mailbox_id = threads.mailbox_id
      )
      from (select distinct * from unnest(${keysOf(labels)}) as given (thread_id, mailbox_id)) as given
      where threads.thread_id = given.thread_id and threads.mailbox_id = given.mailbox_id`
  })

  /** Updates the labels of threads after messages were added to them, or deleted. Rare: most threads have none. */
  const relabel = Effect.fnUntraced(function* (labeled: ReadonlyArray<ThreadKey>, changes: ReadonlyArray<LabelDelta>) {
    const before =
      labeled.length === 0
        ? []
        : yield* sql<ThreadKey & { readonly label: string }>`
            select thread_id, mailbox_id, label from thread_labels
            join unnest(${keysOf(labeled)}) as given (thread_id, mailbox_id) using (thread_id, mailbox_id)`
    const deltas = [...before.map((key) => ({ ...key, delta: 0 })), ...changes]
    const sums = new Map<string, LabelDelta>()
    for (const each of deltas) {
      const key = `${each.thread_id} ${each.mailbox_id} ${each.label}`
      sums.set(key, { ...each, delta: each.delta + (sums.get(key)?.delta ?? 0) })
    }
    yield* count([...sums.values()])
  })

  /** Replaces the labels of messages of the tenant, all of which are in threads. */
  const setMarks = Effect.fnUntraced(function* (tenantId: string, marks: ReadonlyMap<string, MessageMarks>) {
    const given = storedLabels(marks)
    const owned = yield* sql<ThreadKey>`
      select distinct thread_id, mailbox_id from messages
      where message_id = any(${Parameter.uuids([...marks.keys()])}) and tenant_id = ${Parameter.uuid(tenantId)}`
    yield* lockThreads(owned)
    const deltas = yield* sql<LabelDelta>`
      with owned as materialized (
        select message_id, tenant_id, mailbox_id, thread_id, created_at from messages
        where message_id = any(${Parameter.uuids([...marks.keys()])}) and tenant_id = ${Parameter.uuid(tenantId)}
      ), given as materialized (
        select message_id, label from unnest(${given.messageIds}, ${given.labels}) as pair (message_id, label)
      ), removed as (
        delete from message_labels
        where message_id = any(array(select message_id from owned))
          and not exists (
            select 1 from given
            where given.message_id = message_labels.message_id and given.label = message_labels.label
          )
        returning message_id, label
      ), added as (
        insert into message_labels (message_id, label, tenant_id, mailbox_id, created_at)
        select message_id, label, tenant_id, mailbox_id, created_at from given join owned using (message_id)
        order by message_id, label
        on conflict do nothing
        returning message_id, label
      )
      select thread_id, mailbox_id, label, sum(delta)::integer as delta
      from (select message_id, label, -1 as delta from removed union all select message_id, label, 1 from added) as changed
      join owned using (message_id)
      group by thread_id, mailbox_id, label having sum(delta) <> 0`
    yield* count(deltas)
  })

  /**
   * Replaces the description of a thread after messages of it were deleted; deletes the thread if none is left. `isWhole` is
   * false if the description is not of all messages.
   */
  const describe = Effect.fnUntraced(function* (key: ThreadKey, thread: Thread | undefined, isWhole: boolean) {
    const isThread = sql`thread_id = ${Parameter.uuid(key.thread_id)} and mailbox_id = ${Parameter.uuid(key.mailbox_id)}`
    if (thread === undefined) {
      yield* sql`delete from thread_labels where ${isThread}`
      yield* sql`delete from threads where ${isThread}`
      return
    }
    const kept = sql.literal(isWhole ? "false" : "has_attachments")
    yield* sql`
      update threads set ${Table.set(sql, Table.valuesOf(DESCRIPTION, thread))},
        has_attachments = ${kept} or ${Parameter.boolean(thread.hasAttachments)}
      where ${isThread}`
  })

  const threadColumns = sql`${sql.literal(THREADS.qualified)}, threads.tenant_id, array(
    select label from thread_labels
    where thread_labels.thread_id = threads.thread_id and thread_labels.mailbox_id = threads.mailbox_id
  ) as labels`

  /** Reads the threads, or those with a label, in the order of an index. */
  const list = (
    tenantId: string,
    { label, mailboxId, unread }: ThreadFilter,
    after: Position | undefined,
    limit: number
  ) => {
    const place = sql.literal(label === undefined ? "threads" : "thread_labels")
    const mailboxes = sql`select mailbox_id from mailboxes`
    const conditions = [
      ...(mailboxId === undefined
        ? [
            sql`${place}.tenant_id = ${Parameter.uuid(tenantId)}`,
            sql`exists (select 1 from mailboxes where mailboxes.mailbox_id = ${place}.mailbox_id)`
          ]
        : [
            sql`${place}.mailbox_id = (
              ${mailboxes} where mailbox_id = ${Parameter.uuid(mailboxId)} and tenant_id = ${Parameter.uuid(tenantId)}
            )`
          ]),
      ...(label === undefined ? [] : [sql`thread_labels.label = ${Parameter.text(label)}`]),
      ...(unread === undefined ? [] : [unread ? sql`threads.unread_count > 0` : sql`threads.unread_count = 0`]),
      ...(after === undefined
        ? []
        : [
            sql`(${place}.last_at, ${place}.last_message_id) <
              (${Parameter.integer(after.createdAt)}, ${Parameter.uuid(after.id)})`
          ])
    ]
    const from =
      label === undefined
        ? sql.literal("threads")
        : sql.literal("thread_labels join threads using (thread_id, mailbox_id)")
    return sql<ThreadRow>`
      select ${threadColumns} from ${from} where ${sql.and(conditions)}
      order by ${place}.last_at desc, ${place}.last_message_id desc limit ${Parameter.integer(limit)}`
  }

  const find = (threadId: string, mailboxId: string | undefined) => {
    const conditions = [
      sql`thread_id = ${Parameter.uuid(threadId)}`,
      ...(mailboxId === undefined ? [] : [sql`mailbox_id = ${Parameter.uuid(mailboxId)}`])
    ]
    return sql<ThreadRow>`
      select ${threadColumns} from threads where ${sql.and(conditions)} order by first_at, mailbox_id limit 1`
  }

  return {
    marksOf,
    joinThreads,
    lockThreads,
    describe,
    relabel,
    setMarks,
    list: (...request: Parameters<typeof list>) => Row.all(toThread)(list(...request)),
    find: (tenantId: string, threadId: string, mailboxId: string | undefined): Effect.Effect<Lookup.Lookup<Thread>> =>
      Row.lookup(tenantId, toThread)(find(threadId, mailboxId))
  }
}
