import {
  type Feedback,
  Lookup,
  type MailboxStore,
  MessageStore,
  REPORT_LIMIT,
  type SendingRecord,
  type StoredReport,
  type Suppression,
  TenantStore,
  Timestamp,
  Transactor
} from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Array, Effect, Option } from "effect"
import type { ContractTests } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { refused } from "../Refused.ts"
import { rolledBack } from "../RolledBack.ts"
import { StoreClock } from "../StoreClock.ts"
import * as MailboxSample from "./MailboxSample.ts"
import * as MessageSample from "./MessageSample.ts"

const address = Effect.map(Fresh.word, (word) => `${word}@example.org`)

/** Tests of reports, and of `setOutcome`. */
export const reportTests: ContractTests<MailboxStore | MessageStore> = (it) => {
  describe("reports", () => {
    const reportOn = Effect.fnUntraced(function* (messageId: string, receivedAt: number) {
      const report: StoredReport = {
        reportId: yield* Fresh.id,
        messageId,
        receivedAt: Timestamp.Timestamp.make(receivedAt),
        remoteAddress: "2001:db8::1",
        report: { _tag: "Feedback", feedbackType: "abuse", recipients: ["bób@example.org"] }
      }
      return report
    })

    it.effect("are stored once, and listed by their message, oldest first", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const [messageId, other] = [yield* Fresh.id, yield* Fresh.id]
        const [late, early] = [yield* reportOn(messageId, 2), yield* reportOn(messageId, 1)]
        assert.isTrue(yield* store.addReport(late))
        assert.isTrue(yield* store.addReport(early))
        assert.isFalse(yield* store.addReport(late))
        assert.isTrue(yield* store.addReport({ ...late, messageId: other }))
        assert.deepStrictEqual(yield* store.listReports(messageId), [early, late])
        yield* rolledBack(store.addReport(yield* reportOn(messageId, 3)))
        assert.lengthOf(yield* store.listReports(messageId), 2)
      })
    )

    it.effect("are limited for each message", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const messageId = yield* Fresh.id
        const reports = yield* Effect.forEach(Array.range(0, REPORT_LIMIT), (at) => reportOn(messageId, at))
        const stored = yield* Effect.forEach(reports, store.addReport)
        assert.deepStrictEqual(stored.indexOf(false), REPORT_LIMIT)
      })
    )

    it.effect("find an outbound message of any tenant, and change only its recipients and status", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const { mailbox, tenantId } = yield* MailboxSample.owner
        const received = yield* MessageSample.stored(mailbox)
        assert.isTrue(Option.isNone(yield* store.findSent(received.messageId)))
        assert.isTrue(Option.isNone(yield* store.findSent(yield* Fresh.id)))
        const recipient = { address: "a@b.test", name: null, kind: "to", status: "sent", reason: null } as const
        const sent = yield* MessageSample.stored(mailbox, {
          direction: "outbound",
          status: "sent",
          recipients: [recipient]
        })
        assert.deepStrictEqual(yield* store.findSent(sent.messageId), Option.some(MessageSample.summary(sent)))
        const outcome = {
          status: "bounced",
          recipients: [{ ...recipient, status: "bounced", reason: "5.1.1" }]
        } as const
        yield* rolledBack(store.setOutcome(sent.messageId, outcome))
        assert.deepStrictEqual(yield* store.find(tenantId, sent.messageId), Lookup.owned(sent))
        yield* store.setOutcome(sent.messageId, outcome)
        assert.deepStrictEqual(yield* store.find(tenantId, sent.messageId), Lookup.owned({ ...sent, ...outcome }))
        yield* store.setOutcome(yield* Fresh.id, outcome)
      })
    )
  })
}

/** Tests of `suppress` and `findSuppressed`. */
export const suppressionTests: ContractTests<MailboxStore | MessageStore> = (it) => {
  describe("suppress and findSuppressed", () => {
    it.effect("return exactly the addresses that the tenant has suppressed", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const { tenantId } = yield* Fresh.tenant
        const [a, b, c] = yield* Effect.all([address, address, address])
        assert.deepStrictEqual(yield* store.findSuppressed(tenantId, [a, b, c]), [])
        yield* store.suppress(tenantId, [a], "bounced")
        yield* store.suppress(tenantId, [c], "complained")
        assert.sameMembers([...(yield* store.findSuppressed(tenantId, [a, b, c]))], [a, c])
        assert.deepStrictEqual(yield* store.findSuppressed(tenantId, [b]), [])
        assert.deepStrictEqual(yield* store.findSuppressed(tenantId, [c, c]), [c])
      })
    )

    it.effect("are idempotent: in one call, for another reason, and concurrently", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const { tenantId } = yield* Fresh.tenant
        const [a, b] = yield* Effect.all([address, address])
        assert.deepStrictEqual(yield* store.suppress(tenantId, [a, a], "bounced"), [a])
        assert.deepStrictEqual(yield* store.suppress(tenantId, [a, b], "complained"), [b])
        assert.deepStrictEqual(yield* store.suppress(tenantId, [b, a], "bounced"), [])
        yield* Effect.forEach(
          Array.range(1, 10),
          (n) => store.suppress(tenantId, n % 2 === 0 ? [a, b] : [b, a], "bounced"),
          { concurrency: "unbounded" }
        )
        assert.sameMembers([...(yield* store.findSuppressed(tenantId, [a, b]))], [a, b])
      })
    )

    it.effect("accept an empty list", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const { tenantId } = yield* Fresh.tenant
        yield* store.suppress(tenantId, [], "bounced")
        assert.deepStrictEqual(yield* store.findSuppressed(tenantId, []), [])
      })
    )

    it.effect("affect one tenant only", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const [one, two] = yield* Effect.all([Fresh.tenant, Fresh.tenant])
        const suppressed = yield* address
        yield* store.suppress(one.tenantId, [suppressed], "complained")
        assert.deepStrictEqual(yield* store.findSuppressed(two.tenantId, [suppressed]), [])
        yield* store.suppress(two.tenantId, [suppressed], "bounced")
        assert.deepStrictEqual(yield* store.findSuppressed(one.tenantId, [suppressed]), [suppressed])
      })
    )

    it.effect("die for a tenant that does not exist", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const unknown = yield* Fresh.id
        yield* refused(store.suppress(unknown, [yield* address], "bounced"))
      })
    )

    it.effect("compare an address literally, not as a pattern", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const { tenantId } = yield* Fresh.tenant
        const base = yield* address
        const odd = ["%", "_", "'", "\\", "{}", "ü", "*"].map((mark) => `${mark}${base}`)
        yield* store.suppress(tenantId, odd, "bounced")
        const asked = [...odd, base, `x${base}`, `${base}.`]
        assert.sameMembers([...(yield* store.findSuppressed(tenantId, asked))], odd)
      })
    )

    it.effect("are undone with their transaction", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const { tenantId } = yield* Fresh.tenant
        const suppressed = yield* address
        yield* rolledBack(store.suppress(tenantId, [suppressed], "bounced"))
        assert.deepStrictEqual(yield* store.findSuppressed(tenantId, [suppressed]), [])
      })
    )
  })
}

/** Tests of `listSuppressions` and `liftSuppression`. */
export const suppressionListTests: ContractTests<MailboxStore | MessageStore> = (it) => {
  describe("listSuppressions and liftSuppression", () => {
    const addressesOf = (listed: ReadonlyArray<Suppression>) => listed.map((each) => each.address)

    it.effect("list a tenant's suppressions with reason and time, in pages by code points", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const [{ tenantId }, other] = [yield* Fresh.tenant, yield* Fresh.tenant]
        const sorted = ["'a@b.test", "_@b.test", "a+b@b.test", "a-b@b.test", "a@b.test", "ab@b.test", "é@b.test"]
        yield* store.suppress(tenantId, sorted.slice(3).toReversed(), "bounced")
        yield* store.suppress(tenantId, sorted.slice(0, 3), "complained")
        yield* store.suppress(other.tenantId, ["a0@b.test"], "bounced")
        const all = yield* store.listSuppressions(tenantId, undefined, 10)
        assert.deepStrictEqual(addressesOf(all), sorted)
        assert.deepStrictEqual(
          all.map(({ reason }) => reason),
          sorted.map((_, at) => (at < 3 ? "complained" : "bounced"))
        )
        for (const { createdAt } of all) assert.isTrue(Number.isSafeInteger(createdAt))
        const page = yield* store.listSuppressions(tenantId, undefined, 4)
        assert.deepStrictEqual(page, all.slice(0, 4))
        assert.deepStrictEqual(yield* store.listSuppressions(tenantId, page.at(-1)?.address, 4), all.slice(4))
        assert.deepStrictEqual(yield* store.listSuppressions(tenantId, sorted.at(-1), 4), [])
      })
    )

    it.effect("lift the suppression of one address of one tenant, once", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const [{ tenantId }, other] = [yield* Fresh.tenant, yield* Fresh.tenant]
        const [a, b] = yield* Effect.all([address, address])
        for (const each of [tenantId, other.tenantId]) yield* store.suppress(each, [a, b], "bounced")
        yield* rolledBack(store.liftSuppression(tenantId, a))
        assert.lengthOf(yield* store.findSuppressed(tenantId, [a]), 1)
        assert.isTrue(yield* store.liftSuppression(tenantId, a))
        assert.isFalse(yield* store.liftSuppression(tenantId, a))
        assert.deepStrictEqual(addressesOf(yield* store.listSuppressions(tenantId, undefined, 9)), [b])
        assert.lengthOf(yield* store.findSuppressed(other.tenantId, [a, b]), 2)
        assert.deepStrictEqual(yield* store.suppress(tenantId, [a], "complained"), [a])
      })
    )

    it.effect("liftBounces lifts what bounced, for its tenant, and no complaint", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const [{ tenantId }, other] = [yield* Fresh.tenant, yield* Fresh.tenant]
        yield* store.suppress(tenantId, ["gone@b.test", "kept@b.test"], "bounced")
        yield* store.suppress(tenantId, ["angry@b.test"], "complained")
        yield* store.suppress(other.tenantId, ["gone@b.test"], "bounced")
        yield* store.liftBounces([])
        yield* store.liftBounces(
          ["gone@b.test", "angry@b.test", "new@b.test"].map((address) => ({ tenantId, address }))
        )
        assert.deepStrictEqual(addressesOf(yield* store.listSuppressions(tenantId, undefined, 9)), [
          "angry@b.test",
          "kept@b.test"
        ])
        assert.lengthOf(yield* store.findSuppressed(other.tenantId, ["gone@b.test"]), 1)
      })
    )
  })
}

/** Tests of `addFeedback` and `clearFeedback`. */
export const feedbackTests: ContractTests<MailboxStore | MessageStore> = (it) => {
  describe("addFeedback and clearFeedback", () => {
    const WINDOW = 1_000
    const given = Effect.fnUntraced(function* (tenantId: Feedback["tenantId"]) {
      const store = yield* MessageStore
      const add = (at: number, reason: Feedback["reason"], messageId: string, ...reporters: ReadonlyArray<string>) =>
        store.addFeedback({ tenantId, reason, reporters, messageId, at: Timestamp.Timestamp.make(at) }, WINDOW)
      const ids = [yield* Fresh.id, yield* Fresh.id] as const
      return { add, store, ids }
    })

    it.effect("count each reporter and each message once, by reason and tenant", () =>
      Effect.gen(function* () {
        const { add, ids } = yield* given((yield* Fresh.tenant).tenantId)
        const [one, two] = ids
        assert.deepStrictEqual(yield* add(5, "bounced", one, "a", "a", "@b"), { reporters: 2, messages: 1 })
        assert.deepStrictEqual(yield* add(6, "bounced", two, "c"), { reporters: 3, messages: 2 })
        assert.deepStrictEqual(yield* add(7, "bounced", one, "c"), { reporters: 3, messages: 1 })
        assert.deepStrictEqual(yield* add(8, "complained", one, "a"), { reporters: 1, messages: 1 })
        const other = yield* given((yield* Fresh.tenant).tenantId)
        assert.deepStrictEqual(yield* other.add(9, "bounced", one, "d"), { reporters: 1, messages: 1 })
      })
    )

    it.effect("count feedback that is younger than the window, from the latest time of a reporter", () =>
      Effect.gen(function* () {
        const { add, ids } = yield* given((yield* Fresh.tenant).tenantId)
        const [one, two] = ids
        yield* add(5, "bounced", one, "a", "b")
        yield* add(6, "bounced", two, "b")
        assert.deepStrictEqual(yield* add(5 + WINDOW, "bounced", two, "c"), { reporters: 2, messages: 1 })
        assert.deepStrictEqual(yield* add(6 + WINDOW, "bounced", one, "d"), { reporters: 2, messages: 2 })
      })
    )

    it.effect("are undone with their transaction, and clear one tenant alone", () =>
      Effect.gen(function* () {
        const { tenantId } = yield* Fresh.tenant
        const { add, ids, store } = yield* given(tenantId)
        const other = yield* given((yield* Fresh.tenant).tenantId)
        yield* other.add(1, "bounced", ids[0], "z")
        yield* rolledBack(add(1, "bounced", ids[0], "a"))
        yield* add(2, "bounced", ids[0], "b")
        yield* rolledBack(store.clearFeedback(tenantId))
        assert.strictEqual((yield* add(3, "bounced", ids[0], "c")).reporters, 2)
        yield* store.clearFeedback(tenantId)
        assert.strictEqual((yield* add(4, "bounced", ids[0], "d")).reporters, 1)
        assert.strictEqual((yield* other.add(4, "bounced", ids[0], "y")).reporters, 2)
        yield* refused(
          store.addFeedback(
            {
              tenantId: yield* Fresh.id,
              reason: "bounced",
              reporters: ["a"],
              messageId: ids[0],
              at: Timestamp.Timestamp.make(1)
            },
            WINDOW
          )
        )
      })
    )
  })
}

/** Tests of `findSending` and `putSending`. */
export const sendingTests: ContractTests<MailboxStore | MessageStore> = (it) => {
  describe("findSending and putSending", () => {
    const record: SendingRecord = { day: 20_000, recipients: 7, recipientsBefore: 2, level: 3, pause: null }
    const paused: SendingRecord = {
      ...record,
      pause: { until: Timestamp.Timestamp.make(1_800_000_000_000), reason: "complained" }
    }

    it.effect("keep the last record of each tenant", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const [one, two] = yield* Effect.all([Fresh.tenant, Fresh.tenant])
        assert.isUndefined(yield* store.findSending(one.tenantId))
        for (const put of [record, paused, { ...record, day: 20_001 }]) {
          yield* store.putSending(one.tenantId, put)
          assert.deepStrictEqual(yield* store.findSending(one.tenantId), put)
        }
        assert.isUndefined(yield* store.findSending(two.tenantId))
      })
    )

    it.effect("are undone with their transaction", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const { tenantId } = yield* Fresh.tenant
        yield* rolledBack(store.putSending(tenantId, record))
        assert.isUndefined(yield* store.findSending(tenantId))
        yield* store.putSending(tenantId, record)
        yield* rolledBack(store.putSending(tenantId, paused))
        assert.deepStrictEqual(yield* store.findSending(tenantId), record)
      })
    )

    it.effect("list the tenants whose sending is paused now, those whose pause ends first before others", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const now = yield* (yield* StoreClock).now
        const pausedFor = Effect.fnUntraced(function* (millis: number) {
          const { tenantId } = yield* Fresh.tenant
          const pause = { until: Timestamp.add(now, millis), reason: "complained" } as const
          yield* store.putSending(tenantId, { ...record, pause })
          return { tenantId, pause }
        })
        const long = yield* pausedFor(2 * Timestamp.HOUR)
        const short = yield* pausedFor(Timestamp.HOUR)
        const over = yield* pausedFor(-1)
        const never = yield* Fresh.tenant
        yield* store.putSending(never.tenantId, record)
        const own = [long, short, over, never].map(({ tenantId }) => tenantId)
        const paused = yield* store.listPaused(1_000)
        assert.deepStrictEqual(
          paused.filter(({ tenantId }) => own.includes(tenantId)),
          [short, long]
        )
        assert.lengthOf(yield* store.listPaused(1), 1)
      })
    )

    it.effect("lose no change under the tenant's lock", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const tenants = yield* TenantStore
        const transactor = yield* Transactor
        const { tenantId } = yield* Fresh.tenant
        yield* Effect.forEach(
          Array.range(1, 20),
          () =>
            transactor.transact(
              Effect.gen(function* () {
                yield* tenants.lock([tenantId])
                const before = (yield* store.findSending(tenantId)) ?? { ...record, recipients: 0 }
                yield* store.putSending(tenantId, { ...before, recipients: before.recipients + 1 })
              })
            ),
          { concurrency: "unbounded" }
        )
        assert.strictEqual((yield* store.findSending(tenantId))?.recipients, 20)
      })
    )
  })
}
