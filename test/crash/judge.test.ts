import { describe, expect, it } from "vitest"
import type { Movement } from "../support/TokenLog.ts"
import { type Evidence, judge } from "./Judge.ts"
import type { Attempt, End, Purchase, Told } from "./Purchase.ts"
import { attempt, charge, payTo, purchaseOf, refund, refundWallet } from "./SamplePurchase.ts"

const sent = (text = "sent"): Told => tell(201, undefined, text)
const tell = (status: number, code: string | undefined, text = "", paymentState?: string, retryable = false): Told => ({
  at: 0,
  status,
  code,
  paymentState,
  retryable,
  text
})
const pending = tell(409, "PAYMENT_PENDING", "", "unknown", true)
const payAgain = tell(402, "PAYMENT_REQUIRED")
const paidBack = tell(502, "PROVIDER_REJECTED", "", "refunded")

const found = (
  purchase: Purchase,
  movements: ReadonlyArray<Movement>,
  goods: number,
  more: Partial<Evidence> = {}
): { readonly end: End | undefined; readonly wrong: ReadonlyArray<string> } => {
  const { strays, verdicts } = judge([purchase], {
    movements,
    payTo,
    refundWallet,
    goods: new Map([[purchase, goods]]),
    unclaimed: [],
    reserved: new Set(),
    late: new Set(),
    ...more
  })
  return { end: verdicts[0]?.end, wrong: [...(verdicts[0]?.violations ?? []), ...strays] }
}

describe("the judge is content with", () => {
  it("a payment that was never charged, whatever the client was told to do next", () => {
    const one = attempt(pending, payAgain)
    expect(found(purchaseOf(one), [], 0)).toEqual({ end: "never charged", wrong: [] })
  })

  it("one charge and one delivery, with the same bytes each time", () => {
    const one = attempt(pending, sent(), sent())
    expect(found(purchaseOf(one), [charge(one)], 1)).toEqual({ end: "delivered", wrong: [] })
  })

  it("one charge and the whole of it back", () => {
    const one = attempt(pending, paidBack)
    expect(found(purchaseOf(one), [charge(one), refund()], 0)).toEqual({ end: "paid back", wrong: [] })
  })

  it("a second payment after a first that was paid back", () => {
    const [first, second] = [attempt(payAgain, paidBack), attempt(sent())]
    const movements = [charge(first), charge(second), refund()]
    expect(found(purchaseOf(first, second), movements, 1)).toEqual({ end: "delivered", wrong: [] })
  })
})

describe("the judge notices", () => {
  const one = attempt(pending)
  const other = attempt(pending)
  const told = (...answers: ReadonlyArray<Told>): Attempt => ({ ...one, told: [...answers] })
  const cases: ReadonlyArray<readonly [string, string, () => ReturnType<typeof found>]> = [
    ["a charge for nothing", "charged, and neither", () => found(purchaseOf(told(payAgain)), [charge(one)], 0)],
    [
      "two charges for one thing",
      "neither delivered",
      () => found(purchaseOf(told(sent()), other), [charge(one), charge(other)], 1)
    ],
    [
      "the same authorization charged twice",
      "charged 2 times",
      () => found(purchaseOf(told(sent())), [charge(one), charge(one)], 1)
    ],
    ["another amount", "another amount", () => found(purchaseOf(told(sent())), [charge(one, 1n)], 1)],
    ["goods for nothing", "never charged", () => found(purchaseOf(told(sent())), [], 1)],
    ["goods twice", "delivered 2 times", () => found(purchaseOf(told(sent())), [charge(one)], 2)],
    ["a success without goods", "it is not there", () => found(purchaseOf(told(sent())), [charge(one), refund()], 0)],
    ["other bytes", "other bytes", () => found(purchaseOf(told(sent("a"), sent("b"))), [charge(one)], 1)],
    [
      "a success that is taken back",
      "and then that",
      () => found(purchaseOf(told(sent(), paidBack)), [charge(one)], 1)
    ],
    [
      "402 for money that was taken",
      "told to pay again",
      () => found(purchaseOf(told(payAgain, sent())), [charge(one)], 1)
    ],
    [
      "two payments back",
      "more than was owed",
      () => found(purchaseOf(told(paidBack)), [charge(one), refund(), refund()], 0)
    ],
    [
      "a part of it back",
      "neither delivered nor",
      () => found(purchaseOf(told(paidBack)), [charge(one), refund(1n)], 0)
    ],
    ["money back and goods", "more than was owed", () => found(purchaseOf(told(sent())), [charge(one), refund()], 1)],
    [
      "money back that the client is not told of",
      "paid back, and a repetition",
      () => found(purchaseOf(told(payAgain)), [charge(one), refund()], 0)
    ],
    [
      "goods that the client is not told of",
      "delivered, and a repetition",
      () => found(purchaseOf(told(paidBack)), [charge(one)], 1)
    ],
    ["what never ends", "still in flight", () => found(purchaseOf(told(pending)), [], 0)],
    [
      "what ends too late",
      "no end within",
      () => {
        const purchase = purchaseOf(told(sent()))
        return found(purchase, [charge(one)], 1, { late: new Set([purchase]) })
      }
    ],
    [
      "a name that stays taken",
      "still taken",
      () => {
        const purchase = purchaseOf(told(payAgain))
        return found(purchase, [], 0, { reserved: new Set([purchase]) })
      }
    ],
    [
      "another end than the right one",
      "and not paid back",
      () => found({ ...purchaseOf(told(sent())), end: "paid back" }, [charge(one)], 1)
    ],
    [
      "what a carrier did for nobody",
      "is sold, and nobody's",
      () => found(purchaseOf(told(payAgain)), [], 0, { unclaimed: ["+14155550100 is sold, and nobody's"] })
    ],
    ["money that nobody signed for", "no client signed", () => found(purchaseOf(told(payAgain)), [charge(other)], 0)],
    ["money to somebody who never paid", "never charged that", () => found(purchaseOf(told(payAgain)), [refund()], 0)]
  ]
  it.each(cases)("%s", (_name, words, look) => {
    expect(look().wrong).toContainEqual(expect.stringContaining(words))
  })
})
