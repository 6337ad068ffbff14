import {
  InboundMailStore,
  type Mailbox,
  MailboxStore,
  MessageStore,
  TenantStore,
  Timestamp,
  Transactor
} from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Array, Effect } from "effect"
import type { ContractTests } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { overlapping } from "../Overlap.ts"
import { rolledBack } from "../RolledBack.ts"
import * as Mailboxes from "./MailboxSample.ts"
import * as Messages from "./MessageSample.ts"

const standingOf = Effect.fnUntraced(function* ({ mailboxId }: Mailbox) {
  const store = yield* MailboxStore
  return (yield* store.findStandings([mailboxId])).get(mailboxId)
})

/** The usage of a mailbox and of its tenant, as `messages/bytes` each. */
const usageOf = (mailbox: Mailbox) =>
  Effect.map(standingOf(mailbox), (standing) =>
    [standing?.usage, standing?.tenantUsage].map((usage) => `${usage?.messages}/${usage?.bytes}`)
  )

const locked = <A, E, R>({ tenantId }: Mailbox, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const tenants = yield* TenantStore
    const transactor = yield* Transactor
    return yield* transactor.transact(Effect.andThen(tenants.lock([tenantId]), effect))
  })

const sized = Effect.fnUntraced(function* (mailbox: Mailbox, sizeBytes: number, duplicateKey: string | null = null) {
  return Messages.fresh(yield* Messages.message(mailbox), { sizeBytes, duplicateKey })
})

/** Tests of the usage that stores count. */
export const mailUsageTests: ContractTests<InboundMailStore | MailboxStore | MessageStore> = (it, capabilities) => {
  describe("findStandings", () => {
    it.effect("is empty for mailboxes that do not exist, and zero for new ones", () =>
      Effect.gen(function* () {
        const store = yield* MailboxStore
        assert.strictEqual((yield* store.findStandings([])).size, 0)
        assert.strictEqual((yield* store.findStandings([yield* Fresh.id])).size, 0)
        const { mailbox } = yield* Mailboxes.owner
        const zero = { messages: 0, bytes: 0 }
        assert.deepStrictEqual(yield* standingOf(mailbox), { usage: zero, tenantUsage: zero, isTenantSuspended: false })
      })
    )

    it.effect("counts the messages of each mailbox, and of all mailboxes of its tenant only", () =>
      Effect.gen(function* () {
        const messages = yield* MessageStore
        const { mailbox: one, tenant } = yield* Mailboxes.owner
        const two = yield* Mailboxes.stored(tenant)
        const { mailbox: foreign } = yield* Mailboxes.owner
        yield* messages.insert([yield* sized(one, 10), yield* sized(two, 5), yield* sized(one, 4_000_000_000)])
        yield* messages.insert([yield* sized(foreign, 7)])
        assert.deepStrictEqual(yield* usageOf(one), ["2/4000000010", "3/4000000015"])
        assert.deepStrictEqual(yield* usageOf(two), ["1/5", "3/4000000015"])
        assert.deepStrictEqual(yield* usageOf(foreign), ["1/7", "1/7"])
      })
    )

    it.effect("does not count copies, messages of removed mailboxes, or changes that are rolled back", () =>
      Effect.gen(function* () {
        const messages = yield* MessageStore
        const { mailbox, tenant } = yield* Mailboxes.owner
        const gone = yield* Mailboxes.mailbox(tenant)
        const key = yield* Fresh.word
        yield* messages.insert([yield* sized(mailbox, 10, key), yield* sized(mailbox, 10, key), yield* sized(gone, 10)])
        yield* messages.insert([yield* sized(mailbox, 10, key)])
        yield* rolledBack(messages.insert([yield* sized(mailbox, 10)]))
        assert.deepStrictEqual(yield* usageOf(mailbox), ["1/10", "1/10"])
      })
    )

    it.effect("subtracts the usage of a removed mailbox", () =>
      Effect.gen(function* () {
        const store = yield* MailboxStore
        const messages = yield* MessageStore
        const { mailbox, tenant } = yield* Mailboxes.owner
        const kept = yield* Mailboxes.stored(tenant)
        yield* messages.insert([yield* sized(mailbox, 10), yield* sized(kept, 5)])
        yield* store.remove(tenant.tenantId, mailbox.mailboxId)
        assert.isUndefined(yield* standingOf(mailbox))
        assert.deepStrictEqual(yield* usageOf(kept), ["1/5", "1/5"])
        const again = yield* Mailboxes.stored(tenant, { localPart: mailbox.localPart })
        assert.deepStrictEqual(yield* usageOf(again), ["0/0", "1/5"])
      })
    )

    it.effect("counts waiting mail in each of its mailboxes until it is completed", () =>
      Effect.gen(function* () {
        const messages = yield* MessageStore
        const { mailbox: one, tenant } = yield* Mailboxes.owner
        const two = yield* Mailboxes.stored(tenant)
        const mail = yield* Messages.addedMail({ raw: new Uint8Array(100) }, [
          one.mailboxId,
          two.mailboxId,
          yield* Fresh.id
        ])
        assert.deepStrictEqual(yield* usageOf(one), ["1/100", "2/200"])
        const delivered = { ...(yield* sized(one, 130)), inboundMailId: mail.inboundMailId }
        yield* messages.insert([delivered])
        yield* Messages.completed(mail)
        yield* Messages.completed(mail)
        assert.deepStrictEqual(yield* usageOf(one), ["1/130", "1/130"])
        assert.deepStrictEqual(yield* usageOf(two), ["0/0", "1/130"])
      })
    )

    it.effect("does not count mail that was given up, or mail of a removed mailbox", () =>
      Effect.gen(function* () {
        const store = yield* MailboxStore
        const mails = yield* InboundMailStore
        const { mailbox, tenant } = yield* Mailboxes.owner
        const other = yield* Mailboxes.stored(tenant)
        const old = { receivedAt: Timestamp.Timestamp.make(0), attempts: 1_000, raw: new Uint8Array(100) }
        yield* Messages.addedMail(old, [mailbox.mailboxId, other.mailboxId])
        const waiting = yield* Messages.addedMail({ raw: new Uint8Array(9) }, [mailbox.mailboxId, other.mailboxId])
        yield* mails.giveUp({ age: Timestamp.DAY, attempts: 1_000, limit: 100 })
        assert.deepStrictEqual(yield* usageOf(mailbox), ["1/9", "2/18"])
        yield* store.remove(tenant.tenantId, mailbox.mailboxId)
        yield* Messages.completed(waiting)
        assert.deepStrictEqual(yield* usageOf(other), ["0/0", "0/0"])
      })
    )

    it.effect("counts every message that is stored and every mail that arrives concurrently", () =>
      Effect.gen(function* () {
        const messages = yield* MessageStore
        const { mailbox: one, tenant } = yield* Mailboxes.owner
        const two = yield* Mailboxes.stored(tenant)
        yield* Effect.forEach(
          Array.range(1, 24),
          (n) =>
            Effect.gen(function* () {
              const [first, second] = n % 2 === 0 ? [one, two] : [two, one]
              const both = [yield* sized(first, n), yield* sized(second, n)]
              yield* locked(one, messages.insert(both))
              const ids = [first.mailboxId, second.mailboxId]
              const mail = yield* locked(one, Messages.addedMail({ raw: new Uint8Array(n) }, ids))
              if (n % 3 === 0) yield* locked(one, Messages.completed(mail))
            }),
          { concurrency: "unbounded" }
        )
        // 24 messages, and 16 mails that wait: 1 + … + 24, less the multiples of 3.
        const bytes = 300 + 300 - 108
        assert.deepStrictEqual(yield* usageOf(one), [`40/${bytes}`, `80/${2 * bytes}`])
      })
    )

    it.effect("is the same for two overlapping transactions as for consecutive ones", () =>
      Effect.gen(function* () {
        const messages = yield* MessageStore
        for (const firstEnds of ["committed", "rolled back"] as const) {
          const { mailbox } = yield* Mailboxes.owner
          yield* overlapping(capabilities, {
            first: messages.insert([yield* sized(mailbox, 10)]),
            second: messages.insert([yield* sized(mailbox, 5)]),
            firstEnds
          })
          assert.strictEqual((yield* usageOf(mailbox))[0], firstEnds === "committed" ? "2/15" : "1/5")
        }
      })
    )

    it.effect("counts a large mail once, staged before or not", () =>
      Effect.gen(function* () {
        const mails = yield* InboundMailStore
        for (const isStaged of [false, true]) {
          const { mailbox } = yield* Mailboxes.owner
          const mail = yield* Messages.inboundMail({ raw: new Uint8Array(600_000) })
          if (isStaged) yield* mails.stage(mail)
          assert.deepStrictEqual(yield* usageOf(mailbox), ["0/0", "0/0"])
          yield* mails.add([{ mail, mailboxIds: [mailbox.mailboxId] }])
          assert.deepStrictEqual(yield* usageOf(mailbox), ["1/600000", "1/600000"])
        }
      })
    )

    it.effect("counts several mails that are added and completed together, each in its own mailboxes", () =>
      Effect.gen(function* () {
        const mails = yield* InboundMailStore
        const { mailbox: one, tenant } = yield* Mailboxes.owner
        const two = yield* Mailboxes.stored(tenant)
        const sizes = [100, 20, 600_000, 700_000]
        const added = yield* Effect.forEach(sizes, (size) =>
          Messages.inboundMail({ raw: new Uint8Array(size).fill(7) })
        )
        yield* mails.stage(added[2]!)
        const unknown = yield* Fresh.id
        const [first, second, staged, large] = added
        yield* mails.add([
          { mail: first!, mailboxIds: [one.mailboxId, two.mailboxId] },
          { mail: second!, mailboxIds: [] },
          { mail: staged!, mailboxIds: [unknown, two.mailboxId] },
          { mail: large!, mailboxIds: [one.mailboxId] }
        ])
        assert.deepStrictEqual(yield* usageOf(one), ["2/700100", "4/1300200"])
        assert.deepStrictEqual(yield* usageOf(two), ["2/600100", "4/1300200"])
        for (const mail of added) assert.deepStrictEqual(yield* Messages.bytesOf(mail), mail.raw)
        yield* mails.complete(added)
        assert.deepStrictEqual(yield* usageOf(one), ["0/0", "0/0"])
        assert.deepStrictEqual(yield* usageOf(two), ["0/0", "0/0"])
      })
    )

    it.effect("subtracts removed raw mail from each message that was read from it", () =>
      Effect.gen(function* () {
        const mails = yield* InboundMailStore
        const messages = yield* MessageStore
        const { mailbox: one, tenant } = yield* Mailboxes.owner
        const two = yield* Mailboxes.stored(tenant)
        const old = { receivedAt: Timestamp.Timestamp.make(1), raw: new Uint8Array(100) }
        const mail = yield* Messages.addedMail(old, [])
        const waiting = yield* Messages.addedMail(old, [])
        const recent = yield* Messages.addedMail({ raw: new Uint8Array(100) }, [])
        const read =
          (from: { readonly inboundMailId: string }) => (made: Effect.Success<ReturnType<typeof sized>>) => ({
            ...made,
            inboundMailId: from.inboundMailId
          })
        const kept = read(mail)(yield* sized(one, 130))
        yield* messages.insert([kept, read(mail)(yield* sized(two, 140)), read(recent)(yield* sized(one, 110))])
        yield* Messages.completed(mail)
        yield* Messages.completed(recent)
        const age = 20 * 365 * Timestamp.DAY
        while ((yield* mails.removeRaw({ age, limit: 1 })) > 0);
        assert.deepStrictEqual(yield* usageOf(one), ["2/140", "3/180"])
        assert.deepStrictEqual(yield* usageOf(two), ["1/40", "3/180"])
        assert.isUndefined(yield* Messages.rawOf(kept.message))
        assert.strictEqual((yield* messages.find(tenant.tenantId, kept.message.messageId))._tag, "Owned")
        const left = yield* mails.lease(1_000, 0)
        assert.include(
          left.map(({ inboundMailId }) => inboundMailId),
          waiting.inboundMailId
        )
        yield* mails.complete(left)
      })
    )

    it.effect("returns whether the tenant is suspended", () =>
      Effect.gen(function* () {
        const tenants = yield* TenantStore
        const { mailbox, tenantId } = yield* Mailboxes.owner
        yield* tenants.setSuspension(tenantId, { at: Timestamp.Timestamp.make(1), reason: "spam" })
        assert.isTrue((yield* standingOf(mailbox))?.isTenantSuspended)
        yield* tenants.setSuspension(tenantId, null)
        assert.isFalse((yield* standingOf(mailbox))?.isTenantSuspended)
      })
    )
  })
}
