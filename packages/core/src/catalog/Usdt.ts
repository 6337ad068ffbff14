import { Schema } from "effect"

/** The asset that every price is in. */
export const ASSET = "USDT"
/** Decimals of a price as written, and of the base units that amounts are counted in. */
export const DECIMALS = 6

/** An amount of USDT in base units of a millionth. Never a float. */
export const Usdt = Schema.BigInt.check(Schema.isGreaterThanOrEqualToBigInt(0n)).pipe(Schema.brand("Usdt"))
export type Usdt = typeof Usdt.Type

const UNIT = 10n ** BigInt(DECIMALS)

/** The amount that a decimal text names exactly. Throws on anything else: it is for constants and configuration. */
export const fromDecimal = (text: string): Usdt => {
  const match = /^(\d+)(?:\.(\d{1,6}))?$/.exec(text)
  if (match === null) throw new RangeError(`not a USDT amount with at most ${DECIMALS} decimals: ${text}`)
  return Usdt.make(BigInt(match[1]!) * UNIT + BigInt((match[2] ?? "").padEnd(DECIMALS, "0")))
}

/** The amount as a decimal text with at least two decimals, as prices are written: `0.25`, `5.00`. */
export const toDecimal = (amount: bigint): string => {
  const fraction = (amount % UNIT)
    .toString()
    .padStart(DECIMALS, "0")
    .replace(/0{1,4}$/, "")
  return `${amount / UNIT}.${fraction}`
}

/** An amount as it stands on the wire. */
export interface Price {
  readonly amount: string
  readonly asset: typeof ASSET
}

export const toPrice = (amount: bigint): Price => ({ amount: toDecimal(amount), asset: ASSET })
