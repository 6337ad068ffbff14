import { Array, Effect } from "effect"
import type { ProviderError } from "../kernel/ProviderError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import * as NumberRelease from "../phone/NumberRelease.ts"
import type { PhoneNumber } from "../phone/PhoneNumber.ts"
import { PhoneNumberStore } from "../phone/PhoneNumberStore.ts"
import { type OwnedNumber, TelephonyProvider } from "../phone/TelephonyProvider.ts"
import type { Job } from "./Job.ts"

const BATCH = 100
/** More numbers than one account may have; where a carrier's pages do not end, this does. */
const PAGES_MAX = 1_000

/**
 * The job that holds our numbers against the carrier's: one that vanished there is released here, and one that we have
 * there for no tenant and no purchase is given back, since it costs.
 */
export const make = Effect.gen(function* () {
  const numbers = yield* PhoneNumberStore
  const provider = yield* TelephonyProvider
  const releasing = yield* NumberRelease.make

  /** Gives back those of the carrier's numbers that are nobody's; answers how many, and what it did not take. */
  const releaseOrphans = Effect.fnUntraced(function* (page: ReadonlyArray<OwnedNumber>) {
    const listed = page.map(({ number }) => number)
    // In this order: a purchase gives up its choice in the transaction that makes the number a tenant's.
    const chosen = yield* numbers.findChosen(listed)
    const ours = new Set((yield* numbers.findByNumbers(listed)).map(({ number }) => number))
    const orphans = page.filter(({ number }) => !ours.has(number) && !chosen.has(number))
    const outcomes = yield* Effect.forEach(orphans, ({ number, providerNumberId }) =>
      Effect.andThen(
        Effect.logWarning(`${number} is ours at ${provider.name} and belongs to nobody here; it is given back`),
        Effect.result(provider.release(providerNumberId))
      )
    )
    return { done: Array.getSuccesses(outcomes).length, failures: Array.getFailures(outcomes) }
  })

  /** Writes down which of our numbers the carrier does not have any more, each by a question of its own. */
  const noteVanished = Effect.fnUntraced(function* (number: PhoneNumber) {
    const found = yield* provider.findNumber(number.number)
    if (found._tag === "Some") return 0
    yield* Effect.logWarning(`${number.number} has vanished at ${provider.name}; it is released here`)
    yield* releasing.noteGone(number)
    return 1
  })

  const compare = Effect.gen(function* () {
    const there = new Set<string>()
    const failures = Array.empty<ProviderError>()
    let done = 0
    let cursor: string | undefined
    for (let pages = 0; pages < PAGES_MAX; pages++) {
      const page = yield* provider.listNumbers(cursor)
      for (const { number } of page.items) there.add(number)
      const released = yield* releaseOrphans(page.items)
      done += released.done
      failures.push(...released.failures)
      cursor = page.nextCursor
      if (cursor === undefined) break
    }
    let after: string | undefined
    for (;;) {
      const batch = yield* numbers.unreleased(after, BATCH)
      for (const number of batch) if (!there.has(number.number)) done += yield* noteVanished(number)
      after = batch.at(-1)?.phoneNumberId
      if (batch.length < BATCH) break
    }
    // One that the carrier keeps is no reason to leave the others, and is one to try again soon.
    return failures[0] === undefined ? done : yield* failures[0]
  })

  /** A host that has no carrier, and no number either, misses nothing. */
  const unlessNothing = Effect.fnUntraced(function* (error: ProviderError) {
    const [first] = yield* numbers.unreleased(undefined, 1)
    return first === undefined && error.reason === "Misconfigured" ? 0 : yield* error
  })

  const job: Job = {
    name: "number-reconciliation",
    every: Timestamp.HOUR,
    run: compare.pipe(Effect.catch(unlessNothing), Effect.orDie)
  }
  return job
})
