import { InboundMailStore, type MailboxStore, type MessageStore, Timestamp } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Array, Effect } from "effect"
import type { ContractTests } from "../Contract.ts"
import { overlapping } from "../Overlap.ts"
import { StoreClock } from "../StoreClock.ts"
import { emptied, ids, LEASE, queued } from "./InboundMailSample.ts"
import * as Mailboxes from "./MailboxSample.ts"
import * as Sample from "./MessageSample.ts"

/** Tests of `giveUp`. */
export const giveUpTests: ContractTests<InboundMailStore | MailboxStore | MessageStore> = (it, capabilities) => {
  const AGE = Timestamp.HOUR

  /** Leases all waiting mails this many times without completing them. */
  const tried = Effect.fnUntraced(function* (times: number) {
    const store = yield* InboundMailStore
    const clock = yield* StoreClock
    for (const _ of Array.range(1, times)) {
      yield* store.lease(1_000, LEASE)
      yield* clock.advance(LEASE)
    }
  })

  it.effect("counts the mails that wait, and returns when the oldest was received", () =>
    Effect.gen(function* () {
      const store = yield* emptied
      assert.deepStrictEqual(yield* store.backlog(10), { count: 0, since: null })
      const mails = yield* queued(3)
      const since = mails[0]!.receivedAt
      assert.deepStrictEqual(yield* store.backlog(10), { count: 3, since })
      assert.deepStrictEqual(yield* store.backlog(2), { count: 2, since })
      const [first] = yield* store.lease(1, LEASE)
      assert.deepStrictEqual(yield* store.backlog(10), { count: 3, since }, "one is leased")
      yield* store.complete([first!])
      assert.deepStrictEqual(yield* store.backlog(10), { count: 2, since: mails[1]!.receivedAt })
      assert.strictEqual(first?.inboundMailId, mails[0]?.inboundMailId)
    })
  )

  describe("giveUp", () => {
    it.effect("deletes mails that are old, have enough attempts and are not leased: up to `limit`, oldest first", () =>
      Effect.gen(function* () {
        const store = yield* emptied
        const clock = yield* StoreClock
        const mails = yield* queued(3)
        yield* tried(2)
        yield* clock.advance(AGE)
        yield* tried(1)
        const given = { age: AGE, attempts: 3, limit: 2 }
        const [late] = yield* queued(1)
        assert.deepStrictEqual(yield* store.giveUp({ ...given, attempts: 4 }), [])
        assert.deepStrictEqual(yield* store.giveUp({ ...given, age: 3 * AGE }), [])
        assert.deepStrictEqual(yield* store.giveUp({ ...given, limit: 0 }), [])
        assert.sameMembers([...(yield* store.giveUp(given))], ids(mails.slice(0, 2)))
        assert.deepStrictEqual(ids(yield* store.lease(1, LEASE)), [mails[2]!.inboundMailId])
        assert.deepStrictEqual(yield* store.giveUp(given), [], "leased")
        yield* clock.advance(LEASE)
        assert.deepStrictEqual(yield* store.giveUp(given), [mails[2]!.inboundMailId])
        assert.deepStrictEqual(ids(yield* store.lease(10, LEASE)), [late!.inboundMailId])
      })
    )

    it.effect("keeps completed mails, and those that a message refers to", () =>
      Effect.gen(function* () {
        const store = yield* emptied
        const clock = yield* StoreClock
        const { mailbox } = yield* Mailboxes.owner
        const [delivered, referred, none] = yield* queued(3)
        const messages = yield* Effect.forEach([delivered!, referred!], ({ inboundMailId }) =>
          Sample.stored(mailbox, {}, { inboundMailId })
        )
        yield* Sample.completed(delivered!)
        yield* tried(3)
        yield* clock.advance(AGE)
        assert.deepStrictEqual(yield* store.giveUp({ age: AGE, attempts: 3, limit: 9 }), [none!.inboundMailId])
        assert.strictEqual(yield* Sample.rawOf(messages[0]!), Sample.latin1(delivered!.raw))
        assert.strictEqual(yield* Sample.rawOf(messages[1]!), Sample.latin1(referred!.raw))
      })
    )

    it.effect("does not wait for a reader of a mail, and does not delete that mail", () =>
      Effect.gen(function* () {
        const store = yield* emptied
        const clock = yield* StoreClock
        const mails = yield* queued(2)
        yield* tried(3)
        yield* clock.advance(AGE)
        const [leased, given] = yield* overlapping(capabilities, {
          first: store.lease(1, LEASE),
          second: store.giveUp({ age: AGE, attempts: 3, limit: 9 }),
          firstEnds: "committed"
        })
        assert.deepStrictEqual([...ids(leased), ...given], ids(mails))
      })
    )
  })
}
