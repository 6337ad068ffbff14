import { describe, expect, it } from "vitest"
import type { TimedCall } from "../../support/CarrierLog.ts"
import type { Movement } from "../../support/TokenLog.ts"
import {
  type Advice,
  type Answer,
  EndDetector,
  type Payment,
  type PaymentObservations,
  type Purchase
} from "../observation/Purchases.ts"
import { CONTEST_INVARIANTS, type Contest } from "./ContestInvariants.ts"
import { judge } from "./Judge.ts"
import { judgePayments, PAYMENT_INVARIANTS } from "./PaymentInvariants.ts"
import { PROVIDER_INVARIANTS, type ProviderObservations } from "./ProviderInvariants.ts"

const payTo = `0x${"aa".repeat(20)}` as const
const refundWallet = `0x${"bb".repeat(20)}` as const
const payer = `0x${"cc".repeat(20)}` as const
const price = 20_000n
const VALID_BEFORE = 1n
const subject = { group: "situation", label: "case" }

const answer = (status: number, code?: string, more: Partial<Answer> = {}): Answer => ({
  at: 0,
  status,
  code,
  retryable: false,
  paymentState: undefined,
  receipt: null,
  text: code ?? "sent",
  ...more
})
const sent = answer(201)
const pending = answer(409, "PAYMENT_PENDING", { retryable: true })
const payAgain = answer(402, "PAYMENT_REQUIRED")
const conflict = answer(409, "IDEMPOTENCY_CONFLICT")
const refunded = answer(502, "PROVIDER_REJECTED", { paymentState: "refunded" })

let nonces = 0
/** A payment with the answers to each of its uses. */
const payment = (...uses: ReadonlyArray<ReadonlyArray<Answer>>): Payment => ({
  authorization: {
    from: payer,
    to: payTo,
    value: price,
    validAfter: 0n,
    validBefore: VALID_BEFORE,
    nonce: `0x${String(++nonces).padStart(64, "0")}`,
    signature: "0x"
  },
  header: "",
  token: undefined,
  uses: uses.map((answers) => ({ request: { path: "/" }, key: "", answers: [...answers] })),
  advice: []
})

const charge = ({ authorization }: Payment, value = price): Movement => ({
  from: payer,
  to: payTo,
  value,
  nonce: authorization.nonce,
  transaction: "0x"
})
const refund = (value = price, to: string = payer): Movement => ({
  from: refundWallet,
  to,
  value,
  nonce: "0xre",
  transaction: "0x"
})

interface Case {
  readonly payments: ReadonlyArray<Payment>
  readonly movements?: ReadonlyArray<Movement>
  readonly goods?: number
  readonly purchase?: Partial<Purchase>
  readonly isLate?: boolean
  readonly isReserved?: boolean
  /** The last advice for the first payment. */
  readonly advice?: Advice
}

const verdictOf = ({ advice, goods = 0, isLate, isReserved, movements = [], payments, purchase }: Case) => {
  const advised = payments.map((each, index) =>
    index > 0 || advice === undefined ? each : { ...each, advice: [advice] }
  )
  const one: Purchase = { ...subject, payments: advised, ...purchase }
  const { ends, violations } = judgePayments({
    purchases: [one],
    movements,
    payTo,
    refundWallet,
    goods: new Map([[one, goods]]),
    late: new Set(isLate === true ? [one] : []),
    reserved: new Set(isReserved === true ? [one] : [])
  })
  return { end: ends.get(one), violated: [...new Set(violations.map(({ invariant }) => invariant))] }
}

/** One payment that is charged. */
const charged = (answers: ReadonlyArray<Answer>, more: Omit<Case, "payments"> = {}): Case => {
  const one = payment(answers)
  return { ...more, payments: [one], movements: [charge(one), ...(more.movements ?? [])] }
}

describe("the invariants of payments", () => {
  const retried = payment([payAgain, refunded])
  const second = payment([sent])
  const shared = payment([pending, sent], [conflict])
  it.each<[string, Case, string]>([
    ["a payment that was never charged", { payments: [payment([pending, payAgain])] }, "never charged"],
    [
      "a charge and a delivery, answered with the same bytes",
      charged([pending, sent, sent], { goods: 1 }),
      "delivered"
    ],
    ["a charge and its refund", charged([pending, refunded], { movements: [refund()] }), "refunded"],
    [
      "a second payment after a refund",
      { payments: [retried, second], movements: [charge(retried), charge(second), refund()], goods: 1 },
      "delivered"
    ],
    ["another key that is refused", { payments: [shared], movements: [charge(shared)], goods: 1 }, "delivered"],
    ["done for a delivery", charged([sent], { goods: 1, advice: "done" }), "delivered"],
    ["done for a refund", charged([refunded], { movements: [refund()], advice: "done" }), "refunded"],
    ["pay without a charge", { payments: [payment([payAgain])], advice: "pay" }, "never charged"],
    ["a success that stands for hidden goods", charged([sent], { purchase: { isHidden: true } }), "delivered"]
  ])("allow %s", (_what, one, end) => {
    expect(verdictOf(one)).toEqual({ end, violated: [] })
  })

  const [first, other] = [payment([sent]), payment([pending])]
  const twice = payment([sent])
  const partly = payment([sent])
  const two = payment([sent], [sent])
  const cases: ReadonlyArray<[keyof typeof PAYMENT_INVARIANTS, string, Case]> = [
    ["goods are delivered at most once", "two deliveries", charged([sent], { goods: 2 })],
    [
      "goods are delivered at most once",
      "two payments that bought",
      { payments: [first, second], movements: [charge(first), charge(second), refund()], goods: 1 }
    ],
    ["goods are charged", "goods for nothing", { payments: [payment([sent])], goods: 1 }],
    ["a success means that the goods exist", "no goods", charged([sent], { movements: [refund()] })],
    ["one payment buys one thing", "two requests", { payments: [two], movements: [charge(two)], goods: 1 }],
    [
      "a payment is charged once, as it was signed",
      "two charges",
      { payments: [twice], movements: [charge(twice), charge(twice)], goods: 1 }
    ],
    [
      "a payment is charged once, as it was signed",
      "another amount",
      { payments: [partly], movements: [charge(partly, 1n)], goods: 1 }
    ],
    ["a charge is delivered or refunded", "neither", charged([payAgain])],
    ["a charge is delivered or refunded", "a partial refund", charged([refunded], { movements: [refund(1n)] })],
    [
      "a charge is delivered or refunded",
      "a second charge for the same goods",
      { payments: [first, other], movements: [charge(first), charge(other)], goods: 1 }
    ],
    ["only what is owed is refunded", "two refunds", charged([refunded], { movements: [refund(), refund()] })],
    ["only what is owed is refunded", "goods and a refund", charged([sent], { movements: [refund()], goods: 1 })],
    ["only what is owed is refunded", "a stranger", charged([sent], { movements: [refund(price, payTo)], goods: 1 })],
    ["only what is owed is refunded", "no charge", { payments: [payment([payAgain])], movements: [refund()] }],
    ["every charge was signed", "an unknown nonce", { payments: [payment([payAgain])], movements: [charge(other)] }],
    ["a repeated success is identical", "other bytes", charged([sent, answer(201, "other")], { goods: 1 })],
    [
      "a repeated success is identical",
      "another receipt",
      charged([sent, answer(201, undefined, { receipt: "other" })], { goods: 1 })
    ],
    ["a success is final", "a later failure", charged([sent, refunded, sent], { goods: 1 })],
    ["the outcome is reported", "goods that are not reported", charged([refunded], { goods: 1 })],
    ["the outcome is reported", "402 for money that was taken", charged([payAgain, sent], { goods: 1 })],
    ["the outcome is reported", "a refund that is not reported", charged([payAgain], { movements: [refund()] })],
    ["the outcome is reported", "a refund without a charge", { payments: [payment([refunded])] }],
    [
      "the outcome is reported",
      "a success of a payment that bought nothing",
      { payments: [first, payment([sent])], movements: [charge(first)], goods: 1 }
    ],
    [
      "the advice is right",
      "pay for money that was taken",
      charged([refunded], { movements: [refund()], advice: "pay" })
    ],
    ["the advice is right", "done for a charge without goods", charged([pending], { advice: "done" })],
    ["the advice is right", "done without a charge", { payments: [payment([payAgain])], advice: "done" }],
    ["the advice is right", "wait at the end", charged([sent], { goods: 1, advice: "wait" })],
    ["nothing stays in flight", "PAYMENT_PENDING at the end", { payments: [payment([pending])] }],
    ["every purchase ends in time", "a late end", charged([sent], { goods: 1, isLate: true })],
    [
      "every purchase ends as required",
      "another end",
      charged([sent], { goods: 1, purchase: { requiredEnd: "refunded" } })
    ],
    ["names that were not sold are free", "a reserved name", { payments: [payment([payAgain])], isReserved: true }]
  ]
  it.each(cases)("%s: reject %s", (invariant, _what, one) => {
    expect(verdictOf(one).violated).toContain(invariant)
  })

  it("are all covered", () => {
    expect(new Set(cases.map(([invariant]) => invariant))).toEqual(new Set(Object.keys(PAYMENT_INVARIANTS)))
  })
})

describe("a purchase has ended", () => {
  const mail = () => {
    const one = payment([pending])
    return { purchase: { ...subject, payments: [one] } as Purchase, charge: charge(one) }
  }
  const [one, two] = [mail(), mail()]
  const both = [one.purchase, two.purchase]
  const ended = (
    movements: ReadonlyArray<Movement>,
    {
      delivered = [],
      detector = new EndDetector(),
      finalSeconds = 0n,
      open = [one.purchase]
    }: {
      readonly delivered?: ReadonlyArray<Purchase>
      readonly detector?: EndDetector
      readonly finalSeconds?: bigint
      readonly open?: ReadonlyArray<Purchase>
    } = {}
  ) => {
    const goods: PaymentObservations["goods"] = new Map(delivered.map((each) => [each, 1]))
    return detector.findEnded(open, { movements, payTo, refundWallet, goods }, finalSeconds)
  }

  it("once its goods exist, charged or not", () => {
    expect(ended([one.charge])).toEqual([])
    expect(ended([one.charge], { delivered: [one.purchase] })).toEqual([one.purchase])
    expect(ended([], { delivered: [one.purchase] })).toEqual([one.purchase])
  })

  it("once the whole charge is refunded", () => {
    expect(ended([one.charge, refund(price - 1n)])).toEqual([])
    expect(ended([one.charge, refund()])).toEqual([one.purchase])
  })

  it("once its payments have expired without a charge", () => {
    expect(ended([], { finalSeconds: VALID_BEFORE + 2n })).toEqual([])
    expect(ended([], { finalSeconds: VALID_BEFORE + 3n })).toEqual([one.purchase])
    expect(ended([one.charge], { finalSeconds: VALID_BEFORE + 3n })).toEqual([])
  })

  it("by a refund of its own, not by that of another purchase", () => {
    const charges = [one.charge, two.charge]
    expect(ended([...charges, refund()], { open: both })).toEqual([])
    expect(ended([...charges, refund(), refund()], { open: both })).toEqual(both)
    expect(ended([...charges, refund()], { open: both, delivered: [two.purchase] })).toEqual(both)
    const detector = new EndDetector()
    expect(ended([one.charge, refund()], { open: both, detector })).toEqual([one.purchase])
    expect(ended([...charges, refund()], { open: [two.purchase], detector })).toEqual([])
    expect(ended([...charges, refund(), refund()], { open: [two.purchase], detector })).toEqual([two.purchase])
  })
})

const ADA = "+12015550150"
const NUMBER = "+12015550100"
const RECIPIENT = "a@b.test"
const held = new Set([NUMBER])

const dialed = (timeLimitSeconds = 60): TimedCall => ({
  id: "CA1",
  state: "completed",
  direction: "outbound-api",
  from: NUMBER,
  to: ADA,
  timeLimitSeconds,
  seconds: 3
})
const received = (seconds: number): TimedCall => ({ ...dialed(), direction: "inbound", to: NUMBER, seconds })
const sold = (times: number) => new Map([[NUMBER, times]])
const owned = (...kept: ReadonlyArray<boolean>) => kept.map((isKept) => ({ subject, number: NUMBER, isKept }))
const call = (isSold: boolean) => [{ subject, toNumber: ADA, isSold, limitSeconds: 60 }]
const mail = (isSent: boolean, mayRepeat = false) => [{ subject, recipient: RECIPIENT, isSent, mayRepeat }]
const mails = (...ids: ReadonlyArray<string>) => new Map([[RECIPIENT, ids]])
const allowances = [{ subject, number: NUMBER, purchasedSeconds: 600 }]

const none: ProviderObservations = {
  calls: [],
  sales: new Map(),
  held: new Set(),
  mails: new Map(),
  owned: [],
  expectedCalls: [],
  allowances: [],
  expectedMails: []
}

const violatedBy = (observed: Partial<ProviderObservations>): ReadonlyArray<string> =>
  judge(PROVIDER_INVARIANTS, { ...none, ...observed }).map(({ invariant }) => invariant)

describe("the invariants of carrier and relay", () => {
  it.each<[string, Partial<ProviderObservations>]>([
    ["a sold call", { expectedCalls: call(true), calls: [dialed()] }],
    ["a call that was not sold", { expectedCalls: call(false) }],
    ["a number", { owned: owned(true), sales: sold(1), held }],
    ["a released number", { owned: owned(false), sales: sold(1) }],
    ["a number that was sold again", { owned: owned(false, true), sales: sold(2), held }],
    ["calls within an allowance", { allowances, calls: [received(350), received(250)] }],
    ["a mail", { expectedMails: mail(true), mails: mails("<1>") }],
    ["a copy after an interrupted attempt", { expectedMails: mail(true, true), mails: mails("<1>", "<1>") }],
    ["a mail that was not sold", { expectedMails: mail(false) }]
  ])("allow %s", (_what, observed) => {
    expect(violatedBy(observed)).toEqual([])
  })

  const cases: ReadonlyArray<[keyof typeof PROVIDER_INVARIANTS, string, Partial<ProviderObservations>]> = [
    ["every sold number has one owner", "no sale", { owned: owned(true), held }],
    ["every sold number has one owner", "two owners", { owned: owned(true, true), sales: sold(2), held }],
    ["every sold number has one owner", "two owners of one sale", { owned: owned(false, true), sales: sold(1), held }],
    ["every sold number has one owner", "a number that is gone", { owned: owned(true), sales: sold(1) }],
    [
      "every sold number has one owner",
      "a released number that is kept",
      { owned: owned(false), sales: sold(1), held }
    ],
    ["every sold number has one owner", "no owner", { held }],
    ["every sold call is dialed once", "no call", { expectedCalls: call(true) }],
    ["every sold call is dialed once", "two calls", { expectedCalls: call(true), calls: [dialed(), dialed()] }],
    ["every sold call is dialed once", "an unsold call", { expectedCalls: call(false), calls: [dialed()] }],
    ["every sold call is dialed once", "an unknown call", { calls: [dialed()] }],
    ["a call has the limit that was paid", "another limit", { expectedCalls: call(true), calls: [dialed(120)] }],
    [
      "inbound calls stay within the allowance",
      "a second too much",
      { allowances, calls: [received(350), received(251)] }
    ],
    ["a mail is sent once", "no mail", { expectedMails: mail(true) }],
    ["a mail is sent once", "two copies", { expectedMails: mail(true), mails: mails("<1>", "<1>") }],
    ["a mail is sent once", "two Message-IDs", { expectedMails: mail(true, true), mails: mails("<1>", "<2>") }],
    ["a mail is sent once", "an unsold mail", { expectedMails: mail(false), mails: mails("<1>") }]
  ]
  it.each(cases)("%s: reject %s", (invariant, _what, observed) => {
    expect(violatedBy(observed)).toContain(invariant)
  })

  it("are all covered", () => {
    expect(new Set(cases.map(([invariant]) => invariant))).toEqual(new Set(Object.keys(PROVIDER_INVARIANTS)))
  })
})

describe("the invariants of contests", () => {
  const outcome = (first: Answer, last: Answer = first) => ({
    first: [first],
    last: [last],
    won: [first, last].includes(sent)
  })
  const violated = (contest: Partial<Contest>, findings: ReadonlyArray<string> = []): ReadonlyArray<string> =>
    judge(CONTEST_INVARIANTS, {
      contests: [{ subject, outcomes: [], ...contest }],
      findings: findings.map((text) => ({ subject, text }))
    }).map(({ invariant }) => invariant)
  const losingCodes = ["IDEMPOTENCY_CONFLICT"]

  it("allow one winner that waited, and a loser that was refused", () => {
    expect(violated({ outcomes: [outcome(pending, sent), outcome(conflict)], winners: 1, losingCodes })).toEqual([])
  })

  it.each<[keyof typeof CONTEST_INVARIANTS, string, Partial<Contest>, ...ReadonlyArray<string>]>([
    ["a winner is asked at most to wait", "another first answer", { outcomes: [outcome(payAgain, sent)] }],
    ["a winner is asked at most to wait", "another last answer", { outcomes: [outcome(sent, conflict)] }],
    ["the right number of requests wins", "two winners", { outcomes: [outcome(sent), outcome(sent)], winners: 1 }],
    ["a loser is refused for its reason", "another code", { outcomes: [outcome(payAgain)], losingCodes }],
    ["each race's own checks hold", "a finding", {}, "a finding"]
  ])("%s: reject %s", (invariant, _what, contest, ...findings) => {
    expect(violated(contest, findings)).toContain(invariant)
  })
})
