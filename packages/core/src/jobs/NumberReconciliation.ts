import { Array, Effect, Number } from "effect"
import { ProviderError } from "../kernel/ProviderError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import * as NumberRelease from "../phone/NumberRelease.ts"
import type { PhoneNumber } from "../phone/PhoneNumber.ts"
import { PhoneNumberStore } from "../phone/PhoneNumberStore.ts"
import { type OwnedNumber, TelephonyProvider } from "../phone/TelephonyProvider.ts"
import type { Job } from "./Job.ts"

const BATCH = 100
/** More numbers than one account may have; where a carrier's pages do not end, this does. */
const PAGES_MAX = 1_000
/** So many numbers on one side, and none on both, are those of another deployment: what is released does not come back. */
const STRANGERS = 5

/**
 * The job that holds our numbers against the carrier's: one that vanished there is released here, and one that we have
 * there for no tenant and no purchase is given back, since it costs. It fails, and releases nothing, where the two have
 * nothing in common.
 */
export const make = Effect.gen(function* () {
  const numbers = yield* PhoneNumberStore
  const provider = yield* TelephonyProvider
  const releasing = yield* NumberRelease.make

  /** Of the carrier's numbers those that are nobody's. */
  const orphansAmong = Effect.fnUntraced(function* (page: ReadonlyArray<OwnedNumber>) {
    const listed = page.map(({ number }) => number)
    // In this order: a purchase gives up its choice in the transaction that makes the number a tenant's.
    const chosen = yield* numbers.findChosen(listed)
    const ours = new Set((yield* numbers.findByNumbers(listed)).map(({ number }) => number))
    return page.filter(({ number }) => !ours.has(number) && !chosen.has(number))
  })

  /** All that the carrier has, and what of it is nobody's. */
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

  /** Of our numbers those that are not there, and how many are. */
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

  const giveBack = ({ number, providerNumberId }: OwnedNumber) =>
    Effect.andThen(
      Effect.logWarning(`${number} is ours at ${provider.name} and belongs to nobody here; it is given back`),
      Effect.result(provider.release(providerNumberId))
    )

  /** Writes down that the carrier does not have one of our numbers any more, by a question of its own. */
  const noteVanished = Effect.fnUntraced(function* (number: PhoneNumber) {
    const found = yield* provider.findNumber(number.number)
    if (found._tag === "Some") return 0
    yield* Effect.logWarning(`${number.number} has vanished at ${provider.name}; it is released here`)
    yield* releasing.noteGone(number)
    return 1
  })

  const compare = Effect.gen(function* () {
    const { orphans, there } = yield* listThere
    const { missing, present } = yield* listMissing(there)
    if (present === 0 && Math.max(missing.length, orphans.length) >= STRANGERS) {
      return yield* new ProviderError({
        provider: provider.name,
        reason: "Misconfigured",
        message:
          `None of ${missing.length} numbers here is at ${provider.name}, and ${orphans.length} are there that nobody has. ` +
          "Nothing was released: is this the right account, label and database?"
      })
    }
    const outcomes = yield* Effect.forEach(orphans, giveBack)
    const vanished = yield* Effect.forEach(missing, noteVanished)
    // One that the carrier keeps is no reason to leave the others, and is one to try again soon.
    const [failure] = Array.getFailures(outcomes)
    return failure === undefined ? outcomes.length + Number.sumAll(vanished) : yield* failure
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
