import { InboundMailStore, type MailLease, type QueuedMail, Timestamp, type WaitingMail } from "@agentos/core"
import { Effect, Layer, Option, Stream } from "effect"
import { MemoryDatabase } from "./MemoryDatabase.ts"
import { addUsage, type InboundMailRow, type Tables } from "./Tables.ts"

/** Raw inbound mail in memory, stored while it waits or a message refers to it. */
export const layer = Layer.effect(
  InboundMailStore,
  Effect.map(MemoryDatabase, ({ run, tables }) => {
    const { inboundMails, mailboxes, messages } = tables

    const put = (row: InboundMailRow): WaitingMail => {
      inboundMails.set(row.mail.inboundMailId, row)
      const { raw, ...mail } = row.mail
      return { ...mail, sizeBytes: raw.length, replayedAfter: row.replayedAfter ?? null }
    }

    /** Returns whether there is a row to change. */
    const change = (row: InboundMailRow | undefined, to: Partial<InboundMailRow>): boolean => {
      if (row !== undefined) put({ ...row, ...to })
      return row !== undefined
    }

    /** Returns the mail if it waits and was not leased again. */
    const waitingUnder = ({ attempts, inboundMailId }: MailLease): InboundMailRow | undefined => {
      const row = inboundMails.get(inboundMailId)
      return row?.completed === false && row.mail.attempts === attempts ? row : undefined
    }

    const isHeld = ({ failed, leasedUntil, mail }: InboundMailRow, now: Timestamp.Timestamp): boolean =>
      leasedUntil !== null && leasedUntil > now && failed?.attempt !== mail.attempts

    const toQueued = (row: InboundMailRow, now: Timestamp.Timestamp): QueuedMail => {
      const { raw, ...mail } = row.mail
      return {
        ...mail,
        sizeBytes: raw.length,
        mailboxIds: row.mailboxIds,
        failure: row.failed?.failure ?? null,
        isLeased: isHeld(row, now),
        dueAt: row.leasedUntil ?? mail.receivedAt
      }
    }

    /** Returns the mail if it waits and no worker holds its lease. */
    const waitingUnheld = (inboundMailId: string, now: Timestamp.Timestamp): InboundMailRow | undefined => {
      const row = inboundMails.get(inboundMailId)
      return row?.completed === false && !isHeld(row, now) ? row : undefined
    }

    const uncount = ({ mail, mailboxIds }: InboundMailRow): void => {
      for (const mailboxId of mailboxIds) addUsage(tables, mailboxId, -1, -mail.raw.length)
    }

    return InboundMailStore.of({
      // A mail to be added is in memory already.
      stage: () => Effect.void,
      discard: () => Effect.void,
      add: (mails) =>
        run((now) => {
          for (const { leaseMillis, mail, mailboxIds } of mails) {
            for (const mailboxId of mailboxIds) addUsage(tables, mailboxId, 1, mail.raw.length)
            const leasedUntil = leaseMillis === undefined ? null : Timestamp.add(now, leaseMillis)
            put({ mail: { ...mail, raw: mail.raw.slice() }, leasedUntil, completed: false, mailboxIds })
          }
        }),
      lease: (limit, leaseMillis, exceptNetworks = []) =>
        run((now) =>
          inboundMails
            .where("queue", WAITING)
            .filter(({ leasedUntil }) => leasedUntil === null || leasedUntil <= now)
            .filter(({ mail: { envelope } }) => !exceptNetworks.includes(envelope.network ?? ""))
            .toSorted(oldestFirst)
            .slice(0, limit)
            .map((row) => {
              const mail = { ...row.mail, attempts: row.mail.attempts + 1 }
              const waiting = put({ ...row, mail, leasedUntil: Timestamp.add(now, leaseMillis) })
              return { ...waiting, failedAttempt: row.failed?.attempt ?? null }
            })
        ),
      readPieces: (inboundMailId, part = { offset: 0, bytes: Number.MAX_SAFE_INTEGER }) =>
        Stream.paginate(part.offset, (start) =>
          run(() => {
            const end = Math.min(start + PIECE_BYTES, part.offset + part.bytes)
            const piece = inboundMails.get(inboundMailId)?.mail.raw.subarray(start, end) ?? new Uint8Array()
            return [[piece], piece.length < PIECE_BYTES ? Option.none() : Option.some(end)]
          })
        ),
      renew: (lease, leaseMillis) =>
        run((now) => change(waitingUnder(lease), { leasedUntil: Timestamp.add(now, leaseMillis) })),
      postpone: (lease, millis, failure) =>
        run((now) => {
          const failed = { attempt: lease.attempts, failure }
          return change(waitingUnder(lease), { leasedUntil: Timestamp.add(now, millis), failed })
        }),
      listQueued: ({ after, age = 0, hasFailed, limit, mailboxId, tenantId }) =>
        run((now) =>
          inboundMails
            .where("queue", WAITING)
            .filter(({ failed, mail, mailboxIds }) => {
              const isOwned = (id: string) => mailboxes.get(id)?.tenantId === tenantId
              return (
                (hasFailed === undefined || hasFailed === (failed !== undefined)) &&
                (mailboxId === undefined || mailboxIds.includes(mailboxId)) &&
                (tenantId === undefined || mailboxIds.some(isOwned)) &&
                (after === undefined || mail.inboundMailId > after) &&
                Timestamp.add(mail.receivedAt, age) <= now
              )
            })
            .toSorted((a, b) => (a.mail.inboundMailId < b.mail.inboundMailId ? -1 : 1))
            .slice(0, limit)
            .map((row) => toQueued(row, now))
        ),
      findQueued: (inboundMailId) =>
        run((now) => {
          const row = inboundMails.get(inboundMailId)
          return row?.completed === false ? Option.some(toQueued(row, now)) : Option.none()
        }),
      replay: (inboundMailId) =>
        run((now) => {
          const row = waitingUnheld(inboundMailId, now)
          return row !== undefined && change(row, { leasedUntil: now, replayedAfter: row.mail.attempts })
        }),
      drop: (inboundMailId) =>
        run((now) => {
          const row = waitingUnheld(inboundMailId, now)
          if (row === undefined || messages.where("inboundMail", inboundMailId).length > 0) return false
          uncount(row)
          inboundMails.delete(inboundMailId)
          return true
        }),
      complete: (leases) =>
        run(() => {
          const completed = new Set<string>()
          for (const lease of leases) {
            const row = waitingUnder(lease)
            if (row === undefined) continue
            uncount(row)
            put({ ...row, leasedUntil: null, completed: true, mailboxIds: [] })
            dropUnusedMail(tables, lease.inboundMailId)
            completed.add(lease.inboundMailId)
          }
          return completed
        }),
      backlog: (limit) =>
        run(() => {
          const waiting = inboundMails.where("queue", WAITING).toSorted(oldestFirst).slice(0, limit)
          return { count: waiting.length, since: waiting[0]?.mail.receivedAt ?? null }
        }),
      giveUp: ({ age, attempts, limit }) =>
        run((now) => {
          const given = inboundMails
            .where("queue", WAITING)
            .filter(({ leasedUntil, mail, replayedAfter = 0 }) => {
              const isTried = mail.attempts - replayedAfter >= attempts && (leasedUntil === null || leasedUntil <= now)
              const isUsed = messages.where("inboundMail", mail.inboundMailId).length > 0
              return isTried && !isUsed && Timestamp.add(mail.receivedAt, age) <= now
            })
            .toSorted(oldestFirst)
            .slice(0, limit)
          return given.map((row) => {
            uncount(row)
            inboundMails.delete(row.mail.inboundMailId)
            return row.mail.inboundMailId
          })
        }),
      removeStaged: () => Effect.succeed(0),
      removeRaw: ({ age, limit }) =>
        run((now) => {
          const old = inboundMails
            .rows()
            .filter(({ completed, mail }) => completed && Timestamp.add(mail.receivedAt, age) <= now)
            .toSorted(oldestFirst)
            .slice(0, limit)
          for (const { mail } of old) {
            for (const row of messages.where("inboundMail", mail.inboundMailId)) {
              messages.set(row.message.messageId, { ...row, sizeBytes: row.sizeBytes - mail.raw.length })
              addUsage(tables, row.message.mailboxId, 0, -mail.raw.length)
            }
            inboundMails.delete(mail.inboundMailId)
          }
          return old.length
        }),
      findRaw: (tenantId, messageId) =>
        run(() => {
          const row = messages.get(messageId)
          if (row === undefined || row.message.tenantId !== tenantId || row.inboundMailId === null) return undefined
          const raw = inboundMails.get(row.inboundMailId)?.mail.raw
          return raw === undefined ? undefined : { inboundMailId: row.inboundMailId, sizeBytes: raw.length }
        })
    })
  })
)

const PIECE_BYTES = 256 * 1024

/** The one value of the index `queue`. */
const WAITING = "waiting"

const oldestFirst = (a: InboundMailRow, b: InboundMailRow): number =>
  a.mail.receivedAt - b.mail.receivedAt || (a.mail.inboundMailId < b.mail.inboundMailId ? -1 : 1)

/** Deletes a completed mail that no message refers to. */
export const dropUnusedMail = ({ inboundMails, messages }: Tables, inboundMailId: string): void => {
  const used = messages.where("inboundMail", inboundMailId).length > 0
  if (!used && inboundMails.get(inboundMailId)?.completed === true) inboundMails.delete(inboundMailId)
}
