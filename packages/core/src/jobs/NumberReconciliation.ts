import { Array, Effect, Number } from "effect"
import { ProviderError } from "../kernel/ProviderError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { makeRelease } from "../phone/Numbers.ts"
import type { PhoneNumber } from "../phone/PhoneNumber.ts"
import { PhoneNumberStore } from "../phone/PhoneNumberStore.ts"
import { type OwnedNumber, TelephonyProvider } from "../phone/TelephonyProvider.ts"
import type { Job } from "./Job.ts"

const BATCH = 100
/** Limit on the carrier's pages: more numbers than one account can have. Guards against an endless list. */
const PAGES_MAX = 1_000
/**
 * With this many numbers on one side and none in common, the account is another deployment's. A release is permanent.
 */
const FOREIGN_MIN = 5

/**
 * The job that compares our numbers with the carrier's. A number that is gone at the carrier is released here; a number
 * at the carrier that belongs to no tenant and no purchase is released there, since it costs money. The job fails, and
 * releases nothing, if the two sides have no number in common.
 */
export const make = Effect.gen(function* () {
  const numbers = yield* PhoneNumberStore
  const provider = yield* TelephonyProvider
  const releases = yield* makeRelease

  /** Returns the carrier's numbers that belong to no tenant and no purchase. */
  const orphansAmong = Effect.fnUntraced(function* (page: ReadonlyArray<OwnedNumber>) {
    const listed = page.map(({ number }) => number)
    // Reservations are read first: a purchase deletes its own in the transaction that stores the tenant's number.
    const reserved = yield* numbers.findReserved(listed)
    const ours = new Set((yield* numbers.findByNumbers(listed)).map(({ number }) => number))
    return page.filter(({ number }) => !ours.has(number) && !reserved.has(number))
  })

  /** Lists all numbers of the carrier, and those of them that belong to no tenant and no purchase. */
  const listThere = Effect.gen(function* () {
    const there = new Set<string>()
    const orphans = Array.empty<OwnedNumber>()
    let cursor: string | undefined
    for (let pages = 0; pages < PAGES_MAX; pages++) {
      const page = yield* provider.listNumbers(cursor)
      for (const { number } of page.items) there.add(number)
      orphans.push(...(yield* orphansAmong(page.items)))
      cursor = page.nextCursor
      if (cursor === undefined) break
    }
    return { there, orphans }
  })

  /** Lists our numbers that are missing at the carrier, and counts those that are present. */
  const listMissing = Effect.fnUntraced(function* (there: ReadonlySet<string>) {
    const missing = Array.empty<PhoneNumber>()
    let present = 0
    let after: string | undefined
    for (;;) {
      const batch = yield* numbers.unreleased(after, BATCH)
      for (const number of batch) {
        if (there.has(number.number)) present++
        else missing.push(number)
      }
      after = batch.at(-1)?.phoneNumberId
      if (batch.length < BATCH) return { missing, present }
    }
  })

  const releaseOrphan = ({ number, providerNumberId }: OwnedNumber) =>
    Effect.andThen(
      Effect.logWarning(`Releasing ${number} at ${provider.name}: no tenant and no purchase has it`),
      Effect.result(provider.release(providerNumberId))
    )

  /** Records that the carrier no longer has one of our numbers, after a separate query confirms it. */
  const noteVanished = Effect.fnUntraced(function* (number: PhoneNumber) {
    const found = yield* provider.findNumber(number.number)
    if (found._tag === "Some") return 0
    yield* Effect.logWarning(`${number.number} no longer exists at ${provider.name}; marking it released`)
    yield* releases.recordReleased([number])
    return 1
  })

  const compare = Effect.gen(function* () {
    const { orphans, there } = yield* listThere
    const { missing, present } = yield* listMissing(there)
    if (present === 0 && Math.max(missing.length, orphans.length) >= FOREIGN_MIN) {
      return yield* new ProviderError({
        provider: provider.name,
        reason: "Misconfigured",
        message:
          `${provider.name} has none of the ${missing.length} stored numbers, and ${orphans.length} numbers that are not ` +
          "stored. Nothing was released. Check the account, the label and the database."
      })
    }
    const outcomes = yield* Effect.forEach(orphans, releaseOrphan)
    const vanished = yield* Effect.forEach(missing, noteVanished)
    // One release that fails does not stop the others, and fails the job so that it is retried soon.
    const [failure] = Array.getFailures(outcomes)
    return failure === undefined ? outcomes.length + Number.sumAll(vanished) : yield* failure
  })

  /** A host without a carrier and without numbers has nothing to compare. */
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
