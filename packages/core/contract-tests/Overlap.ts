import { TenantStore, Transactor } from "@agentos/core"
import { Array, Deferred, Effect, Fiber } from "effect"
import type { StoreCapabilities } from "./Contract.ts"
import * as Fresh from "./Fresh.ts"

/** Number of queries sent to the database while the second transaction runs. */
const ROUNDS = 25

/** Two effects that run in overlapping transactions, and how the first of these ends. */
export interface Overlap<A, B, E, R> {
  readonly first: Effect.Effect<A, E, R>
  readonly second: Effect.Effect<B, E, R>
  readonly firstEnds: "committed" | "rolled back"
  /** The second must not wait for the first: the first's transaction stays open until the second has ended. */
  readonly secondEndsFirst?: boolean
}

/** The result of the first transaction, which was told to fail. */
class RolledBack<A> {
  readonly value: A
  constructor(value: A) {
    this.value = value
  }
}

/**
 * Runs two effects in overlapping transactions. When the second begins, the first has run its effect and its
 * transaction is still open. The first ends when the second is done. Unless `secondEndsFirst`, it also ends once the
 * second has had enough time to finish if nothing blocked it. Without concurrent transactions, both are started at the
 * same time.
 */
export const overlapping = Effect.fnUntraced(function* <A, B, E, R>(
  capabilities: StoreCapabilities,
  { first, firstEnds, second, secondEndsFirst = false }: Overlap<A, B, E, R>
) {
  const { transact } = yield* Transactor
  const tenants = yield* TenantStore
  const apart = capabilities.concurrentTransactions === true
  const [done, begun, proceed] = yield* Effect.all([
    Deferred.make<void>(),
    Deferred.make<void>(),
    Deferred.make<void>()
  ])

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
  const secondFiber = yield* Effect.forkChild(transact(Effect.andThen(Deferred.succeed(begun, undefined), second)))
  const secondEnd = Effect.asVoid(Fiber.await(secondFiber))
  if (apart) {
    yield* secondEndsFirst ? secondEnd : Effect.raceFirst(Deferred.await(begun), secondEnd)
    for (const _ of Array.range(1, ROUNDS)) {
      if (secondFiber.pollUnsafe() === undefined) yield* tenants.find(yield* Fresh.id)
    }
  }
  yield* Deferred.succeed(proceed, undefined)
  return [yield* Fiber.join(firstFiber), yield* Fiber.join(secondFiber)] as const
})
