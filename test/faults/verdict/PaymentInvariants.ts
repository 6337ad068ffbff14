import type { Movement } from "../../support/TokenLog.ts"
import {
  accountOf,
  answersOf,
  codeOf,
  type End,
  isSuccess,
  type Payment,
  type PaymentObservations,
  type Purchase,
  type Use
} from "../observation/Purchases.ts"
import { type Finding, type Invariant, judge, type Violation } from "./Judge.ts"

/** A purchase with the money that moved for it. */
interface PurchaseCase {
  readonly purchase: Purchase
  readonly goods: number
  readonly charged: ReadonlyMap<Payment, ReadonlyArray<Movement>>
  /** The charged payment that bought the goods. */
  readonly delivering: Payment | undefined
  readonly end: End
}

interface PaymentCases {
  readonly observed: PaymentObservations
  readonly all: ReadonlyArray<PurchaseCase>
  /** Charges by nonce. */
  readonly received: ReadonlyMap<string, ReadonlyArray<Movement>>
  readonly refunded: ReadonlySet<Payment>
  /** Refunds that nothing was owed for, by account. */
  readonly surplus: ReadonlyMap<string, number>
}

const isReportedRefunded = (payment: Payment): boolean =>
  answersOf(payment).some(({ paymentState }) => paymentState === "refunded")

const isSold = (payment: Payment): boolean => answersOf(payment).some(isSuccess)
const accountFor = ({ authorization: { from, value } }: Payment): string => accountOf(from, value)

const indexPayments = (observed: PaymentObservations): PaymentCases => {
  const payTo = observed.payTo.toLowerCase()
  const received = Map.groupBy(
    observed.movements.filter(({ to }) => to === payTo),
    ({ nonce }) => nonce ?? "no authorization"
  )
  const all = observed.purchases.map((purchase): PurchaseCase => {
    const charged = new Map(
      purchase.payments.flatMap((payment) => {
        const moved = received.get(payment.authorization.nonce)
        return moved === undefined ? [] : [[payment, moved] as const]
      })
    )
    const sold = purchase.payments.filter(isSold)
    const goods = purchase.isHidden === true ? sold.length : (observed.goods.get(purchase) ?? 0)
    const delivering =
      goods === 0 ? undefined : (sold.find((payment) => charged.has(payment)) ?? [...charged.keys()].at(-1))
    const end = delivering !== undefined ? "delivered" : charged.size > 0 ? "refunded" : "never charged"
    return { purchase, goods, charged, delivering, end }
  })
  return { observed, all, received, ...matchRefunds(all, observed) }
}

/** Assigns each refund to a charged payment of the same account that bought nothing. */
const matchRefunds = (
  cases: ReadonlyArray<PurchaseCase>,
  { movements, refundWallet }: PaymentObservations
): Pick<PaymentCases, "refunded" | "surplus"> => {
  const owed = Map.groupBy(
    cases.flatMap(({ charged, delivering }) => [...charged.keys()].filter((payment) => payment !== delivering)),
    accountFor
  )
  const made = Map.groupBy(
    movements.filter(({ from }) => from === refundWallet.toLowerCase()),
    ({ to, value }) => accountOf(to, value)
  )
  const refunded = new Set<Payment>()
  const surplus = new Map<string, number>()
  for (const [account, { length: count }] of made) {
    // If there are fewer refunds than debts, those that were reported come first.
    const debts = (owed.get(account) ?? []).toSorted(
      (a, b) => Number(isReportedRefunded(b)) - Number(isReportedRefunded(a))
    )
    for (const payment of debts.slice(0, count)) refunded.add(payment)
    if (count > debts.length) surplus.set(account, count - debts.length)
  }
  return { refunded, surplus }
}

type PaymentInvariant = Invariant<PaymentCases>

/** Of the answers to a payment, so many are quoted. */
const QUOTED_ANSWERS = 8

/** A finding, followed by the answers to the clients. */
const about = (purchase: Purchase, text: string): Finding => {
  const histories = purchase.payments.flatMap((payment) => {
    const answers = answersOf(payment)
    const quoted = answers.slice(-QUOTED_ANSWERS)
    const start = quoted[0]?.at ?? 0
    return [
      `${payment.authorization.nonce} of ${payment.authorization.from} was answered ${answers.length} times`,
      ...quoted.map(({ at, status, text }) => `  ${((at - start) / 1_000).toFixed(1)} s: ${status} ${text}`)
    ]
  })
  return { subject: purchase, text: [text, ...histories].join("\n    ") }
}

/** An invariant of each purchase. */
const ofPurchases = (find: (one: PurchaseCase, cases: PaymentCases) => Iterable<string | false>): PaymentInvariant =>
  function* (cases) {
    for (const one of cases.all) {
      for (const text of find(one, cases)) if (text !== false) yield about(one.purchase, text)
    }
  }

/** An invariant of each payment. */
const ofPayments = (
  find: (payment: Payment, one: PurchaseCase, cases: PaymentCases) => Iterable<string | false>
): PaymentInvariant =>
  ofPurchases(function* (one, cases) {
    for (const payment of one.purchase.payments) yield* find(payment, one, cases)
  })

const goodsAreDeliveredOnce = ofPurchases(({ goods, purchase }) => {
  const sold = purchase.payments.filter(isSold).length
  return [goods > 1 && `delivered ${goods} times`, sold > 1 && `${sold} payments were answered with a success`]
})

const goodsAreCharged = ofPurchases(({ charged, goods }) => [
  goods > 0 && charged.size === 0 && "delivered, and never charged"
])

const successesAreDelivered = ofPurchases(({ goods, purchase }) => [
  goods === 0 && purchase.payments.some(isSold) && "answered with a success, and not delivered"
])

const paymentsBuyOneThing = ofPayments(({ uses }) => {
  const bought = uses.filter(({ answers }) => answers.some(isSuccess)).length
  return [bought > 1 && `one payment bought ${bought} things`]
})

const chargesAreExact = ofPayments(({ authorization }, _one, { received }) => {
  const moved = received.get(authorization.nonce) ?? []
  const exact = moved.filter(
    ({ from, value }) => from === authorization.from.toLowerCase() && value === authorization.value
  )
  return [
    moved.length > 1 && `charged ${moved.length} times`,
    exact.length < moved.length && `charged ${moved.map(({ value }) => value).join(", ")}, not what was signed`
  ]
})

const chargesAreDeliveredOrRefunded = ofPayments((payment, { charged, delivering }, { refunded }) => [
  charged.has(payment) &&
    payment !== delivering &&
    !refunded.has(payment) &&
    "charged, and neither delivered nor refunded"
])

const refundsAreOwed: PaymentInvariant = function* ({ all, surplus }) {
  for (const [account, count] of surplus) {
    const text = `${count} refunds of ${account} more than were owed`
    const one = all.find(({ purchase }) => purchase.payments.some((payment) => accountFor(payment) === account))
    yield one === undefined ? text : about(one.purchase, text)
  }
}

const chargesAreSigned: PaymentInvariant = function* ({ all, received }) {
  const signed = new Set<string>(
    all.flatMap(({ purchase }) => purchase.payments.map(({ authorization }) => authorization.nonce))
  )
  for (const [nonce, { length }] of received) {
    if (!signed.has(nonce)) yield `${length} charges by ${nonce}, which no client signed`
  }
}

const repetitionsAreIdentical = ofPayments(function* ({ uses }) {
  for (const { answers } of uses) {
    const different = new Set(
      answers.filter(isSuccess).map(({ receipt, status, text }) => `${status} ${receipt} ${text}`)
    )
    if (different.size > 1) yield `${different.size} different successes: ${[...different].join(" | ")}`
  }
})

const successesAreFinal = ofPayments(function* ({ uses }) {
  for (const { answers } of uses) {
    const first = answers.findIndex(isSuccess)
    if (first >= 0 && answers.slice(first).some((answer) => !isSuccess(answer) && !answer.retryable)) {
      yield "a success was followed by a final failure"
    }
  }
})

/** With the refund of a payment that others submitted, the service cannot tell it from one used elsewhere. */
const REFUND_CODES = ["PROVIDER_REJECTED", "IDEMPOTENCY_CONFLICT"]

const lastOf = ({ answers }: Use) => answers.at(-1)

const outcomesAreReported = ofPayments(function* (payment, { charged, delivering }, { refunded }) {
  const lasts = payment.uses.flatMap((use) => lastOf(use) ?? [])
  if (lasts.length === 0) return
  if (payment === delivering) {
    const use = payment.uses.find(({ answers }) => answers.some(isSuccess)) ?? payment.uses[0]!
    const last = lastOf(use)
    if (last !== undefined && !isSuccess(last)) {
      yield `delivered, and a repetition was answered ${last.status} ${codeOf(last)}`
    }
    if (use.answers.some(({ status }) => status === 402)) yield "asked to pay again, with the money taken"
  } else if (lasts.some(isSuccess)) {
    yield "a success was answered for a payment that bought nothing"
  } else if (refunded.has(payment)) {
    const isReported = lasts.some(
      ({ code, paymentState }) => REFUND_CODES.includes(code ?? "") && paymentState === "refunded"
    )
    if (!isReported) yield `refunded, and repetitions were answered ${lasts.map(codeOf).join(", ")}`
  }
  if (isReportedRefunded(payment) && !charged.has(payment)) yield "reported refunded, and never charged"
})

const adviceIsRight = ofPayments((payment, { charged, delivering }, { refunded }) => {
  const { advice } = payment
  const isCharged = charged.has(payment)
  const isOver = payment === delivering || refunded.has(payment)
  const last = advice.at(-1)
  return [
    advice.includes("pay") && isCharged && "advised to pay again, with the money taken",
    advice.includes("done") && !isOver && "advised that it is done, and neither delivered nor refunded",
    last !== undefined && last !== "done" && last !== "pay" && `still advised to ${last} at the end`
  ]
})

const nothingStaysInFlight = ofPayments(({ uses }) => [
  uses.some((use) => lastOf(use)?.code === "PAYMENT_PENDING") && "still in flight at the end"
])

const purchasesEndInTime = ofPurchases(({ purchase }, { observed }) => [
  observed.late.has(purchase) && "no end within the time limit, without a client that asks"
])

const endsAreAsRequired = ofPurchases(({ end, goods, purchase: { requiredEnd } }) => [
  requiredEnd !== undefined && requiredEnd !== end && goods < 2 && `${end}, not ${requiredEnd}`
])

const namesAreReleased = ofPurchases(({ delivering, purchase }, { observed }) => [
  delivering === undefined && observed.reserved.has(purchase) && "not delivered, and its name is still reserved"
])

export const PAYMENT_INVARIANTS = {
  "goods are delivered at most once": goodsAreDeliveredOnce,
  "goods are charged": goodsAreCharged,
  "a success means that the goods exist": successesAreDelivered,
  "one payment buys one thing": paymentsBuyOneThing,
  "a payment is charged once, as it was signed": chargesAreExact,
  "a charge is delivered or refunded": chargesAreDeliveredOrRefunded,
  "only what is owed is refunded": refundsAreOwed,
  "every charge was signed": chargesAreSigned,
  "a repeated success is identical": repetitionsAreIdentical,
  "a success is final": successesAreFinal,
  "the outcome is reported": outcomesAreReported,
  "the advice is right": adviceIsRight,
  "nothing stays in flight": nothingStaysInFlight,
  "every purchase ends in time": purchasesEndInTime,
  "every purchase ends as required": endsAreAsRequired,
  "names that were not sold are free": namesAreReleased
} as const satisfies Readonly<Record<string, PaymentInvariant>>

export interface PaymentVerdict {
  readonly violations: ReadonlyArray<Violation>
  readonly ends: ReadonlyMap<Purchase, End>
  readonly charged: ReadonlySet<Payment>
  readonly refunded: ReadonlySet<Payment>
}

export const judgePayments = (observed: PaymentObservations): PaymentVerdict => {
  const cases = indexPayments(observed)
  return {
    violations: judge(PAYMENT_INVARIANTS, cases),
    ends: new Map(cases.all.map(({ end, purchase }) => [purchase, end])),
    charged: new Set(cases.all.flatMap(({ charged }) => [...charged.keys()])),
    refunded: cases.refunded
  }
}
