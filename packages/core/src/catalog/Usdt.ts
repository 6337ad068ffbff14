import { Schema } from "effect"

/** The asset of all prices. */
export const ASSET = "USDT"
/** The number of decimals of a written price, and of the base units in which amounts are counted. */
export const DECIMALS = 6

/** An amount of USDT in base units of one millionth. Never a float. */
export const Usdt = Schema.BigInt.check(Schema.isGreaterThanOrEqualToBigInt(0n)).pipe(Schema.brand("Usdt"))
export type Usdt = typeof Usdt.Type

const UNIT = 10n ** BigInt(DECIMALS)

/**
 * Parses a decimal text exactly. Throws a `RangeError` for any other text: use it only for constants and configuration.
 */
export const fromDecimal = (text: string): Usdt => {
  const match = /^(\d+)(?:\.(\d{1,6}))?$/.exec(text)
  if (match === null) throw new RangeError(`not a USDT amount with at most ${DECIMALS} decimals: ${text}`)
  return Usdt.make(BigInt(match[1]!) * UNIT + BigInt((match[2] ?? "").padEnd(DECIMALS, "0")))
}

/** Formats an amount as a decimal text with at least two decimals, for example `0.25` or `5.00`. */
export const toDecimal = (amount: bigint): string => {
  const fraction = (amount % UNIT)
    .toString()
    .padStart(DECIMALS, "0")
    .replace(/0{1,4}$/, "")
  return `${amount / UNIT}.${fraction}`
}

/** Formats base units of a token as a decimal text, rounded down to the decimals of a price. */
export const fromBaseUnits = (units: bigint, decimals: number): string =>
  toDecimal((units * UNIT) / 10n ** BigInt(decimals))

/** An amount in its wire format. */
export interface Price {
  readonly amount: string
  readonly asset: typeof ASSET
}

export const toPrice = (amount: bigint): Price => ({ amount: toDecimal(amount), asset: ASSET })
