import { setTimeout as sleep } from "node:timers/promises"
import { PgBoss } from "pg-boss"
import { answerParent } from "../compare/ChildModule.ts"
import { gather, openQueueSockets, QUEUE, type QueuedEvent } from "./QueueSockets.ts"

export interface PgBossOptions {
  readonly databaseUrl: string
}

/** Jobs fetched or completed in a statement, the limit of jobs at a time, and the delay after an empty fetch. */
const BATCH = 1_000
const CONCURRENT_JOBS = 2_000
const IDLE_MILLIS = 2

/** The loop of a worker: fetches batches, sends a frame for each job, and completes those acknowledged in batches. */
const work = async (boss: PgBoss, deliver: (event: QueuedEvent, acknowledged: () => void) => void): Promise<never> => {
  let open = 0
  const complete = gather<string>(BATCH, async (ids) => {
    await boss.complete(QUEUE, [...ids])
    open -= ids.length
  })
  for (;;) {
    const room = Math.min(BATCH, CONCURRENT_JOBS - open)
    const jobs = room === 0 ? [] : await boss.fetch<QueuedEvent>(QUEUE, { batchSize: room })
    open += jobs.length
    for (const { data, id } of jobs) deliver(data, () => void complete(id))
    if (jobs.length === 0) await sleep(IDLE_MILLIS)
  }
}

/** pg-boss, whose jobs send a frame to a socket and are completed when the client acknowledges it. */
answerParent(async ({ databaseUrl }: PgBossOptions): Promise<number> => {
  const { deliver, port } = await openQueueSockets()
  const boss = new PgBoss({ connectionString: databaseUrl, max: 10 })
  boss.on("error", (error) => {
    throw error
  })
  await boss.start()
  await boss.createQueue(QUEUE)
  void work(boss, deliver)
  return port
})
