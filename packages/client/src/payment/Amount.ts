/** USDT has 6 decimals. */
const DECIMALS = 6

/** Parses an amount in USDT such as "0.25" into base units; undefined if it is not one. */
export const unitsOf = (text: string): bigint | undefined => {
  const [, whole = "", fraction = ""] = /^(\d{1,30})(?:\.(\d{1,6}))?$/.exec(text) ?? []
  return whole === "" ? undefined : BigInt(whole + fraction.padEnd(DECIMALS, "0"))
}

/** Formats base units as an amount in USDT with at least two decimals. */
export const decimalOf = (units: bigint): string => {
  const digits = units.toString().padStart(DECIMALS + 1, "0")
  const fraction = digits.slice(-DECIMALS).replace(/0+$/, "").padEnd(2, "0")
  return `${digits.slice(0, -DECIMALS)}.${fraction}`
}

/** Returns an amount of a token in base units of a price, rounded up. */
export const priceOf = (amount: bigint, decimals: number): bigint => {
  const held = heldOf(amount, decimals)
  return decimals > DECIMALS && held * 10n ** BigInt(decimals - DECIMALS) < amount ? held + 1n : held
}

/** Returns the balance of a token in base units of a price, rounded down. */
export const heldOf = (balance: bigint, decimals: number): bigint =>
  decimals <= DECIMALS ? balance * 10n ** BigInt(DECIMALS - decimals) : balance / 10n ** BigInt(decimals - DECIMALS)
