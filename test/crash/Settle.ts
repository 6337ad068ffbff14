import { setTimeout as sleep } from "node:timers/promises"
import { inTurns } from "../faults/client/inTurns.ts"
import { EndDetector, isChargeOf, isSuccess } from "../faults/observation/Purchases.ts"
import type { Testbed } from "../faults/server/Testbed.ts"
import { judge, type Violation } from "../faults/verdict/Judge.ts"
import { judgePayments, type PaymentVerdict } from "../faults/verdict/PaymentInvariants.ts"
import { PROVIDER_INVARIANTS } from "../faults/verdict/ProviderInvariants.ts"
import { isFinal, readStatus, send } from "./Client.ts"
import { observe, observeCarrier } from "./Observe.ts"
import type { CrashPurchase } from "./Purchase.ts"
import type { Shop } from "./Shop.ts"

/** How long a purchase may take to end, from its fault or from its validBefore. */
export const END_MILLIS_MAX = 60_000
const POLL_MILLIS = 500
const OBSERVE_ALL_EVERY = 8

export interface Outcome {
  readonly verdict: PaymentVerdict
  readonly violations: ReadonlyArray<Violation>
  /** From the end of its fault to the end of the last charged purchase, without a client that asks. */
  readonly endMillis: number
  /** Copies of mails beyond the first of each Message-ID. */
  readonly duplicates: number
}

/** When the faults that concern a purchase were over, on the monotonic clock. */
export type FaultEnd = (purchase: CrashPurchase) => number

/**
 * Waits until every purchase has ended without a client that asks, and ends the clients: one that pays again then may do so as
 * late as its first payment has expired. Then asks for each again, and judges.
 */
export const settle = async (
  { purchases: all, testbed }: Shop,
  purchases: ReadonlyArray<CrashPurchase>,
  faultEnd: FaultEnd,
  endMillisMax: number = END_MILLIS_MAX,
  endClients: () => Promise<unknown> = () => Promise.resolve()
): Promise<Outcome> => {
  const { endMillis, late } = await untilEnded(testbed, purchases, faultEnd, endMillisMax)
  await endClients()
  await askAgain(purchases, faultEnd, endMillisMax)
  await readLastAdvice(purchases, faultEnd, endMillisMax)
  // Purchases of earlier runs must not have changed since.
  const { duplicates, ...observed } = await observe(testbed, all)
  const providers = await observeCarrier(testbed, all)
  // A mailbox that was delivered and then deleted keeps its name for its owner.
  const undelivered = all.filter(
    (purchase) => purchase.goods.kind === "mailbox" && purchase.isHidden !== true && !observed.goods.get(purchase)
  )
  const reserved = await stillReserved(testbed, undelivered, (one) => endsBy(one, faultEnd, endMillisMax))
  const verdict = judgePayments({ purchases: all, ...observed, late, reserved })
  const violations = [...verdict.violations, ...judge(PROVIDER_INVARIANTS, providers)]
  return { verdict, violations, endMillis, duplicates }
}

const untilEnded = async (
  testbed: Testbed,
  purchases: ReadonlyArray<CrashPurchase>,
  faultEnd: FaultEnd,
  millisMax: number
) => {
  const { payTo } = testbed.cluster.chain
  let endMillis = 0
  let open = purchases
  const charged = new Set<CrashPurchase>()
  const detector = new EndDetector()
  const late = new Set<CrashPurchase>()
  for (let polls = 0; ; polls++) {
    const movements = await testbed.token.read()
    for (const purchase of open) {
      if (movements.some((movement) => isChargeOf(purchase, movement, payTo))) charged.add(purchase)
    }
    // Most goods follow their charge. Goods without a charge are detected by occasional complete observations.
    const observable = polls % OBSERVE_ALL_EVERY === 0 ? open : open.filter((purchase) => charged.has(purchase))
    const observed = await observe(testbed, observable).catch(() => undefined)
    const now = performance.now()
    if (observed !== undefined) {
      const ended = new Set(detector.findEnded(open, observed, await testbed.token.finalSeconds()))
      for (const purchase of ended) {
        if (charged.has(purchase)) endMillis = Math.max(endMillis, now - faultEnd(purchase))
      }
      open = open.filter((purchase) => !ended.has(purchase))
    }
    // A purchase that is not charged can be charged until its validBefore is final. Its time begins then.
    for (const purchase of open) {
      const limit = (charged.has(purchase) ? 1 : 2) * millisMax
      if (now > faultEnd(purchase) + limit) late.add(purchase)
    }
    if (open.every((purchase) => late.has(purchase))) return { endMillis, late }
    await sleep(POLL_MILLIS)
  }
}

/** The deadline of a purchase: counted from its fault, or from the expiry of its last payment. */
const endsBy = (purchase: CrashPurchase, faultEnd: FaultEnd, millisMax: number): number => {
  const validBefore = purchase.payments.map(({ authorization }) => Number(authorization.validBefore) * 1_000)
  const expired = Math.max(...validBefore) - Date.now() + performance.now()
  return Math.max(faultEnd(purchase), expired) + millisMax
}

/** Repeats each use of each payment until its answer is final, and a success once more. */
const askAgain = (purchases: ReadonlyArray<CrashPurchase>, faultEnd: FaultEnd, millisMax: number): Promise<unknown> =>
  inTurns(
    purchases.flatMap((purchase) =>
      purchase.payments.flatMap((payment) => payment.uses.map((use) => ({ purchase, payment, use })))
    ),
    async ({ payment, purchase, use }) => {
      const deadline = endsBy(purchase, faultEnd, millisMax)
      for (;;) {
        const answer = await send(purchase, payment, use)
        if (answer !== undefined && isSuccess(answer)) return void (await send(purchase, payment, use))
        // `refund_due` is not an end yet.
        const isEnd = isFinal(answer) && answer?.paymentState !== "refund_due"
        if (isEnd || performance.now() > deadline) return
        await sleep(POLL_MILLIS)
      }
    }
  )

/** Reads the status of each payment until the advice is the last one. */
const readLastAdvice = (
  purchases: ReadonlyArray<CrashPurchase>,
  faultEnd: FaultEnd,
  millisMax: number
): Promise<unknown> =>
  inTurns(
    purchases.flatMap((purchase) => purchase.payments.map((payment) => ({ purchase, payment }))),
    async ({ payment, purchase }) => {
      const deadline = endsBy(purchase, faultEnd, millisMax)
      for (;;) {
        const advice = (await readStatus(purchase, payment))?.advice
        if (advice === "done" || advice === "pay" || performance.now() > deadline) return
        await sleep(POLL_MILLIS)
      }
    }
  )

/** Of undelivered mailboxes, those whose name another client is refused after the deadline. */
const stillReserved = async (
  testbed: Testbed,
  undelivered: ReadonlyArray<CrashPurchase>,
  freeBy: (purchase: CrashPurchase) => number
): Promise<ReadonlySet<CrashPurchase>> => {
  const taken = await inTurns(undelivered, async (purchase) => {
    while (!(await isFree(testbed, purchase))) {
      if (performance.now() > freeBy(purchase)) return true
      await sleep(POLL_MILLIS)
    }
    return false
  })
  return new Set(undelivered.filter((_, index) => taken[index]))
}

const isFree = async ({ cluster }: Testbed, { request }: CrashPurchase): Promise<boolean> => {
  const response = await fetch(`${cluster.servers[0]!.baseUrl}${request.path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(request.body)
  })
  await response.arrayBuffer()
  return response.status === 402
}
