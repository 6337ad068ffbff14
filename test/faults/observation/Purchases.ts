import type { Request } from "../../support/Agent.ts"
import type { SignedAuthorization } from "../../support/Authorization.ts"
import type { Movement } from "../../support/TokenLog.ts"
import type { Subject } from "../verdict/Judge.ts"

/** An answer of the service, as its client received it. */
export interface Answer {
  /** Milliseconds of the monotonic clock. */
  readonly at: number
  readonly status: number
  /** Of an error. */
  readonly code: string | undefined
  readonly retryable: boolean
  readonly paymentState: string | undefined
  /** The PAYMENT-RESPONSE header. */
  readonly receipt: string | null
  readonly text: string
}

/** A request that presents a payment under an idempotency key, repeated any number of times. */
export interface Use {
  readonly request: Request
  readonly key: string
  readonly answers: Array<Answer>
}

/** A signed payment and everything that it was presented for. */
export interface Payment {
  readonly authorization: SignedAuthorization
  /** The PAYMENT-SIGNATURE header. */
  readonly header: string
  /** The access token that was sent with it. */
  readonly token: string | undefined
  readonly uses: Array<Use>
  /** Each advice that `payment.status` gave for it, in order. */
  readonly advice: Array<Advice>
}

/** What `payment.status` says about a payment. */
export interface PaymentStatus {
  readonly paymentState: string
  readonly advice: Advice
  readonly retryAfterSeconds?: number
}
export type Advice = "pay" | "retry_same" | "wait" | "done"

/** The ways in which a purchase may end. */
export type End = "never charged" | "delivered" | "refunded"

/** Something that a client wants once, and the payments that it signed for it. */
export interface Purchase extends Subject {
  readonly payments: ReadonlyArray<Payment>
  /** The only correct end, where there is one. */
  readonly requiredEnd?: End | undefined
  /** The goods cannot be observed, for example because another purchase removes them: a success stands for them. */
  isHidden?: boolean | undefined
}

/** Observations of purchases from outside, without the service's database. */
export interface PaymentObservations {
  readonly purchases: ReadonlyArray<Purchase>
  readonly movements: ReadonlyArray<Movement>
  readonly payTo: string
  readonly refundWallet: string
  /** How many times the goods of a purchase exist. A mail counts once for each Message-ID. */
  readonly goods: ReadonlyMap<Purchase, number>
  /** Purchases that had not ended by their deadline, before any client asked again. */
  readonly late: ReadonlySet<Purchase>
  /** Purchases of mailboxes that were not delivered and whose name is not free. */
  readonly reserved: ReadonlySet<Purchase>
}

export const isSuccess = ({ status }: Pick<Answer, "status">): boolean => status >= 200 && status < 300

/** `OK`, the code of an error, or else the status. */
export const codeOf = (answer: Answer): string => (isSuccess(answer) ? "OK" : (answer.code ?? String(answer.status)))

export const answersOf = ({ uses }: Payment): ReadonlyArray<Answer> => uses.flatMap(({ answers }) => answers)

/** The data of the first success of a purchase. */
export const dataBoughtBy = <Data>({ payments }: Purchase): Data | undefined => {
  const success = payments.flatMap(answersOf).find(isSuccess)
  return success === undefined ? undefined : dataOf<Data>(success)
}

/** The data of a success. Throws for any other answer. */
export const dataOf = <Data>(answer: Answer): Data => {
  if (!isSuccess(answer)) throw new Error(`expected a success, got ${answer.status}: ${answer.text}`)
  return (JSON.parse(answer.text) as { readonly data: Data }).data
}

/** Refunds name only their wallet and amount. */
export const accountOf = (wallet: string, value: bigint): string => `${wallet.toLowerCase()} ${value}`

const countEach = (names: ReadonlyArray<string>): ReadonlyMap<string, number> =>
  new Map([...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length]))

export const isChargeOf = ({ payments }: Purchase, { nonce, to }: Movement, payTo: string): boolean =>
  to === payTo.toLowerCase() && payments.some(({ authorization }) => authorization.nonce === nonce)

/** The token refuses an authorization for good once a final block is this much younger. */
const EXPIRY_MARGIN_SECONDS = 2n

/**
 * Finds purchases that have ended: nothing can be charged any more, and every charge is delivered or refunded. A refund
 * counts for one purchase. While refunds of the same account are fewer than the purchases that need one, none has ended.
 */
export class EndDetector {
  /** Refunds that ended purchases, by account. */
  readonly #used = new Map<string, number>()

  /** Of purchases that had not ended, those that have. */
  findEnded<P extends Purchase>(
    open: ReadonlyArray<P>,
    observed: Pick<PaymentObservations, "movements" | "payTo" | "refundWallet" | "goods">,
    finalSeconds: bigint
  ): ReadonlyArray<P> {
    const cases = open.map((purchase) => ({ purchase, ...this.#assess(purchase, observed) }))
    const owed = countEach(cases.flatMap(({ owing }) => owing))
    const refunds = observed.movements.filter(({ from }) => from === observed.refundWallet.toLowerCase())
    const made = countEach(refunds.map(({ to, value }) => accountOf(to, value)))
    const isRefunded = (name: string) => (made.get(name) ?? 0) - (this.#used.get(name) ?? 0) >= (owed.get(name) ?? 0)
    const ended = cases.filter(({ hasMoved, owing, purchase }) =>
      hasMoved ? owing.every(isRefunded) : isExpired(purchase, finalSeconds)
    )
    for (const [name, count] of countEach(ended.flatMap(({ owing }) => owing))) {
      this.#used.set(name, (this.#used.get(name) ?? 0) + count)
    }
    return ended.map(({ purchase }) => purchase)
  }

  #assess(purchase: Purchase, { goods, movements, payTo }: Pick<PaymentObservations, "movements" | "payTo" | "goods">) {
    const charges = movements.filter((movement) => isChargeOf(purchase, movement, payTo))
    const assumed = purchase.requiredEnd === "refunded" ? 0 : 1
    const delivered = purchase.isHidden === true ? assumed : Math.min(goods.get(purchase) ?? 0, 1)
    return {
      // Goods without a charge are a violation already, so there is nothing to wait for.
      hasMoved: charges.length > 0 || (purchase.isHidden !== true && delivered > 0),
      /** The accounts that must be refunded: one for each charge without goods. */
      owing: charges.slice(delivered).map(({ from, value }) => accountOf(from, value))
    }
  }
}

const isExpired = ({ payments }: Purchase, finalSeconds: bigint): boolean =>
  payments.every(({ authorization }) => finalSeconds > authorization.validBefore + EXPIRY_MARGIN_SECONDS)
