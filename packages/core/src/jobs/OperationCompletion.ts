import { Context, Effect } from "effect"
import * as PollingWorker from "../kernel/PollingWorker.ts"
import * as Trace from "../kernel/Trace.ts"
import { WORK_LEASE } from "../payment/OperationJournal.ts"
import { OperationStore } from "../payment/OperationStore.ts"
import { OperationWorker } from "../payment/OperationWorker.ts"

/**
 * Limit on the operations that this worker advances concurrently; most of them wait for an external call. A host that
 * stops operations in the middle, as tests do, provides a higher limit: each stopped operation counts.
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
  return yield* PollingWorker.run({
    name: "operations",
    concurrency: yield* Concurrency,
    interval: "1 second",
    take: (limit) => operations.takeDue(limit, WORK_LEASE),
    handle: (operation) => Trace.continued("complete operation", operation.trace)(worker.advance(operation)),
    // The operation's state records the reason, and the operation is rescheduled.
    failed: ({ operationId, state }, error) =>
      Effect.logDebug(`operation ${operationId} waits in ${state}: ${error._tag} ${error.message}`)
  })
})
