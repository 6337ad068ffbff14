import {
  type CountedMail,
  type InboundEnvelope,
  type InboundMail,
  InboundMailStore,
  type MailLease,
  type QueuedMail,
  type QueuedMailQuery,
  type RawPart,
  type WaitingMail
} from "@agentos/core"
import { Array, Effect, Layer, Option, Stream } from "effect"
import type { Statement } from "effect/sql"
import { storeClock } from "./ClockOffset.ts"
import { Database } from "./Database.ts"
import { orDie } from "./DatabaseFailure.ts"
import * as Parameter from "./Parameter.ts"
import * as Row from "./Row.ts"
import * as Table from "./Table.ts"

/** The beginning of the envelopes from a network. They are compared as text, because the rest is a stranger's. */
const networkPrefix = (network: string): string => `{"network":${JSON.stringify(network)},`

const toEnvelopeText = ({ network, ...envelope }: InboundEnvelope): string => JSON.stringify({ network, ...envelope })

const MAILS = Table.table("inbound_mails", {
  inboundMailId: Table.uuid("inbound_mail_id"),
  envelope: Table.asText<InboundEnvelope>(JSON.parse, toEnvelopeText).column("envelope"),
  sizeBytes: Table.long("size_bytes"),
  receivedAt: Table.moment("received_at"),
  attempts: Table.integer("attempts"),
  replayedAfter: Table.integerOrNull("replayed_after")
})

type InboundMailRow = Table.Stored<typeof MAILS>

interface QueuedRow extends InboundMailRow {
  readonly mailbox_ids: ReadonlyArray<string>
  readonly failure: string | null
  readonly is_held: boolean
  readonly due_at: bigint
}

const toQueued = (row: QueuedRow): QueuedMail => {
  const { replayedAfter: _, ...mail } = MAILS.toRecord(row)
  const { due_at, failure, is_held, mailbox_ids } = row
  return { ...mail, mailboxIds: mailbox_ids, failure, isLeased: is_held, dueAt: Row.toMoment(due_at) }
}

interface LeasedRow extends InboundMailRow {
  readonly failed_attempt: number | null
}

const toWaitingMail = (row: LeasedRow): WaitingMail => ({ ...MAILS.toRecord(row), failedAttempt: row.failed_attempt })

const compare = (a: WaitingMail, b: WaitingMail): number =>
  a.receivedAt - b.receivedAt || (a.inboundMailId < b.inboundMailId ? -1 : 1)

/** The size of a stored piece. Stored mail is read by this size, so it must never change. */
const PIECE_BYTES = 256 * 1024

/** Pieces of a mail that are written at the same time, so that they share the flushes of their commits. */
const PIECES_AT_ONCE = 4

const pieceOf = (raw: Uint8Array, position: number): Uint8Array =>
  raw.subarray(position * PIECE_BYTES, (position + 1) * PIECE_BYTES)

export const layer: Layer.Layer<InboundMailStore, never, Database> = Layer.effect(
  InboundMailStore,
  Effect.gen(function* () {
    const { sql, transact } = yield* Database
    const { clock, now } = yield* storeClock
    const sizeBytes = sql.literal("coalesce(inbound_mails.size_bytes, octet_length(inbound_mails.raw))")

    /** Adds mails to the counts of their mailboxes, each mailbox once. */
    const counting = (mails: ReadonlyArray<CountedMail>, isCounted: Statement.Fragment) => {
      const counted = mails.flatMap(({ mail, mailboxIds }) =>
        [...new Set(mailboxIds)].map((mailboxId) => ({ mail, mailboxId }))
      )
      return sql`
        update mailboxes set message_count = message_count + added.messages, stored_bytes = stored_bytes + added.bytes
        from (
          select mailbox_id, count(*) as messages, sum(size_bytes)::bigint as bytes
          from unnest(
            ${Parameter.uuids(counted.map(({ mail }) => mail.inboundMailId))},
            ${Parameter.uuids(counted.map(({ mailboxId }) => mailboxId))},
            ${Parameter.integers(counted.map(({ mail }) => mail.raw.length))}
          ) as each (inbound_mail_id, mailbox_id, size_bytes)
          where ${isCounted} group by mailbox_id
        ) as added
        where mailboxes.mailbox_id = added.mailbox_id`
    }

    /** The ids of the mailboxes in which each mail counts, as text of an array, since arrays of a row differ in length. */
    const mailboxIdsOf = (mails: ReadonlyArray<CountedMail>) =>
      Parameter.texts(mails.map(({ mailboxIds }) => `{${mailboxIds.join(",")}}`))

    /** The leases with which mails are added, in milliseconds. */
    const leasesOf = (mails: ReadonlyArray<CountedMail>) =>
      Parameter.integers(mails.map(({ leaseMillis }) => leaseMillis ?? null))

    const insert = (mails: ReadonlyArray<CountedMail>, isStaged: boolean) => {
      const all = mails.map(({ mail }) => mail)
      return sql`
        with counted as (${counting(mails, sql.literal("true"))})
        insert into inbound_mails (
          inbound_mail_id, envelope, raw, size_bytes, received_at, attempts, counted_mailbox_ids, staged, leased_until
        )
        select
          inbound_mail_id, envelope, raw, size_bytes, received_at, attempts, mailbox_ids::uuid[],
          ${Parameter.boolean(isStaged)}, ${isStaged ? Parameter.integer(Number.MAX_SAFE_INTEGER) : sql`${now()} + lease`}
        from unnest(
          ${Parameter.uuids(all.map(({ inboundMailId }) => inboundMailId))},
          ${Parameter.texts(all.map(({ envelope }) => toEnvelopeText(envelope)))},
          ${Parameter.byteStrings(all.map(({ raw }) => pieceOf(raw, 0)))},
          ${Parameter.integers(all.map(({ raw }) => raw.length))},
          ${Parameter.integers(all.map(({ receivedAt }) => receivedAt))},
          ${Parameter.integers(all.map(({ attempts }) => attempts))},
          ${mailboxIdsOf(mails)},
          ${leasesOf(mails)}
        ) as given (inbound_mail_id, envelope, raw, size_bytes, received_at, attempts, mailbox_ids, lease)`
    }

    /** True for a mail that waits and was not leased again. */
    const isWaiting = ({ attempts, inboundMailId }: MailLease) =>
      sql`inbound_mail_id = ${Parameter.uuid(inboundMailId)} and attempts = ${Parameter.integer(attempts)} and not completed`

    const isLarge = ({ raw }: InboundMail): boolean => raw.length > PIECE_BYTES

    const stage = Effect.fnUntraced(function* (mail: InboundMail) {
      yield* insert([{ mail, mailboxIds: [] }], true)
      const last = Math.ceil(mail.raw.length / PIECE_BYTES) - 1
      yield* Effect.forEach(
        Array.range(1, last),
        (position) =>
          Effect.andThen(
            sql`
              insert into inbound_mail_pieces (inbound_mail_id, position, bytes) values (
                ${Parameter.uuid(mail.inboundMailId)}, ${Parameter.integer(position)},
                ${Parameter.bytes(pieceOf(mail.raw, position))}
              )`,
            // An embedded database answers without yielding to the event loop, so writing the pieces would block all
            // else.
            Effect.yieldNow
          ),
        { concurrency: PIECES_AT_ONCE, discard: true }
      )
    })

    /** Turns staged mails into waiting ones, and returns their ids. */
    const addStaged = (mails: ReadonlyArray<CountedMail>) =>
      Effect.map(
        sql<Pick<InboundMailRow, "inbound_mail_id">>`
          with added as (
            update inbound_mails set
              staged = false, leased_until = ${now()} + lease, attempts = given.attempts,
              counted_mailbox_ids = mailbox_ids::uuid[]
            from unnest(
              ${Parameter.uuids(mails.map(({ mail }) => mail.inboundMailId))}, ${mailboxIdsOf(mails)}, ${leasesOf(mails)},
              ${Parameter.integers(mails.map(({ mail }) => mail.attempts))}
            ) as given (inbound_mail_id, mailbox_ids, lease, attempts)
            where inbound_mails.inbound_mail_id = given.inbound_mail_id and staged
            returning inbound_mails.inbound_mail_id
          ), counted as (${counting(mails, sql.literal("inbound_mail_id in (select inbound_mail_id from added)"))})
          select inbound_mail_id from added`,
        (rows) => new Set(rows.map((row) => row.inbound_mail_id))
      )

    const addLarge = Effect.fnUntraced(function* (mails: ReadonlyArray<CountedMail>) {
      const added = yield* addStaged(mails)
      const others = mails.filter(({ mail }) => !added.has(mail.inboundMailId))
      if (others.length === 0) return
      yield* Effect.forEach(others, ({ mail }) => stage(mail), { discard: true })
      yield* addStaged(others)
    })

    const add = Effect.fnUntraced(function* (mails: ReadonlyArray<CountedMail>) {
      const large = mails.filter(({ mail }) => isLarge(mail))
      const small = mails.filter(({ mail }) => !isLarge(mail))
      if (small.length > 0) yield* insert(small, false)
      if (large.length > 0) yield* addLarge(large)
    })

    const lease = (limit: number, leaseMillis: number, exceptNetworks: ReadonlyArray<string>) => sql<LeasedRow>`
      with ${clock()}, waiting as materialized (
        select inbound_mail_id from inbound_mails
        where not completed and not staged and (leased_until is null or leased_until <= (select now from clock))
          and not (envelope ^@ any(${Parameter.texts(exceptNetworks.map(networkPrefix))}))
        order by received_at, inbound_mail_id limit ${Parameter.integer(limit)}
        for update skip locked
      )
      update inbound_mails set
        attempts = attempts + 1, leased_until = (select now from clock) + ${Parameter.integer(leaseMillis)}
      from waiting where inbound_mails.inbound_mail_id = waiting.inbound_mail_id
      returning inbound_mails.inbound_mail_id, envelope, ${sizeBytes} as size_bytes, received_at, attempts, replayed_after,
        failed_attempt`

    /** True while a worker holds the lease of a mail: one that was postponed has the time of its next attempt there. */
    const isHeld = sql`(
      coalesce(leased_until > (select now from clock), false) and failed_attempt is distinct from attempts
    )`

    const queued = (condition: Statement.Fragment, limit: number) =>
      Row.all(toQueued)(sql<QueuedRow>`
        with ${clock()}, waiting as materialized (
          select inbound_mail_id from inbound_mails where not completed and not staged and ${condition}
        )
        select
          inbound_mail_id, envelope, ${sizeBytes} as size_bytes, received_at, attempts, replayed_after, failure,
          counted_mailbox_ids as mailbox_ids, ${isHeld} as is_held, coalesce(leased_until, received_at) as due_at
        from inbound_mails where inbound_mail_id = any(array(
          select inbound_mail_id from waiting order by inbound_mail_id limit ${Parameter.integer(limit)}
        ))
        order by inbound_mail_id`)

    const listQueued = ({ after, age, hasFailed, limit, mailboxId, tenantId }: QueuedMailQuery) => {
      const parts: Array<Statement.Fragment> = [sql`true`]
      if (hasFailed !== undefined) parts.push(sql`(failure is not null) = ${Parameter.boolean(hasFailed)}`)
      if (mailboxId !== undefined) parts.push(sql`${Parameter.uuid(mailboxId)} = any(counted_mailbox_ids)`)
      if (tenantId !== undefined) {
        const owned = sql`select mailbox_id from mailboxes where tenant_id = ${Parameter.uuid(tenantId)}`
        parts.push(sql`counted_mailbox_ids && array(${owned})`)
      }
      if (age !== undefined) parts.push(sql`received_at <= (select now from clock) - ${Parameter.integer(age)}`)
      if (after !== undefined) parts.push(sql`inbound_mail_id > ${Parameter.uuid(after)}`)
      return queued(sql.and(parts), limit)
    }

    const unheld = (inboundMailId: string) => sql`
      inbound_mail_id = ${Parameter.uuid(inboundMailId)} and not completed and not staged and not ${isHeld}`

    const replay = (inboundMailId: string) => sql`
      with ${clock()}
      update inbound_mails set leased_until = (select now from clock), replayed_after = attempts
      where ${unheld(inboundMailId)} returning inbound_mail_id`

    /**
     * A value of storage `external` is not compressed, so that the server reads only the requested piece
     * (PostgreSQL manual, "TOAST").
     */
    const readFrom = (inboundMailId: string, first: number): Stream.Stream<Uint8Array> =>
      Stream.paginate(first, (position) =>
        Effect.map(
          orDie(sql<{ readonly piece: Uint8Array }>`
            select coalesce(
              (
                select bytes from inbound_mail_pieces
                where inbound_mail_id = mail.inbound_mail_id and position = ${Parameter.integer(position)}
              ),
              substring(
                raw from ${Parameter.integer(position * PIECE_BYTES + 1)}::int for ${Parameter.integer(PIECE_BYTES)}::int
              )
            ) as piece
            from inbound_mails as mail where inbound_mail_id = ${Parameter.uuid(inboundMailId)}`),
          ([row]) => {
            const piece = row?.piece ?? new Uint8Array()
            const isLast = piece.length < PIECE_BYTES
            return [[piece], isLast ? Option.none() : Option.some(position + 1)]
          }
        )
      )

    /** Skips the beginning of the first piece that contains the part, and what follows the part. */
    const readPart = (inboundMailId: string, { bytes, offset }: RawPart): Stream.Stream<Uint8Array> => {
      const first = Math.floor(offset / PIECE_BYTES)
      return readFrom(inboundMailId, first).pipe(
        Stream.mapAccum(
          () => first * PIECE_BYTES,
          (start, piece) => {
            const taken = piece.subarray(Math.max(0, offset - start), Math.max(0, offset + bytes - start))
            return [start + piece.length, [taken]] as const
          }
        ),
        Stream.take(Math.ceil((offset + bytes) / PIECE_BYTES) - first)
      )
    }

    /**
     * Locks the mails that are still leased. A message of such a mail was stored by this transaction, or by none: another one
     * that stored it would have completed the mail.
     */
    const complete = Effect.fnUntraced(function* (leases: ReadonlyArray<MailLease>) {
      const rows = yield* sql<Pick<InboundMailRow, "inbound_mail_id">>`
        with mail as materialized (
          select
            inbound_mail_id, counted_mailbox_ids, ${sizeBytes} as bytes,
            exists (select 1 from messages where messages.inbound_mail_id = inbound_mails.inbound_mail_id) as is_used
          from inbound_mails
          join unnest(
            ${Parameter.uuids(leases.map(({ inboundMailId }) => inboundMailId))},
            ${Parameter.integers(leases.map(({ attempts }) => attempts))}
          ) as lease (inbound_mail_id, attempts) using (inbound_mail_id)
          where inbound_mails.attempts = lease.attempts and not completed
          order by inbound_mail_id for update of inbound_mails
        ), uncounted as (
          update mailboxes set message_count = message_count - taken.messages, stored_bytes = stored_bytes - taken.bytes
          from (
            select mailbox_id, count(*) as messages, sum(bytes)::bigint as bytes
            from mail, unnest(counted_mailbox_ids) as mailbox_id group by mailbox_id
          ) as taken
          where mailboxes.mailbox_id = taken.mailbox_id
        ), removed as (
          delete from inbound_mails where inbound_mail_id = any(array(select inbound_mail_id from mail where not is_used))
        ), kept as (
          update inbound_mails set completed = true, leased_until = null, counted_mailbox_ids = '{}'
          where inbound_mail_id = any(array(select inbound_mail_id from mail where is_used))
        )
        select inbound_mail_id from mail`
      return new Set(rows.map((row) => row.inbound_mail_id))
    })

    /** Deletes mails of which no message is stored, and returns their ids. The condition has the order, the limit and the lock. */
    const removeWaiting = (condition: Statement.Fragment) => sql<Pick<InboundMailRow, "inbound_mail_id">>`
      with ${clock()}, given as materialized (
        select inbound_mail_id, counted_mailbox_ids, ${sizeBytes} as bytes from inbound_mails
        where not exists (select from messages where messages.inbound_mail_id = inbound_mails.inbound_mail_id)
          and ${condition}
      ), uncounted as (
        update mailboxes set message_count = message_count - taken.messages, stored_bytes = stored_bytes - taken.bytes
        from (
          select mailbox_id, count(*) as messages, sum(bytes)::bigint as bytes
          from given, unnest(counted_mailbox_ids) as mailbox_id group by mailbox_id
        ) as taken
        where mailboxes.mailbox_id = taken.mailbox_id
      )
      delete from inbound_mails where inbound_mail_id = any(array(select inbound_mail_id from given))
      returning inbound_mail_id`

    const giveUp = ({ age, attempts, limit }: Parameters<(typeof InboundMailStore.Service)["giveUp"]>[0]) =>
      removeWaiting(sql`
        not completed and not staged and received_at <= (select now from clock) - ${Parameter.integer(age)}
          and attempts - coalesce(replayed_after, 0) >= ${Parameter.integer(attempts)}
          and (leased_until is null or leased_until <= (select now from clock))
        order by received_at, inbound_mail_id limit ${Parameter.integer(limit)}
        for update skip locked`)

    const removeStaged = (age: number, limit: number) => sql`
      with old as materialized (
        select inbound_mail_id from inbound_mails
        where not completed and staged and received_at <= (select ${now()}) - ${Parameter.integer(age)}
        order by received_at, inbound_mail_id limit ${Parameter.integer(limit)}
        for update skip locked
      )
      delete from inbound_mails where inbound_mail_id = any(array(select inbound_mail_id from old))
      returning inbound_mail_id`

    /** A message from before sizes were recorded has size 0, so its raw mail is not subtracted either. */
    const removeRaw = Effect.fnUntraced(function* (age: number, limit: number) {
      const old = yield* sql<Pick<InboundMailRow, "inbound_mail_id">>`
        select inbound_mail_id from inbound_mails
        where completed and received_at <= (select ${now()}) - ${Parameter.integer(age)}
        order by received_at, inbound_mail_id limit ${Parameter.integer(limit)}
        for update skip locked`
      const ids = Parameter.uuids(old.map((row) => row.inbound_mail_id))
      if (old.length === 0) return 0
      yield* sql`
        with reduced as (
          update messages set size_bytes = messages.size_bytes - ${sizeBytes}
          from inbound_mails
          where messages.inbound_mail_id = any(${ids}) and inbound_mails.inbound_mail_id = messages.inbound_mail_id
            and messages.size_bytes >= ${sizeBytes}
          returning mailbox_id, ${sizeBytes} as bytes
        )
        update mailboxes set stored_bytes = stored_bytes - taken.bytes
        from (select mailbox_id, sum(bytes)::bigint as bytes from reduced group by mailbox_id) as taken
        where mailboxes.mailbox_id = taken.mailbox_id`
      yield* sql`delete from inbound_mails where inbound_mail_id = any(${ids})`
      return old.length
    })

    return InboundMailStore.of({
      stage: (mail) => (isLarge(mail) ? orDie(stage(mail)) : Effect.void),
      discard: (inboundMailId) =>
        Row.run(sql`delete from inbound_mails where inbound_mail_id = ${Parameter.uuid(inboundMailId)} and staged`),
      add: (mails) => transact(orDie(add(mails))),
      lease: (limit, leaseMillis, exceptNetworks = []) =>
        Effect.map(orDie(lease(limit, leaseMillis, exceptNetworks)), (rows) =>
          rows.map(toWaitingMail).toSorted(compare)
        ),
      renew: (lease, leaseMillis) =>
        Row.any(sql`
          update inbound_mails set leased_until = ${now()} + ${Parameter.integer(leaseMillis)}
          where ${isWaiting(lease)} and not staged returning inbound_mail_id`),
      postpone: (lease, millis, failure) =>
        Row.any(sql`
          update inbound_mails set
            leased_until = ${now()} + ${Parameter.integer(millis)}, failed_attempt = attempts,
            failure = ${Parameter.text(failure)}
          where ${isWaiting(lease)} and not staged returning inbound_mail_id`),
      listQueued,
      findQueued: (inboundMailId) =>
        Effect.map(queued(sql`inbound_mail_id = ${Parameter.uuid(inboundMailId)}`, 1), ([mail]) =>
          Option.fromUndefinedOr(mail)
        ),
      replay: (inboundMailId) => Row.any(replay(inboundMailId)),
      drop: (inboundMailId) => Row.any(removeWaiting(sql`${unheld(inboundMailId)} for update`)),
      readPieces: (inboundMailId, part) =>
        part === undefined ? readFrom(inboundMailId, 0) : readPart(inboundMailId, part),
      complete: (leases) => transact(orDie(complete(leases))),
      backlog: (limit) =>
        Effect.map(
          orDie(sql<Row.BacklogRow>`
            with waiting as materialized (
              select received_at from inbound_mails where not completed and not staged
              order by received_at, inbound_mail_id limit ${Parameter.integer(limit)}
            )
            select count(*) as count, min(received_at) as since from waiting`),
          Row.toBacklog
        ),
      giveUp: (given) => Effect.map(orDie(giveUp(given)), (rows) => rows.map((row) => row.inbound_mail_id)),
      removeStaged: ({ age, limit }) => Row.count(removeStaged(age, limit)),
      removeRaw: ({ age, limit }) => transact(orDie(removeRaw(age, limit))),
      findRaw: (tenantId, messageId) =>
        Effect.map(
          orDie(sql<Pick<InboundMailRow, "inbound_mail_id" | "size_bytes">>`
            select inbound_mail_id, ${sizeBytes} as size_bytes
            from messages join inbound_mails using (inbound_mail_id)
            where message_id = ${Parameter.uuid(messageId)} and tenant_id = ${Parameter.uuid(tenantId)}`),
          ([row]) =>
            row === undefined ? undefined : { inboundMailId: row.inbound_mail_id, sizeBytes: Number(row.size_bytes) }
        )
    })
  })
)
