import type { TimedCall } from "../support/CarrierLog.ts"
import type { Book, Violation } from "./Book.ts"

/** What only the carrier knows. */
export interface PhoneEvidence {
  readonly calls: ReadonlyArray<TimedCall>
  /** How often each number was sold. */
  readonly sold: ReadonlyMap<string, number>
  /** What is sold and was not given back. */
  readonly held: ReadonlySet<string>
}

/** What the carrier knows, and who was told something else. */
export function* wrongTelephones(book: Book, evidence: PhoneEvidence): Generator<Violation> {
  yield* wrongCalls(book, evidence)
  yield* wrongNumbers(book, evidence)
  yield* wrongAllowances(book, evidence)
}

/** Who was said to be called was dialled once, for as long as was paid for; nobody else was dialled. */
function* wrongCalls(book: Book, { calls }: PhoneEvidence): Generator<Violation> {
  const dialled = Map.groupBy(
    calls.filter(({ direction }) => direction === "outbound-api"),
    ({ to }) => to
  )
  for (const { limitSeconds, made, race, round, toNumber } of book.calls) {
    const dials = dialled.get(toNumber) ?? []
    dialled.delete(toNumber)
    const wrong = (text: string): Violation => ({ race, round, text: `${toNumber} ${text}` })
    if (made && dials.length !== 1) yield wrong(`was to be called, and dialled ${dials.length} times`)
    if (!made && dials.length > 0) yield wrong(`was not to be called, and dialled ${dials.length} times`)
    for (const { timeLimitSeconds } of dials) {
      if (timeLimitSeconds !== limitSeconds)
        yield wrong(`was called for ${timeLimitSeconds} s, and paid for were ${limitSeconds} s`)
    }
  }
  for (const [toNumber, { length }] of dialled) {
    yield {
      race: book.races[0] ?? "",
      round: 0,
      text: `${toNumber} was dialled ${length} times, which nobody paid for`
    }
  }
}

/** Each number was sold as often as somebody was told that it is theirs, and is held as long as it is. */
function* wrongNumbers(book: Book, { held, sold }: PhoneEvidence): Generator<Violation> {
  const told = Map.groupBy(book.numbers, ({ number }) => number)
  for (const [number, owners] of told) {
    const { race, round } = owners.at(-1)!
    const keepers = owners.filter(({ kept }) => kept).length
    const sales = sold.get(number) ?? 0
    const wrong = (text: string): Violation => ({ race, round, text: `${number} ${text}` })
    if (sales !== owners.length) yield wrong(`was given to ${owners.length}, and sold ${sales} times`)
    if (keepers > 1) yield wrong(`belongs to ${keepers} at a time`)
    if (keepers > 0 && !held.has(number)) yield wrong("is somebody's, and was given back")
    if (keepers === 0 && held.has(number)) yield wrong("was given back, and is still held")
  }
  for (const number of new Set([...sold.keys(), ...held])) {
    if (!told.has(number)) yield { race: book.races[0] ?? "", round: 0, text: `${number} was sold, and is nobody's` }
  }
}

/** A number was called for no longer than was bought for it. */
function* wrongAllowances(book: Book, { calls }: PhoneEvidence): Generator<Violation> {
  for (const { number, purchasedSeconds, race, round } of book.allowances) {
    const inbound = calls.filter(({ direction, to }) => direction === "inbound" && to === number)
    const seconds = inbound.reduce((sum, call) => sum + (call.seconds ?? 0), 0)
    if (seconds > purchasedSeconds) {
      const each = inbound.map((call) => call.seconds ?? 0).join(" + ")
      yield { race, round, text: `${number} was called for ${each} s, and ${purchasedSeconds} s were bought` }
    }
  }
}
