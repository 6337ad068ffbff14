import { Logger, run } from "graphile-worker"
import { answerParent } from "../compare/ChildModule.ts"
import { openQueueSockets, QUEUE, type QueuedEvent } from "./QueueSockets.ts"

export interface GraphileOptions {
  readonly databaseUrl: string
}

/** Jobs at a time, the jobs fetched in a statement, and the delay within which completed ones share a statement. */
const CONCURRENT_JOBS = 1_000
const FETCHED_JOBS = 1_000
const COMPLETED_WITHIN_MILLIS = 10

/** graphile-worker, whose jobs send a frame to a socket and end when the client acknowledges it. */
answerParent(async ({ databaseUrl }: GraphileOptions): Promise<number> => {
  const { deliver, port } = await openQueueSockets()
  await run({
    taskList: { [QUEUE]: (payload) => new Promise<void>((resolve) => deliver(payload as QueuedEvent, resolve)) },
    preset: {
      worker: {
        connectionString: databaseUrl,
        // Its log has a line for each job.
        logger: new Logger(() => () => undefined),
        concurrentJobs: CONCURRENT_JOBS,
        maxPoolSize: 10,
        localQueue: { size: FETCHED_JOBS },
        completeJobBatchDelay: COMPLETED_WITHIN_MILLIS,
        failJobBatchDelay: COMPLETED_WITHIN_MILLIS
      }
    },
    noHandleSignals: true
  })
  return port
})
