import { describe, expect, it } from "vitest"
import type { Movement } from "../support/TokenLog.ts"
import { Ends } from "./Ends.ts"
import type { Purchase } from "./Purchase.ts"
import { attempt, charge, payTo, price, purchaseOf, refund, refundWallet, VALID_BEFORE } from "./SamplePurchase.ts"

const mail = () => {
  const payment = attempt()
  return { purchase: purchaseOf(payment), charge: charge(payment) }
}
const [one, two] = [mail(), mail()]

/** Which of the mails have ended, where so much was moved and these were delivered. */
const among = (
  ends: Ends,
  open: ReadonlyArray<Purchase>,
  movements: ReadonlyArray<Movement>,
  delivered: ReadonlyArray<Purchase> = [],
  finalSeconds = 0n
) =>
  ends.among(open, { movements, payTo, refundWallet, goods: new Map(delivered.map((each) => [each, 1])) }, finalSeconds)

describe("a purchase has ended", () => {
  it("once it is there, charged or not", () => {
    expect(among(new Ends(), [one.purchase], [one.charge])).toEqual([])
    expect(among(new Ends(), [one.purchase], [one.charge], [one.purchase])).toEqual([one.purchase])
    expect(among(new Ends(), [one.purchase], [], [one.purchase])).toEqual([one.purchase])
  })

  it("once it was paid back, as much as it was charged", () => {
    expect(among(new Ends(), [one.purchase], [one.charge, refund(price - 1n)])).toEqual([])
    expect(among(new Ends(), [one.purchase], [one.charge, refund()])).toEqual([one.purchase])
  })

  it("once what was signed has run out for good, where nothing came of it", () => {
    expect(among(new Ends(), [one.purchase], [], [], VALID_BEFORE + 2n)).toEqual([])
    expect(among(new Ends(), [one.purchase], [], [], VALID_BEFORE + 3n)).toEqual([one.purchase])
    expect(among(new Ends(), [one.purchase], [one.charge], [], VALID_BEFORE + 3n)).toEqual([])
  })

  it("by a payment back of its own, and not by another's", () => {
    const both = [one.purchase, two.purchase]
    const charges = [one.charge, two.charge]
    expect(among(new Ends(), both, [...charges, refund()])).toEqual([])
    expect(among(new Ends(), both, [...charges, refund(), refund()])).toEqual(both)
    expect(among(new Ends(), both, [...charges, refund()], [two.purchase])).toEqual(both)
    const ends = new Ends()
    expect(among(ends, both, [one.charge, refund()])).toEqual([one.purchase])
    expect(among(ends, [two.purchase], [...charges, refund()])).toEqual([])
    expect(among(ends, [two.purchase], [...charges, refund(), refund()])).toEqual([two.purchase])
  })
})
