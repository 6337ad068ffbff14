import { type Cause, Deferred, Effect, type Exit } from "effect"
import * as Batcher from "./Batcher.ts"

export interface CallGroupOptions<A, B, E> {
  /** Maximum size of a group. A call that exceeds it is a group of its own. */
  readonly limit: number
  readonly sizeOf: (item: A) => number
  /**
   * Processes a group as a whole or not at all, and returns the result of each item, in order. Around a step that only
   * one item can make fail, it sets `culprit` to that item.
   */
  readonly work: (items: ReadonlyArray<A>, culprit: Culprit<A>) => Effect.Effect<ReadonlyArray<Exit.Exit<B, E>>, E>
}

/** The item that the current step is for; undefined in a step for several. */
export interface Culprit<A> {
  item: A | undefined
}

/** Runs a step that only this item can make fail. */
export const onBehalfOf =
  <A>(culprit: Culprit<A>, item: A) =>
  <B, E, R>(step: Effect.Effect<B, E, R>): Effect.Effect<B, E, R> =>
    Effect.suspend(() => {
      culprit.item = item
      return Effect.tap(step, () => Effect.sync(() => (culprit.item = undefined)))
    })

interface Call<A, B, E> {
  readonly item: A
  readonly answer: Deferred.Deferred<B, E>
}

/**
 * Processes calls that overlap in groups: one group at a time, and the calls that arrive meanwhile are the next one. So
 * one transaction serves many calls when there are many, and no call waits for others when there are not.
 *
 * No call fails because of another. If a group fails, the item that failed is answered and the others are repeated
 * without it. If it is unknown which item failed, each is repeated alone. A call that is interrupted while it waits is
 * not processed; a group in progress is finished.
 */
export const make = Effect.fnUntraced(function* <A, B, E>({
  limit,
  sizeOf,
  work
}: CallGroupOptions<A, B, E>): Effect.fn.Return<(item: A) => Effect.Effect<B, E>> {
  const context = yield* Effect.context<never>()

  const answerAll = (calls: ReadonlyArray<Call<A, B, E>>, cause: Cause.Cause<E>) =>
    Effect.forEach(calls, ({ answer }) => Deferred.failCause(answer, cause), { discard: true })

  const process = (calls: ReadonlyArray<Call<A, B, E>>): Effect.Effect<void> =>
    Effect.suspend(() => {
      const culprit: Culprit<A> = { item: undefined }
      return Effect.matchCauseEffect(
        work(
          calls.map(({ item }) => item),
          culprit
        ),
        {
          onSuccess: (results) =>
            Effect.forEach(calls, ({ answer }, index) => Deferred.done(answer, results[index]!), { discard: true }),
          onFailure: (cause) => {
            if (calls.length === 1) return answerAll(calls, cause)
            const failed = calls.filter(({ item }) => item === culprit.item)
            const others = calls.filter(({ item }) => item !== culprit.item)
            return failed.length === 0
              ? Effect.forEach(others, (call) => process([call]), { concurrency: "unbounded", discard: true })
              : Effect.andThen(answerAll(failed, cause), process(others))
          }
        }
      )
    })

  const batcher = Batcher.make<Call<A, B, E>, never>(
    { limit, sizeOf: ({ item }) => sizeOf(item), work: process, failed: answerAll },
    Effect.runForkWith(context)
  )
  return (item) =>
    Effect.suspend(() => {
      const call: Call<A, B, E> = { item, answer: Deferred.makeUnsafe<B, E>() }
      batcher.offer(call)
      return Effect.onInterrupt(Deferred.await(call.answer), () => Effect.sync(() => batcher.remove(call)))
    })
})
