import { AgentOsError } from "../AgentOsError.ts"
import type { Settings } from "../Options.ts"
import { decimalOf } from "./Amount.ts"
import { type JournalEntry, mayHaveCharged } from "./Journal.ts"

const DAY_MILLIS = 24 * 60 * 60 * 1_000

/** The money that was spent, and that is reserved for payments in preparation. */
export class Spending {
  readonly #limits: Settings["limits"]
  readonly #clock: Settings["clock"]
  /** The payments of the last day by id, without their bodies. */
  readonly #entries = new Map<string, JournalEntry>()
  /** The amounts of payments in preparation, by id. */
  readonly #reserved = new Map<string, bigint>()

  constructor({ clock, limits }: Settings) {
    this.#limits = limits
    this.#clock = clock
  }

  /** Counts a payment from now on, in the place of its reservation. */
  record(entry: JournalEntry): void {
    this.#reserved.delete(entry.id)
    this.#entries.set(entry.id, { ...entry, body: null })
  }

  /** Returns the base units that the last 24 hours may have cost, with those reserved. */
  lastDay(): bigint {
    const now = this.#clock.now()
    let sum = 0n
    for (const entry of this.#entries.values()) {
      if (entry.createdAt <= now - DAY_MILLIS) this.#entries.delete(entry.id)
      else if (mayHaveCharged(entry)) sum += BigInt(entry.amount)
    }
    for (const amount of this.#reserved.values()) sum += amount
    return sum
  }

  /** Throws SPEND_LIMIT_EXCEEDED if a payment of this many base units would exceed a limit. */
  check(amount: bigint): void {
    const { perCall, perDay } = this.#limits
    const spent = this.lastDay()
    const refuse = (limit: "perCall" | "perDay", most: bigint): AgentOsError => {
      const [limitAmount, price, spentLastDay] = [decimalOf(most), decimalOf(amount), decimalOf(spent)]
      const text =
        limit === "perCall"
          ? `call is ${limitAmount} USDT`
          : `day is ${limitAmount} USDT, of which ${spentLastDay} USDT is spent`
      return new AgentOsError({
        code: "SPEND_LIMIT_EXCEEDED",
        message: `The price is ${price} USDT, and the limit per ${text}. Nothing was signed.`,
        details: { limit, limitAmount, price, spentLastDay }
      })
    }
    if (perCall !== null && amount > perCall) throw refuse("perCall", perCall)
    if (perDay !== null && spent + amount > perDay) throw refuse("perDay", perDay)
  }

  /**
   * Checks the limits and reserves the amount for a payment, in one step, so that concurrent payments cannot exceed a
   * limit together.
   */
  reserve(paymentId: string, amount: bigint): void {
    this.check(amount)
    this.#reserved.set(paymentId, amount)
  }

  release(paymentId: string): void {
    this.#reserved.delete(paymentId)
  }
}
