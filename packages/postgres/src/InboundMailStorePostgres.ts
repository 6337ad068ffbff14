import { type InboundEnvelope, type InboundMail, InboundMailStore, Timestamp } from "@agentos/core"
import { Effect, Layer } from "effect"
import { ClockOffset } from "./ClockOffset.ts"
import { Database } from "./Database.ts"
import { orDie } from "./DatabaseFailure.ts"
import * as Parameter from "./Parameter.ts"

interface InboundMailRow {
  readonly inbound_mail_id: string
  readonly envelope: string
  readonly raw: Uint8Array
  readonly received_at: bigint
  readonly attempts: number
}

const toInboundMail = (row: InboundMailRow): InboundMail => {
  const envelope: InboundEnvelope = JSON.parse(row.envelope)
  return {
    inboundMailId: row.inbound_mail_id,
    envelope,
    raw: row.raw,
    receivedAt: Timestamp.Timestamp.make(Number(row.received_at)),
    attempts: row.attempts
  }
}

const compare = (a: InboundMail, b: InboundMail): number =>
  a.receivedAt - b.receivedAt || (a.inboundMailId < b.inboundMailId ? -1 : 1)

export const layer: Layer.Layer<InboundMailStore, never, Database> = Layer.effect(
  InboundMailStore,
  Effect.gen(function* () {
    const { sql, transact } = yield* Database
    const offset = yield* ClockOffset
    const now = () => sql`epoch_millis() + ${Parameter.integer(offset())}`

    const lease = (limit: number, leaseMillis: number) => sql<InboundMailRow>`
      with clock as materialized (select ${now()} as now), waiting as materialized (
        select inbound_mail_id from inbound_mails
        where not completed and (leased_until is null or leased_until <= (select now from clock))
        order by received_at, inbound_mail_id limit ${Parameter.integer(limit)}
        for update skip locked
      )
      update inbound_mails set
        attempts = attempts + 1, leased_until = (select now from clock) + ${Parameter.integer(leaseMillis)}
      from waiting where inbound_mails.inbound_mail_id = waiting.inbound_mail_id
      returning inbound_mails.inbound_mail_id, envelope, raw, received_at, attempts`

    /** The row's lock comes first: what is seen after it holds until this is over. */
    const complete = Effect.fnUntraced(function* (inboundMailId: string) {
      const id = Parameter.uuid(inboundMailId)
      const open = yield* sql`
        select 1 from inbound_mails where inbound_mail_id = ${id} and not completed for update`
      if (open.length === 0) return false
      const [row] = yield* sql<{ readonly is_used: boolean }>`
        select exists (select 1 from messages where inbound_mail_id = ${id}) as is_used`
      yield* row?.is_used === true
        ? sql`update inbound_mails set completed = true, leased_until = null where inbound_mail_id = ${id}`
        : sql`delete from inbound_mails where inbound_mail_id = ${id}`
      return true
    })

    const giveUp = ({ age, attempts, limit }: Parameters<(typeof InboundMailStore.Service)["giveUp"]>[0]) => sql<
      Pick<InboundMailRow, "inbound_mail_id">
    >`
      with clock as materialized (select ${now()} as now), given as materialized (
        select inbound_mail_id from inbound_mails
        where not completed and received_at <= (select now from clock) - ${Parameter.integer(age)}
          and attempts >= ${Parameter.integer(attempts)}
          and (leased_until is null or leased_until <= (select now from clock))
          and not exists (select from messages where messages.inbound_mail_id = inbound_mails.inbound_mail_id)
        order by received_at, inbound_mail_id limit ${Parameter.integer(limit)}
        for update skip locked
      )
      delete from inbound_mails where inbound_mail_id = any(array(select inbound_mail_id from given))
      returning inbound_mail_id`

    return InboundMailStore.of({
      add: (mail) =>
        orDie(
          Effect.asVoid(sql`
            insert into inbound_mails (inbound_mail_id, envelope, raw, received_at, attempts) values (
              ${Parameter.uuid(mail.inboundMailId)}, ${Parameter.text(JSON.stringify(mail.envelope))},
              ${Parameter.bytes(mail.raw)}, ${Parameter.integer(mail.receivedAt)}, ${Parameter.integer(mail.attempts)}
            )`)
        ),
      lease: (limit, leaseMillis) =>
        Effect.map(orDie(lease(limit, leaseMillis)), (rows) => rows.map(toInboundMail).toSorted(compare)),
      complete: (inboundMailId) => transact(orDie(complete(inboundMailId))),
      giveUp: (given) => Effect.map(orDie(giveUp(given)), (rows) => rows.map((row) => row.inbound_mail_id)),
      readRaw: (tenantId, messageId) =>
        Effect.map(
          orDie(sql<Pick<InboundMailRow, "raw">>`
            select raw from messages join inbound_mails using (inbound_mail_id)
            where message_id = ${Parameter.uuid(messageId)} and tenant_id = ${Parameter.uuid(tenantId)}`),
          ([row]) => row?.raw
        )
    })
  })
)
