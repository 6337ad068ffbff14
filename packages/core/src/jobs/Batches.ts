import { Effect } from "effect"

/** How many rows one statement of a job takes: few enough that whoever waits for one of them waits for a moment. */
const BATCH = 1_000
/** How many batches one run makes. What is left then is done by the next. */
const BATCHES_PER_RUN = 100

/** Does batch after batch until one is not full, or enough was done for one run; answers how many things that were. */
export const inBatches = Effect.fnUntraced(function* (batch: (limit: number) => Effect.Effect<number>, size = BATCH) {
  let total = 0
  for (let batches = 0; batches < BATCHES_PER_RUN; batches++) {
    const done = yield* batch(size)
    total += done
    if (done < size) break
  }
  return total
})
