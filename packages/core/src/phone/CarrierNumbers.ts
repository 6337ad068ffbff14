import { Array, Effect, Option, Schema } from "effect"
import type { ProviderError } from "../kernel/ProviderError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import type { OperationState } from "../payment/OperationState.ts"
import { OperationStore } from "../payment/OperationStore.ts"
import { type NumberReservation, PhoneNumberStore } from "./PhoneNumberStore.ts"
import { type OwnedNumber, TelephonyProvider } from "./TelephonyProvider.ts"

/** Limit on the carrier's pages: more numbers than one account can have. Guards against an endless list. */
const PAGES_MAX = 1_000
const BATCH = 100
/** A request to buy that was under way when its purchase was abandoned has ended by then. */
const PURCHASE_ENDED_AFTER = Timestamp.HOUR

/** A purchase in one of these states buys no more: its payment was, or will be, refunded. */
const ABANDONED: ReadonlySet<OperationState> = new Set(["unpaid", "refund_due", "refunded"])

/** A number that a purchase bought, or may have bought, although it was refunded. */
export interface AbandonedNumber extends OwnedNumber {
  readonly operationId: string
}

/** The numbers at the carrier, compared with those of the database. */
export interface CarrierInventory {
  /** All of them. */
  readonly there: ReadonlySet<string>
  /** Those of refunded purchases of this database, which belong to no tenant. */
  readonly abandoned: ReadonlyArray<AbandonedNumber>
  /**
   * Those of which the database has no record. A tenant may have bought them if the database was restored from a backup,
   * so only the operator may release them.
   */
  readonly unrecorded: ReadonlyArray<OwnedNumber>
}

/** The number cannot be released as unrecorded. */
export class NumberNotUnrecorded extends Schema.TaggedError<NumberNotUnrecorded>()("NumberNotUnrecorded", {
  reason: Schema.Literals(["not at the carrier", "recorded"])
}) {}

/** Compares the numbers of the carrier with those of the database. */
export const makeCarrierNumbers = Effect.gen(function* () {
  const numbers = yield* PhoneNumberStore
  const operations = yield* OperationStore
  const provider = yield* TelephonyProvider

  const isAbandoned = Effect.fnUntraced(function* ({ operationId }: NumberReservation, atLeast = 0) {
    const found = yield* operations.find(operationId)
    if (Option.isNone(found)) return false
    const { state, updatedAt } = found.value
    return ABANDONED.has(state) && (yield* Timestamp.now) - updatedAt >= atLeast
  })

  const classify = Effect.fnUntraced(function* (page: ReadonlyArray<OwnedNumber>) {
    const listed = page.map(({ number }) => number)
    // Reservations are read first: a purchase deletes its own in the transaction that stores the tenant's number.
    const reservations = new Map((yield* numbers.findReserved(listed)).map((one) => [one.number, one]))
    const ours = new Set((yield* numbers.findByNumbers(listed)).map(({ number }) => number))
    const others = page.filter(({ number }) => !ours.has(number))
    const reserved = others.flatMap((owned) => {
      const reservation = reservations.get(owned.number)
      return reservation === undefined ? [] : [{ ...owned, operationId: reservation.operationId }]
    })
    return {
      abandoned: yield* Effect.filter(reserved, (one) => isAbandoned(one)),
      unrecorded: others.filter(({ number }) => !reservations.has(number))
    }
  })

  const list: Effect.Effect<CarrierInventory, ProviderError> = Effect.gen(function* () {
    const there = new Set<string>()
    const abandoned = Array.empty<AbandonedNumber>()
    const unrecorded = Array.empty<OwnedNumber>()
    let cursor: string | undefined
    for (let pages = 0; pages < PAGES_MAX; pages++) {
      const page = yield* provider.listNumbers(cursor)
      for (const { number } of page.items) there.add(number)
      const found = yield* classify(page.items)
      abandoned.push(...found.abandoned)
      unrecorded.push(...found.unrecorded)
      cursor = page.nextCursor
      if (cursor === undefined) break
    }
    return { there, abandoned, unrecorded }
  })

  /** Releases a number of a refunded purchase, and then the reservation by which it was recognized. */
  const releaseAbandoned = ({ operationId, providerNumberId }: AbandonedNumber): Effect.Effect<void, ProviderError> =>
    Effect.andThen(provider.release(providerNumberId), numbers.release(operationId))

  /** Ends the reservations of refunded purchases that bought nothing, so that others can buy these numbers. */
  const endReservations = Effect.fnUntraced(function* (there: ReadonlySet<string>) {
    let after: string | undefined
    for (;;) {
      const batch = yield* numbers.reservations(after, BATCH)
      const ended = yield* Effect.filter(batch, (one) =>
        there.has(one.number) ? Effect.succeed(false) : isAbandoned(one, PURCHASE_ENDED_AFTER)
      )
      yield* Effect.forEach(ended, ({ operationId }) => numbers.release(operationId), { discard: true })
      after = batch.at(-1)?.operationId
      if (batch.length < BATCH) return
    }
  })

  /** Returns a number at the carrier that is unrecorded. */
  const findUnrecorded = Effect.fnUntraced(function* (
    number: string
  ): Effect.fn.Return<OwnedNumber, NumberNotUnrecorded | ProviderError> {
    const found = yield* provider.findNumber(number)
    if (Option.isNone(found) || !found.value.isOurs) {
      return yield* new NumberNotUnrecorded({ reason: "not at the carrier" })
    }
    const { unrecorded } = yield* classify([found.value])
    if (unrecorded.length === 0) return yield* new NumberNotUnrecorded({ reason: "recorded" })
    return found.value
  })

  return { list, endReservations, releaseAbandoned, findUnrecorded }
})
