import { type Cause, Deferred, Effect, Exit } from "effect"
import * as Batcher from "./Batcher.ts"

/** A call that waits for its answer. */
export interface Call<A, B, E> {
  readonly item: A
  /** Answers the call. Only the first answer counts. */
  readonly answer: (exit: Exit.Exit<B, E>) => void
}

export interface AnsweringOptions<A, B, E, F> {
  /** Maximum size of a group. A call that exceeds it is a group of its own. */
  readonly limit: number
  /** The size of a call; 1 by default. */
  readonly sizeOf?: (item: A) => number
  /** Answers each call of a group. */
  readonly work: (calls: ReadonlyArray<Call<A, B, E>>) => Effect.Effect<void, F>
  /** Returns the answer to the calls that a failed group has left without one. */
  readonly failed: (cause: Cause.Cause<F>) => Exit.Exit<B, E>
}

interface WaitingCall<A, B, E> extends Call<A, B, E> {
  readonly answered: Deferred.Deferred<B, E>
}

/**
 * Processes calls that overlap in groups: one group at a time, and the calls that arrive meanwhile are the next one. So
 * one transaction serves many calls when there are many, and no call waits for others when there are not. Each call
 * returns its own answer as soon as there is one. A call that is interrupted while it waits is not processed; a group in
 * progress is finished. `fork` runs the groups.
 */
export const answering = <A, B, E, F>(
  { failed, limit, sizeOf = () => 1, work }: AnsweringOptions<A, B, E, F>,
  fork: (effect: Effect.Effect<void>) => void
): ((item: A) => Effect.Effect<B, E>) => {
  const answerOthers = (calls: ReadonlyArray<WaitingCall<A, B, E>>, exit: () => Exit.Exit<B, E>) =>
    Effect.sync(() => {
      for (const { answer, answered } of calls) if (!Deferred.isDoneUnsafe(answered)) answer(exit())
    })
  const withoutAnswer = () => Exit.die(new Error("a group has left a call without an answer"))
  const batcher = Batcher.make<WaitingCall<A, B, E>, F>(
    {
      limit,
      sizeOf: ({ item }) => sizeOf(item),
      work: (calls) => Effect.andThen(work(calls), answerOthers(calls, withoutAnswer)),
      failed: (calls, cause) => answerOthers(calls, () => failed(cause))
    },
    fork
  )
  return (item) =>
    Effect.suspend(() => {
      const answered = Deferred.makeUnsafe<B, E>()
      const call = { item, answered, answer: (exit: Exit.Exit<B, E>) => void Deferred.doneUnsafe(answered, exit) }
      batcher.offer(call)
      return Effect.onInterrupt(Deferred.await(answered), () => Effect.sync(() => batcher.remove(call)))
    })
}

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

/**
 * Processes calls that overlap in groups, as `answering` does. No call fails because of another. If a group fails, the item
 * that failed is answered and the others are repeated without it. If it is unknown which item failed, each is repeated
 * alone.
 */
export const make = Effect.fnUntraced(function* <A, B, E>({
  limit,
  sizeOf,
  work
}: CallGroupOptions<A, B, E>): Effect.fn.Return<(item: A) => Effect.Effect<B, E>> {
  const context = yield* Effect.context<never>()

  const process = (calls: ReadonlyArray<Call<A, B, E>>): Effect.Effect<void> =>
    Effect.suspend(() => {
      const culprit: Culprit<A> = { item: undefined }
      const items = calls.map(({ item }) => item)
      return Effect.matchCauseEffect(work(items, culprit), {
        onSuccess: (results) => Effect.sync(() => calls.forEach(({ answer }, index) => answer(results[index]!))),
        onFailure: (cause) => {
          const failed = calls.length === 1 ? calls : calls.filter(({ item }) => item === culprit.item)
          const others = calls.filter((call) => !failed.includes(call))
          if (failed.length === 0)
            return Effect.forEach(others, (call) => process([call]), { concurrency: "unbounded", discard: true })
          for (const { answer } of failed) answer(Exit.failCause(cause))
          return others.length === 0 ? Effect.void : process(others)
        }
      })
    })

  return answering({ limit, sizeOf, work: process, failed: Exit.failCause }, Effect.runForkWith(context))
})
