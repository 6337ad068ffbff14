import { TenantStore, Transactor } from "@agentos/core"
import { Array, Deferred, Effect, Fiber } from "effect"
import type { StoreCapabilities } from "./Contract.ts"
import * as Fresh from "./Fresh.ts"

/** How often the database is asked something else while the second transaction is let run. */
const ROUNDS = 25

/** Two things done in transactions of their own that overlap, and how the first of these ends. */
export interface Overlap<A, B, E, R> {
  readonly first: Effect.Effect<A, E, R>
  readonly second: Effect.Effect<B, E, R>
  readonly firstEnds: "committed" | "rolled back"
}

/** What the first transaction had done when it was told to fail. */
class RolledBack<A> {
  readonly value: A
  constructor(value: A) {
    this.value = value
  }
}

/**
 * Does two things in transactions that overlap: when the second begins, the first has done its part and
 * its transaction is still open; it ends when the second is done, or has had time enough to be done if
 * nothing held it up. Where no two transactions can be open at once, they are asked for at once.
 */
export const overlapping = Effect.fnUntraced(function* <A, B, E, R>(
  capabilities: StoreCapabilities,
  { first, firstEnds, second }: Overlap<A, B, E, R>
) {
  const { transact } = yield* Transactor
  const tenants = yield* TenantStore
  const apart = capabilities.concurrentTransactions === true
  const [done, proceed] = yield* Effect.all([Deferred.make<void>(), Deferred.make<void>()])

  const held = Effect.gen(function* () {
    const value = yield* first
    yield* Deferred.succeed(done, undefined)
    if (apart) yield* Deferred.await(proceed)
    return firstEnds === "committed" ? value : yield* Effect.fail(new RolledBack(value))
  })
  const firstFiber = yield* Effect.forkChild(
    Effect.catchIf(
      transact(held),
      (error): error is RolledBack<A> => error instanceof RolledBack,
      ({ value }) => Effect.succeed(value)
    )
  )
  yield* Effect.raceFirst(Deferred.await(done), Effect.asVoid(Fiber.await(firstFiber)))
  const secondFiber = yield* Effect.forkChild(transact(second))
  if (apart) {
    for (const _ of Array.range(1, ROUNDS)) {
      if (secondFiber.pollUnsafe() === undefined) yield* tenants.find(yield* Fresh.id)
    }
  }
  yield* Deferred.succeed(proceed, undefined)
  return [yield* Fiber.join(firstFiber), yield* Fiber.join(secondFiber)] as const
})
