import { Array, Effect, Metric, Number } from "effect"
import { ProviderError } from "../kernel/ProviderError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { type AbandonedNumber, makeCarrierNumbers } from "../phone/CarrierNumbers.ts"
import { makeRelease } from "../phone/Numbers.ts"
import type { PhoneNumber } from "../phone/PhoneNumber.ts"
import { PhoneNumberStore } from "../phone/PhoneNumberStore.ts"
import { type OwnedNumber, TelephonyProvider } from "../phone/TelephonyProvider.ts"
import type { Job } from "./Job.ts"

const BATCH = 100
/**
 * With this many numbers on one side and none in common, the account is another deployment's. A release is permanent.
 */
const FOREIGN_MIN = 5

/** Numbers that one line of the log lists. */
const LISTED_MAX = 20

const unrecordedGauge = Metric.gauge("agentos_numbers_unrecorded", {
  description: "Numbers at the carrier without a record, as of this server's last run of number-reconciliation."
})

/**
 * The job that compares our numbers with the carrier's. A number that is gone at the carrier is released here; a number
 * of a refunded purchase is released there, since it costs money. A number without any record is reported and kept: after
 * a restore from a backup, it can be a tenant's. The job fails, and releases nothing, if the two sides have no number in
 * common.
 */
export const make = Effect.gen(function* () {
  const numbers = yield* PhoneNumberStore
  const provider = yield* TelephonyProvider
  const releases = yield* makeRelease
  const carrier = yield* makeCarrierNumbers

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

  const releaseAbandoned = (abandoned: AbandonedNumber) =>
    Effect.andThen(
      Effect.logWarning(`Releasing ${abandoned.number} at ${provider.name}: its purchase was refunded`),
      Effect.result(carrier.releaseAbandoned(abandoned))
    )

  const report = Effect.fnUntraced(function* (unrecorded: ReadonlyArray<OwnedNumber>) {
    yield* Metric.update(unrecordedGauge, unrecorded.length)
    if (unrecorded.length === 0) return
    const listed = unrecorded.slice(0, LISTED_MAX).map(({ number }) => number)
    yield* Effect.logWarning(
      `${unrecorded.length} numbers at ${provider.name} have no record in the database, and are kept: ` +
        `${listed.join(", ")}${unrecorded.length > LISTED_MAX ? ", …" : ""}. They may have been sold after a backup that ` +
        "was restored. Release the unused ones: agentos-server numbers release NUMBER"
    )
  })

  /** Records that the carrier no longer has one of our numbers, after a separate query confirms it. */
  const noteVanished = Effect.fnUntraced(function* (number: PhoneNumber) {
    const found = yield* provider.findNumber(number.number)
    if (found._tag === "Some") return 0
    yield* Effect.logWarning(`${number.number} no longer exists at ${provider.name}; marking it released`)
    yield* releases.recordReleased([number])
    return 1
  })

  const compare = Effect.gen(function* () {
    const { abandoned, there, unrecorded } = yield* carrier.list
    const { missing, present } = yield* listMissing(there)
    const others = abandoned.length + unrecorded.length
    if (present === 0 && Math.max(missing.length, others) >= FOREIGN_MIN) {
      return yield* new ProviderError({
        provider: provider.name,
        reason: "Misconfigured",
        message:
          `${provider.name} has none of the ${missing.length} stored numbers, and ${others} numbers that are not ` +
          "stored. Nothing was released. Check the account, the label and the database."
      })
    }
    yield* report(unrecorded)
    const outcomes = yield* Effect.forEach(abandoned, releaseAbandoned)
    yield* carrier.endReservations(there)
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
