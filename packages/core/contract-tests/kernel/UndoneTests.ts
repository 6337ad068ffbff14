import { Transactor } from "@agentos/core"
import { assert } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Fiber } from "effect"
import type { ContractTester, HarnessServices } from "../Contract.ts"

/** A change, and an effect that shows whether it was made. Prepared anew for each way in which it is rolled back. */
export interface Change<R> {
  readonly make: Effect.Effect<unknown, unknown, R>
  readonly observe: Effect.Effect<unknown, unknown, R>
}

/** A way of making a change in a transaction that does not commit. */
type Undoing = (
  transact: Transactor["Service"]["transact"],
  make: Effect.Effect<unknown, unknown>
) => Effect.Effect<void>

const expectExit = <A, E>(effect: Effect.Effect<A, E>, expected: Exit.Exit<never, string>) =>
  Effect.map(Effect.exit(effect), (exit) => assert.deepStrictEqual<unknown>(exit, expected))

const refused = Effect.fail("refused" as const)

const WAYS: Readonly<Record<string, Undoing>> = {
  "it fails": (transact, make) => expectExit(transact(Effect.andThen(make, refused)), Exit.fail("refused")),
  "it dies": (transact, make) =>
    expectExit(transact(Effect.andThen(make, Effect.die("broken"))), Exit.failCause(Cause.die("broken"))),
  "it is interrupted": (transact, make) =>
    Effect.gen(function* () {
      const made = yield* Deferred.make<void>()
      const waiting = Effect.andThen(Deferred.succeed(made, undefined), Effect.never)
      const fiber = yield* Effect.forkChild(transact(Effect.andThen(make, waiting)))
      yield* Effect.raceFirst(Deferred.await(made), Effect.asVoid(Effect.exit(Fiber.join(fiber))))
      yield* Fiber.interrupt(fiber)
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
    }),
  "the transaction that it joined fails": (transact, make) =>
    expectExit(transact(Effect.andThen(transact(make), refused)), Exit.fail("refused")),
  "a nested transaction fails and no one recovers": (transact, make) =>
    expectExit(transact(Effect.andThen(make, transact(refused))), Exit.fail("refused"))
}

/**
 * Registers a test that a change is rolled back with its transaction, however that ends, and remains when it
 * commits.
 */
export const undoneTest = <Ports, R extends Ports | HarnessServices>(
  it: ContractTester<Ports>,
  name: string,
  prepare: Effect.Effect<Change<R>, unknown, R>
): void =>
  it.effect(`${name} is undone with its transaction, however that ends`, () =>
    Effect.gen(function* () {
      const { transact } = yield* Transactor
      const context = yield* Effect.context<R>()
      for (const [way, undo] of Object.entries(WAYS)) {
        const { make, observe } = yield* prepare
        const before = yield* observe
        yield* undo(transact, Effect.provideContext(make, context))
        assert.deepStrictEqual(yield* observe, before, `undone when ${way}`)
      }
      const { make, observe } = yield* prepare
      const before = yield* observe
      yield* transact(transact(make))
      assert.notDeepEqual(yield* observe, before, "made when it commits")
    })
  )
