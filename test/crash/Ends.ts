import type { Movement } from "../support/TokenLog.ts"
import type { Purchase } from "./Purchase.ts"
import type { Sight } from "./Sight.ts"

/** Past the moment from which the token refuses an authorization. */
const EXPIRY_SPARE_SECONDS = 2n

/**
 * Finds out which purchases have come to their end: nothing that was signed can be charged any more, and what was
 * charged is there or paid back. A payment back names nobody but its wallet; it counts for one purchase, and where it
 * may be one's or another's, for both only once there is one for each.
 */
export class Ends {
  /** The payments back that purchases have ended with, by account. */
  readonly #used = new Map<string, number>()

  /** Of purchases that had not ended, those that have by what is seen of all of them. */
  among(open: ReadonlyArray<Purchase>, evidence: Sight["evidence"], finalSeconds: bigint): ReadonlyArray<Purchase> {
    const cases = open.map((purchase) => ({ purchase, ...caseOf(purchase, evidence) }))
    const owed = countEach(cases.flatMap(({ owing }) => owing))
    const made = countEach(
      evidence.movements
        .filter(({ from }) => from === evidence.refundWallet.toLowerCase())
        .map(({ to, value }) => account(to, value))
    )
    const isPaidBack = (name: string) => (made.get(name) ?? 0) - (this.#used.get(name) ?? 0) >= (owed.get(name) ?? 0)
    const ended = cases.filter(({ isMoved, owing, purchase }) =>
      isMoved ? owing.every(isPaidBack) : isExpired(purchase, finalSeconds)
    )
    for (const [name, count] of countEach(ended.flatMap(({ owing }) => owing))) {
      this.#used.set(name, (this.#used.get(name) ?? 0) + count)
    }
    return ended.map(({ purchase }) => purchase)
  }
}

const account = (wallet: string, value: bigint): string => `${wallet.toLowerCase()} ${value}`

const countEach = (names: ReadonlyArray<string>): ReadonlyMap<string, number> =>
  new Map([...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length]))

/** Whether anything has come of a purchase, and the accounts to which it owes, once for each charge without its goods. */
const caseOf = (purchase: Purchase, { goods, movements, payTo }: Sight["evidence"]) => {
  const charges = movements.filter((movement) => isCharge(purchase, movement, payTo))
  const unseen = purchase.end === "paid back" ? 0 : 1
  const delivered = purchase.hidden === true ? unseen : Math.min(goods.get(purchase) ?? 0, 1)
  return {
    // Goods that nobody was charged for are wrong at once: there is nothing to wait for.
    isMoved: charges.length > 0 || delivered > 0,
    owing: charges.slice(delivered).map(({ from, value }) => account(from, value))
  }
}

/** Whether the money of one of the purchase's payments moved so. */
export const isCharge = ({ attempts }: Purchase, { nonce, to }: Movement, payTo: string): boolean =>
  to === payTo.toLowerCase() && attempts.some(({ authorization }) => authorization.nonce === nonce)

const isExpired = ({ attempts }: Purchase, finalSeconds: bigint): boolean =>
  attempts.every(({ authorization }) => finalSeconds > authorization.validBefore + EXPIRY_SPARE_SECONDS)
