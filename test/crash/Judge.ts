import type { Movement } from "../support/TokenLog.ts"
import type { Attempt, End, Purchase, Told } from "./Purchase.ts"

/** What was seen from outside: on the chain, at the relay and the carrier, and by reading over HTTP and SMTP. */
export interface Evidence {
  readonly movements: ReadonlyArray<Movement>
  readonly payTo: string
  readonly refundWallet: string
  /** How many times each purchase's goods are there. A mail counts once for each Message-ID. */
  readonly goods: ReadonlyMap<Purchase, number>
  /** What the carrier sold or dialled for nobody, in words. */
  readonly unclaimed: ReadonlyArray<string>
  /** Mailboxes that were not delivered and whose name a stranger can't have. */
  readonly reserved: ReadonlySet<Purchase>
  /** Purchases that had come to no end by their deadline, before anybody asked again. */
  readonly late: ReadonlySet<Purchase>
}

/** What a purchase came to. */
export interface Verdict {
  readonly purchase: Purchase
  readonly end: End
  readonly violations: ReadonlyArray<string>
}

export interface Judgement {
  readonly verdicts: ReadonlyArray<Verdict>
  /** Money that moved for nothing that any client signed, and what a carrier did that nobody has. */
  readonly strays: ReadonlyArray<string>
}

/**
 * Holds what clients were told, and what can be seen, against the promise: never charged; charged once and delivered
 * once; or charged once and paid back. The service's own books are not asked.
 */
export const judge = (purchases: ReadonlyArray<Purchase>, evidence: Evidence): Judgement => {
  const payTo = evidence.payTo.toLowerCase()
  const wallet = evidence.refundWallet.toLowerCase()
  const received = Map.groupBy(
    evidence.movements.filter(({ to }) => to === payTo),
    ({ nonce }) => nonce ?? "without an authorization"
  )
  const refunds = Map.groupBy(
    evidence.movements.filter(({ from }) => from === wallet),
    ({ to, value }) => account(to, value)
  )
  const cases = purchases.map((purchase) => caseOf(purchase, evidence, received))
  const paidBack = matchRefunds(cases, refunds)
  const signed = new Set(purchases.flatMap(({ attempts }) => attempts.map(({ authorization }) => authorization.nonce)))
  return {
    verdicts: cases.map((one) => verdictOf(one, evidence, paidBack)),
    strays: [
      ...evidence.unclaimed,
      ...[...received.keys()]
        .filter((nonce) => !signed.has(nonce as `0x${string}`))
        .map((nonce) => `received by ${nonce}, which no client signed`),
      ...[...refunds].flatMap(([to, made]) =>
        paidBack.known.has(to) ? [] : [`${made.length} times paid to ${to}, who was never charged that`]
      )
    ]
  }
}

/** Whom, and how much: by this a refund is told from another. */
const account = (wallet: string, value: bigint): string => `${wallet.toLowerCase()} ${value}`
const accountOf = ({ authorization }: Attempt): string => account(authorization.from, authorization.value)

/** A purchase with what is known of its money. */
interface Case {
  readonly purchase: Purchase
  readonly goods: number
  /** The attempts that were charged, each with what moved. */
  readonly charged: ReadonlyMap<Attempt, ReadonlyArray<Movement>>
  /** The charged attempt that the goods stand for. */
  readonly delivering: Attempt | undefined
}

const isSuccess = ({ status }: Told): boolean => status >= 200 && status < 300

const caseOf = (
  purchase: Purchase,
  evidence: Evidence,
  received: ReadonlyMap<string, ReadonlyArray<Movement>>
): Case => {
  const charged = new Map(
    purchase.attempts.flatMap((attempt) => {
      const moved = received.get(attempt.authorization.nonce)
      return moved === undefined ? [] : [[attempt, moved] as const]
    })
  )
  const sold = purchase.attempts.filter(({ told }) => told.some(isSuccess))
  const goods = purchase.hidden === true ? sold.length : (evidence.goods.get(purchase) ?? 0)
  const delivering =
    goods === 0 ? undefined : (sold.find((attempt) => charged.has(attempt)) ?? [...charged.keys()].at(-1))
  return { purchase, goods, charged, delivering }
}

interface PaidBack {
  readonly attempts: ReadonlySet<Attempt>
  /** Payments back for which there is no payment that went without its goods, by account. */
  readonly surplus: ReadonlyMap<string, number>
  readonly known: ReadonlySet<string>
}

/** Gives each payment back to a payment that brought nothing: of the same wallet, and as high. */
const matchRefunds = (cases: ReadonlyArray<Case>, refunds: ReadonlyMap<string, ReadonlyArray<Movement>>): PaidBack => {
  const charged = cases.flatMap((one) => [...one.charged.keys()].map((attempt) => ({ one, attempt })))
  const attempts = new Set<Attempt>()
  const surplus = new Map<string, number>()
  for (const [name, made] of refunds) {
    const owed = charged.filter(({ attempt, one }) => accountOf(attempt) === name && attempt !== one.delivering)
    // Where there are fewer than are owed, whoever was told of a refund has it.
    const told = owed.toSorted((a, b) => Number(wasToldRefunded(b.attempt)) - Number(wasToldRefunded(a.attempt)))
    for (const { attempt } of told.slice(0, made.length)) attempts.add(attempt)
    if (made.length > owed.length) surplus.set(name, made.length - owed.length)
  }
  return { attempts, surplus, known: new Set(charged.map(({ attempt }) => accountOf(attempt))) }
}

const wasToldRefunded = ({ told }: Attempt): boolean => told.some(({ paymentState }) => paymentState === "refunded")

const verdictOf = (one: Case, evidence: Evidence, paidBack: PaidBack): Verdict => {
  const { charged, delivering, goods, purchase } = one
  const end: End = delivering !== undefined ? "delivered" : charged.size > 0 ? "paid back" : "never charged"
  const violations = [
    ...goodsViolations(one, evidence),
    ...purchase.attempts.flatMap((attempt, index) =>
      attemptViolations(attempt, {
        moved: charged.get(attempt),
        delivers: attempt === delivering,
        isPaidBack: paidBack.attempts.has(attempt),
        surplus: paidBack.surplus.get(accountOf(attempt)) ?? 0
      }).map((text) => (purchase.attempts.length > 1 ? `payment ${index + 1}: ${text}` : text))
    ),
    ...(evidence.late.has(purchase) ? ["no end within the time, with nobody asking"] : []),
    ...(purchase.end !== undefined && purchase.end !== end && goods < 2 ? [`${end}, and not ${purchase.end}`] : [])
  ]
  return { purchase, end, violations }
}

const goodsViolations = ({ charged, delivering, goods, purchase }: Case, evidence: Evidence): ReadonlyArray<string> => {
  const sold = purchase.attempts.filter(({ told }) => told.some(isSuccess)).length
  return [
    ...(goods > 1 ? [`delivered ${goods} times`] : []),
    ...(goods > 0 && charged.size === 0 ? ["delivered, and never charged"] : []),
    ...(sold > 0 && goods === 0 ? ["told that it was delivered, and it is not there"] : []),
    ...(sold > 1 ? [`${sold} payments were told that they bought it`] : []),
    ...(delivering === undefined && evidence.reserved.has(purchase)
      ? ["not delivered, and its name is still taken from everybody"]
      : [])
  ]
}

interface AttemptEnd {
  readonly moved: ReadonlyArray<Movement> | undefined
  readonly delivers: boolean
  readonly isPaidBack: boolean
  readonly surplus: number
}

const attemptViolations = (attempt: Attempt, end: AttemptEnd): ReadonlyArray<string> => [
  ...moneyViolations(attempt, end),
  ...answerViolations(attempt, end)
]

const moneyViolations = ({ authorization }: Attempt, end: AttemptEnd): ReadonlyArray<string> => {
  const { delivers, isPaidBack, moved, surplus } = end
  if (moved === undefined) return []
  const exact = moved.filter(
    ({ from, value }) => from === authorization.from.toLowerCase() && value === authorization.value
  )
  return [
    ...(moved.length > 1 ? [`charged ${moved.length} times`] : []),
    ...(exact.length < moved.length ? ["charged another amount than was signed"] : []),
    ...(delivers || isPaidBack ? [] : ["charged, and neither delivered nor paid back"]),
    ...(surplus > 0 ? [`paid back ${surplus} times more than was owed`] : [])
  ]
}

/** Refused by the provider; or submitted by others, where the payment can't be told from one that was used elsewhere. */
const isTold = (code: string | undefined): boolean => code === "PROVIDER_REJECTED" || code === "IDEMPOTENCY_CONFLICT"

/** What the client was told, in itself and against what happened. The last answer is the harness's own question. */
const answerViolations = ({ told }: Attempt, end: AttemptEnd): ReadonlyArray<string> => {
  const successes = told.filter(isSuccess)
  const first = told.findIndex(isSuccess)
  const last = told.at(-1)
  const violations: Array<string> = []
  if (new Set(successes.map(({ text }) => text)).size > 1) violations.push("repeated, and answered with other bytes")
  if (first >= 0 && told.slice(first).some((one) => !isSuccess(one) && !one.retryable)) {
    violations.push("told of its success, and then that it has none")
  }
  if (last === undefined) return violations
  if (last.code === "PAYMENT_PENDING") violations.push("still in flight when all should have come to an end")
  if (end.delivers) {
    if (!isSuccess(last)) violations.push(`delivered, and a repetition is told ${last.status} ${last.code ?? ""}`)
    if (told.some(({ status }) => status === 402)) violations.push("told to pay again, with the money taken")
  } else if (isSuccess(last)) {
    violations.push("told of a success by a payment that bought nothing")
  } else if (end.isPaidBack && !(isTold(last.code) && last.paymentState === "refunded")) {
    violations.push(`paid back, and a repetition is told ${last.status} ${last.code} (${last.paymentState})`)
  }
  return violations
}
