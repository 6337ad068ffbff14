import { type SalesScope, SalesStopStore, Timestamp, Transactor } from "@agentos/core"
import { assert } from "@effect/vitest"
import { Effect, Fiber, Latch } from "effect"
import { AWKWARD_TEXTS } from "../AwkwardText.ts"
import { defineContract } from "../Contract.ts"

const AT = Timestamp.fromMillis(1_800_000_000_000)
const SEND = "email.message.send"

/** Ends every stop, since all tests share them. */
const cleared = Effect.gen(function* () {
  const store = yield* SalesStopStore
  yield* Effect.forEach(yield* store.list, ({ scope }) => store.remove(scope))
  return store
})

const stopOf = (scope: SalesScope, reason = "Maintenance.", at = AT) => ({ scope, reason, at })

/** The contract tests of `SalesStopStore`. */
export const SalesStopStoreContract = defineContract<SalesStopStore>("SalesStopStore", (it) => {
  it.effect("lists the stops of services, of all and of networks, in ascending order", () =>
    Effect.gen(function* () {
      const store = yield* cleared
      assert.deepStrictEqual(yield* store.list, [])
      const [number, all, send] = [stopOf("phone.number.us.30d"), stopOf("all", "An outage."), stopOf(SEND)]
      const network = stopOf("eip155:56")
      yield* Effect.forEach([number, all, send, network], store.put)
      assert.deepStrictEqual(yield* store.list, [all, network, send, number])
      yield* cleared
    })
  )

  it.effect("changes the reason of a stop, and not its start", () =>
    Effect.gen(function* () {
      const store = yield* cleared
      yield* store.put(stopOf(SEND))
      yield* store.put(stopOf(SEND, "Another reason.", Timestamp.add(AT, 1_000)))
      assert.deepStrictEqual(yield* store.list, [stopOf(SEND, "Another reason.")])
      yield* cleared
    })
  )

  it.effect("removes one stop, once", () =>
    Effect.gen(function* () {
      const store = yield* cleared
      assert.isFalse(yield* store.remove("all"))
      yield* Effect.forEach([stopOf("all"), stopOf(SEND)], store.put)
      assert.isTrue(yield* store.remove("all"))
      assert.isFalse(yield* store.remove("all"))
      assert.deepStrictEqual(yield* store.list, [stopOf(SEND)])
      yield* cleared
    })
  )

  it.effect("stores any text as the reason", () =>
    Effect.gen(function* () {
      const store = yield* cleared
      for (const text of AWKWARD_TEXTS) {
        yield* store.put(stopOf(SEND, text))
        assert.deepStrictEqual(yield* store.list, [stopOf(SEND, text)])
      }
      yield* cleared
    })
  )

  it.effect("lets one change at a time continue, until its transaction ends", () =>
    Effect.gen(function* () {
      const store = yield* cleared
      const { transact } = yield* Transactor
      const isLocked = yield* Latch.make()
      const first = yield* Effect.forkChild(
        transact(
          Effect.gen(function* () {
            yield* store.lock
            yield* isLocked.open
            // Time in which the other change would read, if it could.
            for (let read = 0; read < 100; read++) yield* store.list
            yield* store.put(stopOf("eip155:56"))
          })
        )
      )
      yield* isLocked.await
      assert.deepStrictEqual(yield* transact(Effect.andThen(store.lock, store.list)), [stopOf("eip155:56")])
      yield* Fiber.join(first)
      yield* cleared
    })
  )

  it.effect("undoes its changes with their transaction", () =>
    Effect.gen(function* () {
      const store = yield* cleared
      const { transact } = yield* Transactor
      yield* store.put(stopOf("all"))
      const changes = Effect.all([store.put(stopOf("all", "Undone.")), store.put(stopOf(SEND)), store.remove("all")])
      yield* Effect.flip(transact(Effect.andThen(changes, Effect.fail("rolled back"))))
      assert.deepStrictEqual(yield* store.list, [stopOf("all")])
      yield* cleared
    })
  )
})
