import { type InboundMailStore, Lookup, MailboxStore, MessageStore, type SendingRecord, Timestamp } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import type { ContractTests } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import * as Mailboxes from "./MailboxSample.ts"
import * as Messages from "./MessageSample.ts"

const RECORD: SendingRecord = { day: 20_000, recipients: 7, recipientsBefore: 2, level: 3, pause: null }
const PAUSED: SendingRecord = { ...RECORD, pause: { until: Timestamp.Timestamp.make(1e12), reason: "bounced" } }

/** Tests of `findSender`. */
export const senderTests: ContractTests<InboundMailStore | MailboxStore | MessageStore> = (it) => {
  describe("findSender", () => {
    it.effect("returns the mailbox of a tenant that has never sent", () =>
      Effect.gen(function* () {
        const store = yield* MailboxStore
        const { mailbox, tenantId } = yield* Mailboxes.owner
        const zero = { messages: 0, bytes: 0 }
        assert.deepStrictEqual(
          yield* store.findSender(tenantId, mailbox.mailboxId, []),
          Lookup.owned({
            mailbox,
            standing: { usage: zero, tenantUsage: zero, isTenantSuspended: false },
            suppressed: [],
            sending: undefined
          })
        )
      })
    )

    it.effect("returns the results of the methods for each part, of this tenant and mailbox only", () =>
      Effect.gen(function* () {
        const store = yield* MailboxStore
        const messages = yield* MessageStore
        const { mailbox, tenant, tenantId } = yield* Mailboxes.owner
        const other = yield* Mailboxes.stored(tenant)
        const foreign = yield* Mailboxes.owner
        for (const each of [mailbox, mailbox, other, foreign.mailbox]) yield* Messages.stored(each)
        yield* messages.suppress(tenantId, ["a@x.example", "b@x.example"], "bounced")
        yield* messages.suppress(foreign.tenantId, ["c@x.example"], "complained")
        yield* messages.putSending(foreign.tenantId, RECORD)
        for (const record of [RECORD, PAUSED]) {
          yield* messages.putSending(tenantId, record)
          const found = yield* store.findSender(tenantId, mailbox.mailboxId, [
            "b@x.example",
            "c@x.example",
            "d@x.example"
          ])
          const standings = yield* store.findStandings([mailbox.mailboxId])
          assert.deepStrictEqual(
            found,
            Lookup.owned({
              mailbox,
              standing: standings.get(mailbox.mailboxId)!,
              suppressed: ["b@x.example"],
              sending: record
            })
          )
        }
      })
    )

    it.effect("returns nothing of another tenant's mailbox, and none of an unknown id", () =>
      Effect.gen(function* () {
        const store = yield* MailboxStore
        const { tenantId } = yield* Mailboxes.owner
        const foreign = yield* Mailboxes.owner
        assert.deepStrictEqual(yield* store.findSender(tenantId, foreign.mailbox.mailboxId, []), Lookup.foreign)
        assert.deepStrictEqual(yield* store.findSender(tenantId, yield* Fresh.id, []), Lookup.missing)
      })
    )
  })
}
