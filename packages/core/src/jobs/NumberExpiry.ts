import { Effect } from "effect"
import * as Timestamp from "../kernel/Timestamp.ts"
import * as Entitlement from "../phone/Entitlement.ts"
import * as NumberRelease from "../phone/NumberRelease.ts"
import type { PhoneNumber } from "../phone/PhoneNumber.ts"
import { PhoneNumberStore } from "../phone/PhoneNumberStore.ts"
import { inBatches } from "./Batches.ts"
import type { Job } from "./Job.ts"

const BATCH = 100
/** How many carriers' answers are waited for at a time. */
const CONCURRENCY = 8

/**
 * The job that takes numbers out of use whose time is over, and gives back to the carrier what is out of use, until it
 * is gone there: at that moment it stops costing.
 */
export const make = Effect.gen(function* () {
  const numbers = yield* PhoneNumberStore
  const releasing = yield* NumberRelease.make

  const suspend = Effect.fnUntraced(function* (limit: number) {
    const now = yield* Timestamp.now
    const over = yield* numbers.expired(now, limit)
    yield* Effect.forEach(
      over,
      ({ phoneNumberId, tenantId }) =>
        releasing.suspend(tenantId, phoneNumberId, "expired", (number) => !Entitlement.isUsable(number, now)),
      { discard: true }
    )
    return over.length
  })

  const giveBack = (number: PhoneNumber) =>
    Effect.match(releasing.giveBack(number), {
      onFailure: (error) => [`${number.number}: ${error.message}`],
      onSuccess: () => []
    })

  /** Goes once over all that is suspended; what the carrier does not take is left to the next run. */
  const giveBackAll = Effect.gen(function* () {
    let done = 0
    let after: string | undefined
    for (;;) {
      const batch = yield* numbers.suspended(after, BATCH)
      const failures = (yield* Effect.forEach(batch, giveBack, { concurrency: CONCURRENCY })).flat()
      for (const failure of failures) yield* Effect.logWarning(`a number could not be given back yet: ${failure}`)
      done += batch.length - failures.length
      after = batch.at(-1)?.phoneNumberId
      if (batch.length < BATCH) return done
    }
  })

  const job: Job = {
    name: "number-expiry",
    every: 10 * Timestamp.SECOND,
    run: Effect.zipWith(inBatches(suspend, BATCH), giveBackAll, (suspended, givenBack) => suspended + givenBack)
  }
  return job
})
