import { InboundMailStore, MailboxStore, type MessageStore, Timestamp } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect, Option } from "effect"
import type { ContractTests } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { overlapping } from "../Overlap.ts"
import { StoreClock } from "../StoreClock.ts"
import { emptied, ids, LEASE, queued } from "./InboundMailSample.ts"
import * as Mailboxes from "./MailboxSample.ts"
import * as Sample from "./MessageSample.ts"

const found = Effect.fnUntraced(function* (inboundMailId: string) {
  return Option.getOrThrow(yield* (yield* InboundMailStore).findQueued(inboundMailId))
})

/** Tests of what operators see of waiting mail, and do with it. */
export const handTests: ContractTests<InboundMailStore | MailboxStore | MessageStore> = (it, capabilities) => {
  describe("postpone", () => {
    it.effect("ends the lease with its failure until the next attempt, for its own lease only", () =>
      Effect.gen(function* () {
        const store = yield* emptied
        const clock = yield* StoreClock
        const [mail] = yield* queued(1)
        const { inboundMailId, receivedAt } = mail!
        assert.deepInclude(yield* found(inboundMailId), {
          attempts: 0,
          failure: null,
          isLeased: false,
          dueAt: receivedAt,
          sizeBytes: mail!.raw.length
        })
        const [leased] = yield* store.lease(1, LEASE)
        assert.deepInclude(yield* found(inboundMailId), { attempts: 1, failure: null, isLeased: true })
        assert.isTrue(yield* store.postpone(leased!, 2 * LEASE, "no room"))
        assert.deepInclude(yield* found(inboundMailId), { attempts: 1, failure: "no room", isLeased: false })
        yield* clock.advance(LEASE)
        assert.deepStrictEqual(yield* store.lease(1, LEASE), [])
        yield* clock.advance(LEASE)
        const [again] = yield* store.lease(1, LEASE)
        assert.deepStrictEqual([leased?.failedAttempt, again?.failedAttempt], [null, 1])
        yield* clock.advance(LEASE)
        const [after] = yield* store.lease(1, LEASE)
        assert.deepInclude(after, { attempts: 3, failedAttempt: 1 })
        assert.deepInclude(yield* found(inboundMailId), { attempts: 3, failure: "no room", isLeased: true })
        assert.isFalse(yield* store.postpone(leased!, LEASE, "late"))
        yield* store.complete([after!])
        assert.isFalse(yield* store.postpone(after!, LEASE, "completed"))
        assert.deepStrictEqual(yield* store.findQueued(inboundMailId), Option.none())
      })
    )
  })

  describe("listQueued", () => {
    it.effect("returns the waiting mails by id, that match every condition, page by page", () =>
      Effect.gen(function* () {
        const store = yield* emptied
        const clock = yield* StoreClock
        const [one, two] = [yield* Mailboxes.owner, yield* Mailboxes.owner]
        const receivedAt = yield* clock.now
        const add = Effect.fnUntraced(function* (...mailboxIds: ReadonlyArray<string>) {
          const mail = yield* Sample.inboundMail({ receivedAt })
          yield* store.add([{ mail, mailboxIds }])
          return mail.inboundMailId
        })
        const [first, second] = [one.mailbox.mailboxId, two.mailbox.mailboxId]
        const [both, only, none] = [yield* add(first, second), yield* add(first), yield* add()]
        const large = yield* Sample.inboundMail({ raw: new Uint8Array(300_000) })
        yield* store.stage(large)
        const [leased] = yield* store.lease(1, LEASE)
        yield* store.postpone(leased!, LEASE, "a failure")
        const list = (query: Partial<Parameters<typeof store.listQueued>[0]>) =>
          Effect.map(store.listQueued({ limit: 9, ...query }), ids)
        const all = [both, only, none].toSorted()
        const [, middle] = all
        assert.deepStrictEqual(yield* list({}), all, "a staged mail was not accepted")
        assert.deepStrictEqual(yield* list({ limit: 2 }), all.slice(0, 2))
        assert.deepStrictEqual(yield* list({ after: middle! }), all.slice(2))
        assert.deepStrictEqual(yield* list({ mailboxId: first }), [both, only].toSorted())
        assert.deepStrictEqual(yield* list({ tenantId: two.tenantId }), [both])
        assert.deepStrictEqual(yield* list({ tenantId: (yield* Fresh.tenant).tenantId }), [])
        assert.deepStrictEqual(yield* list({ hasFailed: true }), [leased!.inboundMailId])
        assert.lengthOf(yield* list({ hasFailed: false }), 2)
        assert.deepStrictEqual(yield* list({ age: Timestamp.MINUTE }), [])
        yield* clock.advance(Timestamp.MINUTE)
        assert.deepStrictEqual(yield* list({ age: Timestamp.MINUTE }), all)
        assert.sameMembers([...(yield* found(both)).mailboxIds], [first, second])
        yield* store.discard(large.inboundMailId)
      })
    )
  })

  describe("replay", () => {
    it.effect("makes a postponed mail due, with its attempts before that not counted, but none that is leased", () =>
      Effect.gen(function* () {
        const store = yield* emptied
        const clock = yield* StoreClock
        const [mail] = yield* queued(1)
        const { inboundMailId } = mail!
        const [first] = yield* store.lease(1, LEASE)
        assert.isFalse(yield* store.replay(inboundMailId), "a worker holds the lease")
        yield* store.postpone(first!, Timestamp.DAY, "a failure")
        assert.isTrue(yield* store.replay(inboundMailId))
        assert.isTrue(yield* store.replay(inboundMailId), "it is due already")
        const [second] = yield* store.lease(1, LEASE)
        assert.deepInclude(second, { attempts: 2, replayedAfter: 1 })
        yield* clock.advance(LEASE)
        assert.isTrue(yield* store.replay(inboundMailId), "the lease has expired")
        assert.deepStrictEqual(yield* store.giveUp({ age: 0, attempts: 1, limit: 9 }), [], "it had no attempt since")
        const [third] = yield* store.lease(1, LEASE)
        assert.isFalse(yield* store.renew(second!, LEASE))
        yield* store.complete([third!])
        assert.isFalse(yield* store.replay(inboundMailId))
        assert.isFalse(yield* store.replay(yield* Fresh.id))
      })
    )
  })

  describe("drop", () => {
    it.effect("deletes a waiting mail with its count, but none that is leased, completed or has a message", () =>
      Effect.gen(function* () {
        const store = yield* emptied
        const mailboxes = yield* MailboxStore
        const clock = yield* StoreClock
        const { mailbox } = yield* Mailboxes.owner
        const { mailboxId } = mailbox
        const usage = Effect.map(mailboxes.findStandings([mailboxId]), (all) => all.get(mailboxId)?.usage)
        const before = yield* usage
        const mail = yield* Sample.inboundMail()
        yield* store.add([{ mail, mailboxIds: [mailboxId] }])
        const [leased] = yield* store.lease(1, LEASE)
        assert.isFalse(yield* store.drop(mail.inboundMailId), "a worker holds the lease")
        yield* store.postpone(leased!, LEASE, "a failure")
        assert.isTrue(yield* store.drop(mail.inboundMailId))
        assert.isFalse(yield* store.drop(mail.inboundMailId))
        assert.deepStrictEqual(yield* usage, before)
        assert.lengthOf(yield* Sample.bytesOf(mail), 0)
        assert.isFalse(yield* store.renew(leased!, LEASE))

        const [referred, completed] = yield* queued(2)
        yield* Sample.stored(mailbox, {}, { inboundMailId: referred!.inboundMailId })
        yield* Sample.stored(mailbox, {}, { inboundMailId: completed!.inboundMailId })
        yield* Sample.completed(completed!)
        assert.isFalse(yield* store.drop(referred!.inboundMailId))
        assert.isFalse(yield* store.drop(completed!.inboundMailId))
        yield* clock.advance(LEASE)
      })
    )

    it.effect("deletes no mail that is leased meanwhile", () =>
      Effect.gen(function* () {
        const store = yield* emptied
        const [mail] = yield* queued(1)
        const [leased, isDropped] = yield* overlapping(capabilities, {
          first: store.lease(1, LEASE),
          second: store.drop(mail!.inboundMailId),
          firstEnds: "committed"
        })
        assert.deepStrictEqual(ids(leased), [mail!.inboundMailId])
        assert.isFalse(isDropped)
      })
    )
  })
}
