import { Context, Duration, Effect, FiberSet } from "effect"
import { WORK_LEASE } from "../payment/OperationJournal.ts"
import type { Operation } from "../payment/Operation.ts"
import { OperationStore } from "../payment/OperationStore.ts"
import { OperationWorker } from "../payment/OperationWorker.ts"

/** Interval between polls for due operations. */
const LOOK_EVERY = Duration.seconds(1)
/**
 * Limit on the operations that the job advances at one time; most of them wait for an outside call. A host that stops
 * operations in the middle, as tests do, provides a higher limit: each stopped operation counts.
 */
export const Concurrency = Context.Reference<number>("@agentos/core/jobs/OperationCompletion/Concurrency", {
  defaultValue: () => 64
})

/**
 * Advances paid operations that no worker holds, for as long as it runs: those whose worker died, whose client never
 * returned, whose outcome was unknown, whose provider was unavailable, and those to be refunded. Any number of servers
 * can run it: one server at a time holds an operation.
 */
export const run: Effect.Effect<never, never, OperationStore | OperationWorker> = Effect.gen(function* () {
  const operations = yield* OperationStore
  const worker = yield* OperationWorker
  const concurrency = yield* Concurrency
  const working = yield* FiberSet.make<void>()

  const advance = (operation: Operation) =>
    worker.advance(operation).pipe(
      // The operation's state records the reason for waiting, and the operation is retried.
      Effect.catch((error) =>
        Effect.logDebug(
          `operation ${operation.operationId} waits in ${operation.state}: ${error._tag} ${error.message}`
        )
      ),
      Effect.catchCause((cause) =>
        Effect.logError(`operation ${operation.operationId} could not be carried on from ${operation.state}`, cause)
      )
    )

  const pass = Effect.gen(function* () {
    const room = concurrency - (yield* FiberSet.size(working))
    const due = room > 0 ? yield* operations.takeDue(room, WORK_LEASE) : []
    yield* Effect.forEach(due, (operation) => FiberSet.run(working, advance(operation)), { discard: true })
    // A full batch suggests that more operations are due. Poll again soon.
    return due.length === room && room > 0
  })

  return yield* pass.pipe(
    // Catches every cause, including the interruption of a connection: only the end of its fiber stops this loop.
    Effect.catchCause((cause) =>
      Effect.as(Effect.logError("due operations could not be looked for; trying again", cause), false)
    ),
    Effect.flatMap((more) => Effect.sleep(more ? Duration.millis(50) : LOOK_EVERY)),
    Effect.forever
  )
}).pipe(Effect.scoped)
