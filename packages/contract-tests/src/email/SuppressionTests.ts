import { type MailboxStore, MessageStore } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Array, Effect } from "effect"
import type { ContractTests } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { refused } from "../Refused.ts"
import { rolledBack } from "../RolledBack.ts"

const address = Effect.map(Fresh.word, (word) => `${word}@example.org`)

/** What is promised of `suppress` and `findSuppressed`. */
export const suppressionTests: ContractTests<MailboxStore | MessageStore> = (it) => {
  describe("suppress and findSuppressed", () => {
    it.effect("name the addresses that the tenant may no longer write to, and no others", () =>
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

    it.effect("again are as good as once: in one call, for another reason, and at once", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const { tenantId } = yield* Fresh.tenant
        const [a, b] = yield* Effect.all([address, address])
        yield* store.suppress(tenantId, [a, a], "bounced")
        yield* store.suppress(tenantId, [a, b], "complained")
        yield* Effect.forEach(
          Array.range(1, 10),
          (n) => store.suppress(tenantId, n % 2 === 0 ? [a, b] : [b, a], "bounced"),
          { concurrency: "unbounded" }
        )
        assert.sameMembers([...(yield* store.findSuppressed(tenantId, [a, b]))], [a, b])
      })
    )

    it.effect("take no addresses", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const { tenantId } = yield* Fresh.tenant
        yield* store.suppress(tenantId, [], "bounced")
        assert.deepStrictEqual(yield* store.findSuppressed(tenantId, []), [])
      })
    )

    it.effect("concern one tenant alone", () =>
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

    it.effect("take an address for what it is, and no pattern", () =>
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
