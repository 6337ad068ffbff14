import { type InboundMail, InboundMailStore, Timestamp } from "@agentos/core"
import { Effect, Layer } from "effect"
import { MemoryDatabase } from "./MemoryDatabase.ts"
import type { InboundMailRow, Tables } from "./Tables.ts"

/** Mail from the wire, in memory, for as long as it waits or a message refers to it. */
export const layer = Layer.effect(
  InboundMailStore,
  Effect.map(MemoryDatabase, ({ run, tables }) => {
    const { inboundMails, messages } = tables

    const put = (row: InboundMailRow): InboundMail => {
      inboundMails.set(row.mail.inboundMailId, row)
      return row.mail
    }

    return InboundMailStore.of({
      add: (mail) =>
        run(() => void put({ mail: { ...mail, raw: mail.raw.slice() }, leasedUntil: null, completed: false })),
      lease: (limit, leaseMillis) =>
        run((now) =>
          inboundMails
            .where("queue", WAITING)
            .filter(({ leasedUntil }) => leasedUntil === null || leasedUntil <= now)
            .toSorted(oldestFirst)
            .slice(0, limit)
            .map(({ mail }) => {
              const leasedUntil = Timestamp.add(now, leaseMillis)
              return put({ mail: { ...mail, attempts: mail.attempts + 1 }, leasedUntil, completed: false })
            })
        ),
      complete: (inboundMailId) =>
        run(() => {
          const row = inboundMails.get(inboundMailId)
          if (row === undefined || row.completed) return false
          put({ ...row, leasedUntil: null, completed: true })
          dropUnusedMail(tables, inboundMailId)
          return true
        }),
      giveUp: ({ age, attempts, limit }) =>
        run((now) => {
          const given = inboundMails
            .where("queue", WAITING)
            .filter(({ leasedUntil, mail }) => {
              const isTried = mail.attempts >= attempts && (leasedUntil === null || leasedUntil <= now)
              const isUsed = messages.where("inboundMail", mail.inboundMailId).length > 0
              return isTried && !isUsed && Timestamp.add(mail.receivedAt, age) <= now
            })
            .toSorted(oldestFirst)
            .slice(0, limit)
          return given.map(({ mail: { inboundMailId } }) => {
            inboundMails.delete(inboundMailId)
            return inboundMailId
          })
        }),
      readRaw: (tenantId, messageId) =>
        run(() => {
          const row = messages.get(messageId)
          if (row === undefined || row.message.tenantId !== tenantId || row.inboundMailId === null) return undefined
          return inboundMails.get(row.inboundMailId)?.mail.raw
        })
    })
  })
)

/** The one value of the index `queue`. */
const WAITING = "waiting"

const oldestFirst = (a: InboundMailRow, b: InboundMailRow): number =>
  a.mail.receivedAt - b.mail.receivedAt || (a.mail.inboundMailId < b.mail.inboundMailId ? -1 : 1)

/** Forgets a mail that is done and that no message refers to. */
export const dropUnusedMail = ({ inboundMails, messages }: Tables, inboundMailId: string): void => {
  const used = messages.where("inboundMail", inboundMailId).length > 0
  if (!used && inboundMails.get(inboundMailId)?.completed === true) inboundMails.delete(inboundMailId)
}
