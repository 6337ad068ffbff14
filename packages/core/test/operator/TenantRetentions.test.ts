import { DEFAULT_MAIL_POLICY, JobRunner, MailPolicy, MessageStore, TenantRetentions, Timestamp } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as Mailboxes from "../../contract-tests/email/MailboxSample.ts"
import * as Sample from "../../contract-tests/email/MessageSample.ts"
import { StoreClock } from "../../contract-tests/StoreClock.ts"
import * as TestHost from "../support/TestHost.ts"

const CLOCK = Layer.succeed(StoreClock, { now: Timestamp.now, advance: (millis) => TestClock.adjust(millis) })
const POLICY = Layer.succeed(MailPolicy, { ...DEFAULT_MAIL_POLICY, messageRetention: 10 * Timestamp.DAY })

describe("the retention of a tenant", () => {
  it.effect("is longer or shorter than the default, or permanent, from the next run of the job on", () =>
    Effect.gen(function* () {
      const { set, show } = yield* TenantRetentions
      const { runNow } = yield* JobRunner
      const { find } = yield* MessageStore
      yield* TestClock.adjust("40 days")
      const owners = yield* Effect.forEach(["shorter", "usual", "longer", "permanent"], () => Mailboxes.owner)
      const messages = yield* Effect.forEach(owners, ({ mailbox }) => Sample.stored(mailbox, {}))
      const kept = Effect.forEach(messages, ({ messageId, tenantId }) =>
        Effect.map(find(tenantId, messageId), ({ _tag }) => _tag === "Owned")
      )
      const [shorter, , longer, permanent] = owners.map(({ tenantId }) => tenantId)
      yield* set(shorter!, { data: "messages", keep: 5 })
      yield* set(longer!, { data: "messages", keep: 20 })
      const { items } = yield* set(permanent!, { data: "messages", keep: "permanent" })
      assert.deepStrictEqual(items, (yield* show(permanent!)).items)
      const runs: Array<readonly [number, ReadonlyArray<boolean>]> = []
      for (let days = 0; days < 25; days += 6) {
        runs.push([yield* runNow("message-retention"), yield* kept])
        yield* TestClock.adjust("6 days")
      }
      assert.deepStrictEqual(runs, [
        [0, [true, true, true, true]],
        [1, [false, true, true, true]],
        [1, [false, false, true, true]],
        [0, [false, false, true, true]],
        [1, [false, false, false, true]]
      ])
      yield* set(permanent!, { data: "messages", keep: "default" })
      assert.strictEqual(yield* runNow("message-retention"), 1)
    }).pipe(Effect.provide(TestHost.make().layer.pipe(Layer.provide(POLICY), Layer.provideMerge(CLOCK))))
  )

  it.effect("is counted by a preview, which deletes nothing", () =>
    Effect.gen(function* () {
      const { preview } = yield* TenantRetentions
      const { find } = yield* MessageStore
      const { mailbox, tenantId } = yield* Mailboxes.owner
      const messages = yield* Effect.forEach([1, 2], () => Sample.stored(mailbox, {}))
      yield* TestClock.adjust("5 days")
      const previews = yield* Effect.forEach([5, 6], (keep) => preview(tenantId, { data: "messages", keep }))
      assert.deepStrictEqual(
        previews.map(({ hasMore, rows }) => ({ hasMore, rows })),
        [
          { hasMore: false, rows: 2 },
          { hasMore: false, rows: 0 }
        ]
      )
      for (const { messageId } of messages) {
        assert.strictEqual((yield* find(tenantId, messageId))._tag, "Owned")
      }
    }).pipe(Effect.provide(TestHost.make().layer.pipe(Layer.provide(POLICY), Layer.provideMerge(CLOCK))))
  )
})
