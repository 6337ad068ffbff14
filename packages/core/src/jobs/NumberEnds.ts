import { Effect, Result } from "effect"
import { EventStore } from "../events/EventStore.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Transactor } from "../kernel/Transactor.ts"
import * as Allowance from "../phone/Allowance.ts"
import { makeRelease } from "../phone/Numbers.ts"
import * as PhoneEvent from "../phone/PhoneEvent.ts"
import type { PhoneNumber } from "../phone/PhoneNumber.ts"
import { PhoneNumberStore } from "../phone/PhoneNumberStore.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import { inBatches, type Job } from "./Job.ts"

/** Numbers per transaction, and numbers released at the carrier before the releases are stored. */
const BATCH = 100

/** The job that notifies tenants 5, 3 and 1 days before a number expires, once each; catches up after a downtime. */
export const numberNotices: Effect.Effect<Job, never, PhoneNumberStore | EventStore | TenantStore | Transactor> =
  Effect.gen(function* () {
    const numbers = yield* PhoneNumberStore
    const events = yield* EventStore
    const tenants = yield* TenantStore
    const transactor = yield* Transactor

    const tell = (limit: number) =>
      transactor.transact(
        Effect.gen(function* () {
          const now = yield* Timestamp.now
          const listed = yield* numbers.dueForNotice(now, limit)
          yield* tenants.lock(listed.map(({ tenantId }) => tenantId))
          const owed = (yield* numbers.findEach(listed)).flatMap((number) => owedTo(number, now))
          yield* numbers.updateEach(owed.map(({ number }) => number))
          yield* events.append(
            owed.flatMap(({ due, number }) => due.map((notice) => PhoneEvent.expiring(number, notice)))
          )
          return listed.length
        })
      )

    return { name: "number-notices", every: Timestamp.MINUTE, run: inBatches(tell, BATCH) }
  })

/**
 * Returns the number with its next due notice, and the notices to send now; nothing for a number that is no longer
 * active. An expired number can't be renewed, so it has no notices left.
 */
const owedTo = (number: PhoneNumber, now: Timestamp.Timestamp) => {
  if (number.state !== "active") return []
  if (!Allowance.isUsable(number, now)) return [{ number: { ...number, nextNotice: null }, due: [] }]
  const { due, next } = Allowance.noticesDue(number.expiresAt, number.nextNotice, now)
  return [{ number: { ...number, nextNotice: next }, due }]
}

/**
 * The job that suspends expired numbers, and releases suspended numbers at the carrier. It retries a number until the
 * carrier has released it, since the number costs money until then.
 */
export const numberExpiry = Effect.gen(function* () {
  const numbers = yield* PhoneNumberStore
  const releases = yield* makeRelease

  const suspend = Effect.fnUntraced(function* (limit: number) {
    const now = yield* Timestamp.now
    const over = yield* numbers.expired(now, limit)
    yield* releases.suspend(over, "expired", (number) => !Allowance.isUsable(number, now))
    return over.length
  })

  /** Tries once to release every suspended number. The next run retries those that the carrier did not release. */
  const releaseAll = Effect.gen(function* () {
    let done = 0
    let after: string | undefined
    for (;;) {
      const batch = yield* numbers.suspended(after, BATCH)
      const outcomes = yield* releases.release(batch)
      for (const [index, outcome] of outcomes.entries()) {
        if (Result.isSuccess(outcome)) done++
        else yield* Effect.logWarning(`${batch[index]!.number} was not released; retrying: ${outcome.failure.message}`)
      }
      after = batch.at(-1)?.phoneNumberId
      if (batch.length < BATCH) return done
    }
  })

  const job: Job = {
    name: "number-expiry",
    every: 10 * Timestamp.SECOND,
    run: Effect.zipWith(inBatches(suspend, BATCH), releaseAll, (suspended, released) => suspended + released)
  }
  return job
})
