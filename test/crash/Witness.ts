import { setTimeout as sleep } from "node:timers/promises"
import { isFinal, send } from "./Client.ts"
import type { CrashRig } from "./CrashRig.ts"
import { Ends, isCharge } from "./Ends.ts"
import { type Judgement, judge } from "./Judge.ts"
import type { Purchase } from "./Purchase.ts"
import { look, lookForUnclaimed } from "./Sight.ts"
import { inTurns } from "./Turns.ts"

/** How long it may take until everything has come to an end, from the end of the last fault, or from validBefore. */
export const END_MILLIS_MAX = 60_000
const POLL_MILLIS = 500
const LOOK_AT_ALL_EVERY = 8

/** What a run came to, and how long it took. */
export interface Outcome extends Judgement {
  /** From the end of the last fault until the last charged purchase had its end, with nobody asking. */
  readonly endMillis: number
  /** Copies of mails beyond the first of each Message-ID. */
  readonly duplicates: number
}

/** When all that disturbed the service over a purchase was over, on the monotonic clock. */
export type FaultEnd = (purchase: Purchase) => number

/**
 * Waits until every purchase has come to an end, without asking for one, then asks for each again, and judges.
 */
export const settleDown = async (
  rig: CrashRig,
  purchases: ReadonlyArray<Purchase>,
  faultEnded: FaultEnd,
  endMillisMax: number = END_MILLIS_MAX
): Promise<Outcome> => {
  const { endMillis, late } = await untilEnded(rig, purchases, faultEnded, endMillisMax)
  await askAgain(purchases, faultEnded, endMillisMax)
  // What came to a good end before has to have stayed so.
  const { duplicates, evidence } = await look(rig, rig.purchases)
  const unclaimed = await lookForUnclaimed(rig)
  // A mailbox that was had and then deleted keeps its name for its owner.
  const lost = rig.purchases.filter(
    (purchase) => purchase.goods.kind === "mailbox" && purchase.hidden !== true && !evidence.goods.get(purchase)
  )
  const reserved = await stillReserved(rig, lost, (one) => endsBy(one, faultEnded, endMillisMax))
  return { ...judge(rig.purchases, { ...evidence, unclaimed, late, reserved }), endMillis, duplicates }
}

const untilEnded = async (
  rig: CrashRig,
  purchases: ReadonlyArray<Purchase>,
  faultEnded: FaultEnd,
  millisMax: number
) => {
  const { payTo } = rig.description.chain
  let endMillis = 0
  let open: ReadonlyArray<Purchase> = purchases
  const charged = new Set<Purchase>()
  const ends = new Ends()
  const late = new Set<Purchase>()
  for (let polls = 0; ; polls++) {
    const movements = await rig.token.read()
    for (const purchase of open) {
      if (movements.some((movement) => isCharge(purchase, movement, payTo))) charged.add(purchase)
    }
    // Goods mostly come after their charge; that some come without one is looked for now and then.
    const asked = polls % LOOK_AT_ALL_EVERY === 0 ? open : open.filter((purchase) => charged.has(purchase))
    const seen = await look(rig, asked).catch(() => undefined)
    const now = performance.now()
    if (seen !== undefined) {
      const ended = new Set(ends.among(open, seen.evidence, await rig.token.finalSeconds()))
      for (const purchase of ended) {
        if (charged.has(purchase)) endMillis = Math.max(endMillis, now - faultEnded(purchase))
      }
      open = open.filter((purchase) => !ended.has(purchase))
    }
    // What was not charged yet can be until its validBefore is final, and has its time from then.
    for (const purchase of open) {
      const limit = (charged.has(purchase) ? 1 : 2) * millisMax
      if (now > faultEnded(purchase) + limit) late.add(purchase)
    }
    if (open.every((purchase) => late.has(purchase))) return { endMillis, late }
    await sleep(POLL_MILLIS)
  }
}

/** Until when a purchase has to have come to its end: so long after its fault, or after its last payment ran out. */
const endsBy = (purchase: Purchase, faultEnded: FaultEnd, millisMax: number): number => {
  const validBefore = purchase.attempts.map(({ authorization }) => Number(authorization.validBefore) * 1_000)
  const expired = Math.max(...validBefore) - Date.now() + performance.now()
  return Math.max(faultEnded(purchase), expired) + millisMax
}

/** Repeats each payment until it is told the end, and once more when that is a success. */
const askAgain = (purchases: ReadonlyArray<Purchase>, faultEnded: FaultEnd, millisMax: number): Promise<unknown> =>
  inTurns(
    purchases.flatMap((purchase) => purchase.attempts.map((attempt) => ({ purchase, attempt }))),
    async ({ attempt, purchase }) => {
      const deadline = endsBy(purchase, faultEnded, millisMax)
      for (;;) {
        const told = await send(purchase, attempt)
        if (told !== undefined && told.status < 300) return void (await send(purchase, attempt))
        // What is still to be paid back has not come to its end.
        const isEnd = isFinal(told) && told?.paymentState !== "refund_due"
        if (isEnd || performance.now() > deadline) return
        await sleep(POLL_MILLIS)
      }
    }
  )

/** Of the mailboxes that nobody got, those whose name a stranger is refused when it has to be free. */
const stillReserved = async (
  rig: CrashRig,
  lost: ReadonlyArray<Purchase>,
  freeBy: (purchase: Purchase) => number
): Promise<ReadonlySet<Purchase>> => {
  const taken = await inTurns(lost, async (purchase) => {
    while (!(await isFree(rig, purchase))) {
      if (performance.now() > freeBy(purchase)) return true
      await sleep(POLL_MILLIS)
    }
    return false
  })
  return new Set(lost.filter((_, index) => taken[index]))
}

const isFree = async (rig: CrashRig, { request }: Purchase): Promise<boolean> => {
  const response = await fetch(`${rig.description.baseUrl}${request.path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(request.body)
  })
  await response.arrayBuffer()
  return response.status === 402
}
