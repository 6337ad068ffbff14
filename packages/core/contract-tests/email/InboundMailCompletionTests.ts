import type { InboundMailStore, MailboxStore, MessageStore } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import type { ContractTests } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { overlapping } from "../Overlap.ts"
import { StoreClock } from "../StoreClock.ts"
import { emptied, ids, LEASE, queued } from "./InboundMailSample.ts"
import * as Mailboxes from "./MailboxSample.ts"
import * as Sample from "./MessageSample.ts"

/** Tests of `renew` and `complete`. */
export const completeTests: ContractTests<InboundMailStore | MailboxStore | MessageStore> = (it, capabilities) => {
  describe("renew", () => {
    it.effect("extends the lease from now, also an expired one, and counts no attempt", () =>
      Effect.gen(function* () {
        const store = yield* emptied
        const clock = yield* StoreClock
        yield* queued(1)
        const [mail] = yield* store.lease(1, LEASE)
        for (const passed of [LEASE - 10_000, 2 * LEASE]) {
          yield* clock.advance(passed)
          assert.isTrue(yield* store.renew(mail!, LEASE))
          yield* clock.advance(LEASE - 10_000)
          assert.deepStrictEqual(yield* store.lease(1, LEASE), [])
        }
        yield* clock.advance(10_000)
        assert.deepStrictEqual(yield* store.lease(1, LEASE), [{ ...mail!, attempts: 2 }])
      })
    )

    it.effect("returns false and changes nothing once the mail was leased again, completed or given up", () =>
      Effect.gen(function* () {
        const store = yield* emptied
        const clock = yield* StoreClock
        const { mailbox } = yield* Mailboxes.owner
        const [retried, done, used] = yield* queued(3)
        yield* Sample.stored(mailbox, {}, { inboundMailId: used!.inboundMailId })
        const [first, second, third] = yield* store.lease(3, LEASE)
        assert.deepStrictEqual(ids([first!, second!, third!]), ids([retried!, done!, used!]))
        yield* Sample.completed(second!)
        yield* Sample.completed(third!)
        yield* clock.advance(LEASE)
        const [again] = yield* store.lease(1, LEASE)
        for (const lost of [first!, second!, third!, { ...first!, inboundMailId: yield* Fresh.id }]) {
          assert.isFalse(yield* store.renew(lost, 10 * LEASE))
        }
        yield* clock.advance(LEASE)
        assert.deepStrictEqual(ids(yield* store.lease(9, LEASE)), [again!.inboundMailId])
        yield* clock.advance(LEASE)
        yield* store.giveUp({ age: 0, attempts: 1, limit: 9 })
        assert.isFalse(yield* store.renew({ ...again!, attempts: 3 }, LEASE))
      })
    )
  })

  describe("two workers", () => {
    it.effect("never both hold a mail: a renewal excludes a lease, and a lease a renewal", () =>
      Effect.gen(function* () {
        for (const firstEnds of ["committed", "rolled back"] as const) {
          const store = yield* emptied
          const clock = yield* StoreClock
          yield* queued(1)
          const [mail] = yield* store.lease(1, LEASE)
          yield* clock.advance(LEASE)
          const [leased, renewed] = yield* overlapping(capabilities, {
            first: store.lease(1, LEASE),
            second: store.renew(mail!, LEASE),
            firstEnds
          })
          assert.lengthOf(leased, 1)
          assert.strictEqual(renewed, firstEnds === "rolled back")
        }
      })
    )
  })

  describe("two transactions that complete a mail", () => {
    it.effect("return different results: the second finds it completed, unless the first was rolled back", () =>
      Effect.gen(function* () {
        for (const firstEnds of ["committed", "rolled back"] as const) {
          yield* emptied
          const { mailbox } = yield* Mailboxes.owner
          const [unused, used] = yield* queued(2)
          yield* Sample.stored(mailbox, {}, { inboundMailId: used!.inboundMailId })
          for (const mail of [unused!, used!]) {
            const complete = Sample.completed(mail)
            const both = yield* overlapping(capabilities, { first: complete, second: complete, firstEnds })
            assert.deepStrictEqual(both, [true, firstEnds === "rolled back"])
          }
        }
      })
    )
  })

  describe("complete", () => {
    it.effect("ends a mail: it is never leased again", () =>
      Effect.gen(function* () {
        const store = yield* emptied
        const clock = yield* StoreClock
        const [first, second] = yield* queued(2)
        const [leased] = yield* store.lease(1, LEASE)
        assert.strictEqual(leased?.inboundMailId, first!.inboundMailId)
        assert.isTrue(yield* Sample.completed(leased!))
        yield* clock.advance(2 * LEASE)
        assert.deepStrictEqual(ids(yield* store.lease(10, LEASE)), [second!.inboundMailId])
      })
    )

    it.effect("changes nothing and returns false when repeated, and for an unknown mail", () =>
      Effect.gen(function* () {
        const store = yield* emptied
        const { mailbox } = yield* Mailboxes.owner
        const [mail, used, other] = yield* queued(3)
        yield* Sample.stored(mailbox, {}, { inboundMailId: used!.inboundMailId })
        for (const each of [mail!, used!]) {
          assert.isTrue(yield* Sample.completed(each))
          assert.isFalse(yield* Sample.completed(each))
        }
        assert.isFalse(yield* Sample.completed({ ...mail!, inboundMailId: yield* Fresh.id }))
        assert.deepStrictEqual(ids(yield* store.lease(10, LEASE)), [other!.inboundMailId])
      })
    )

    it.effect("completes those of several mails that were not leased again, and returns their ids", () =>
      Effect.gen(function* () {
        const store = yield* emptied
        const clock = yield* StoreClock
        const { mailbox } = yield* Mailboxes.owner
        const [again, used, unused, done] = yield* queued(4)
        const stored = yield* Sample.stored(mailbox, {}, { inboundMailId: used!.inboundMailId })
        const leased = yield* store.lease(4, LEASE)
        yield* Sample.completed(leased.find(({ inboundMailId }) => inboundMailId === done!.inboundMailId)!)
        yield* clock.advance(2 * LEASE)
        const [second] = yield* store.lease(1, LEASE)
        assert.deepStrictEqual(ids([second!]), ids([again!]))
        const completed = yield* store.complete([...leased, { inboundMailId: yield* Fresh.id, attempts: 1 }])
        assert.deepStrictEqual(completed, new Set(ids([used!, unused!])))
        assert.isDefined(yield* Sample.rawOf(stored))
        assert.lengthOf(yield* Sample.bytesOf(unused!), 0)
        assert.isAbove((yield* Sample.bytesOf(again!)).length, 0)
        assert.deepStrictEqual(yield* store.complete([second!]), new Set(ids([again!])))
        assert.deepStrictEqual(yield* store.complete([]), new Set())
      })
    )

    it.effect("succeeds after the lease has expired, unless the mail was leased again", () =>
      Effect.gen(function* () {
        const store = yield* emptied
        const clock = yield* StoreClock
        yield* queued(2)
        const first = yield* store.lease(2, LEASE)
        yield* clock.advance(2 * LEASE)
        const [second] = yield* store.lease(1, LEASE)
        assert.deepStrictEqual(ids([second!]), ids([first[0]!]))
        assert.isFalse(yield* Sample.completed(first[0]!), "the earlier lease")
        assert.isTrue(yield* Sample.completed(first[1]!), "expired, and not leased again")
        assert.isTrue(yield* Sample.completed(second!))
        yield* clock.advance(2 * LEASE)
        assert.deepStrictEqual(yield* store.lease(10, LEASE), [])
      })
    )
  })
}
