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

/** Tests of `complete`. */
export const completeTests: ContractTests<InboundMailStore | MailboxStore | MessageStore> = (it, capabilities) => {
  describe("two transactions that complete a mail", () => {
    it.effect("return different results: the second finds it completed, unless the first was rolled back", () =>
      Effect.gen(function* () {
        for (const firstEnds of ["committed", "rolled back"] as const) {
          const store = yield* emptied
          const { mailbox } = yield* Mailboxes.owner
          const [unused, used] = yield* queued(2)
          yield* Sample.stored(mailbox, {}, { inboundMailId: used!.inboundMailId })
          for (const { inboundMailId } of [unused!, used!]) {
            const complete = store.complete(inboundMailId)
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
        yield* store.lease(1, LEASE)
        yield* store.complete(first!.inboundMailId)
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
        for (const { inboundMailId } of [mail!, used!]) {
          assert.isTrue(yield* store.complete(inboundMailId))
          assert.isFalse(yield* store.complete(inboundMailId))
        }
        assert.isFalse(yield* store.complete(yield* Fresh.id))
        assert.deepStrictEqual(ids(yield* store.lease(10, LEASE)), [other!.inboundMailId])
      })
    )
  })
}
