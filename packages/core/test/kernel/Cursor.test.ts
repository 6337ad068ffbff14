import { Cursor } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as TestKeyring from "../support/TestKeyring.ts"

const scope = { tenantId: "tenant-a", list: "events", filter: { types: ["email.received"] } }
const position = { createdAt: 1_790_000_000_123, id: "01900000-0000-7000-8000-00000000abcd" }

describe("Cursor", () => {
  it.effect("decodes to the same position for the same tenant, list and filter", () =>
    Effect.gen(function* () {
      const cursor = yield* Cursor.encode(scope, position)
      assert.deepStrictEqual(yield* Cursor.decode(scope, cursor), position)
    }).pipe(Effect.provide(TestKeyring.layer))
  )

  it.effect("is rejected for any other scope, and when one character is changed", () =>
    Effect.gen(function* () {
      const cursor = yield* Cursor.encode(scope, position)
      const others = [
        { ...scope, tenantId: "tenant-b" },
        { ...scope, list: "messages" },
        { ...scope, filter: {} }
      ]
      for (const other of others) {
        const error = yield* Effect.flip(Cursor.decode(other, cursor))
        assert.strictEqual(error.issues[0]?.path, "cursor")
      }
      for (let i = 0; i < cursor.length; i++) {
        const changed = cursor.slice(0, i) + (cursor[i] === "0" ? "1" : "0") + cursor.slice(i + 1)
        yield* Effect.flip(Cursor.decode(scope, changed))
      }
      for (const text of ["", "x", cursor + "0", cursor.slice(1)]) yield* Effect.flip(Cursor.decode(scope, text))
    }).pipe(Effect.provide(TestKeyring.layer))
  )

  it.effect("ends a list whose last page is exactly full", () =>
    Effect.gen(function* () {
      const positionOf = (id: string) => ({ createdAt: 1, id })
      const [a, b] = [position.id, position.id.replace("abcd", "abce")]
      assert.strictEqual((yield* Cursor.page(scope, [a, b], 2, positionOf)).nextCursor, null)
      const more = yield* Cursor.page(scope, [a, b], 1, positionOf)
      assert.deepStrictEqual(more.items, [a])
      assert.deepStrictEqual(yield* Cursor.decode(scope, more.nextCursor!), { createdAt: 1, id: a })
    }).pipe(Effect.provide(TestKeyring.layer))
  )
})
