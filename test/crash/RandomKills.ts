import { setTimeout as sleep } from "node:timers/promises"
import type { Random } from "../race/Random.ts"
import type { Buyer } from "./Buyer.ts"
import { carryThrough, sign } from "./Client.ts"
import type { CrashRig } from "./CrashRig.ts"
import type { PlannedFault } from "./PlannedFault.ts"
import { type ClientKind, type Purchase, SERVICES } from "./Purchase.ts"
import { type OwnMailbox, Shop } from "./Shop.ts"
import { inTurns, type Outcome, settleDown } from "./Witness.ts"

export interface RandomKillsOptions {
  readonly random: Random
  readonly seconds: number
  readonly clients: number
}

export interface RandomKillsResult {
  readonly outcome: Outcome
  readonly kills: number
}

/** From when the server serves until it is killed. */
const LIFE_MILLIS = { min: 500, max: 3_000 }
const FAULT_EVERY_MILLIS = 1_500
const PAUSE_MILLIS = 300
/** Of ten clients, so many never come again. */
const GIVE_UP_IN_TEN = 3

/** Failures that pass by themselves within seconds; a relay that hangs is the matrix's, since it takes a minute. */
const FAULTS: ReadonlyArray<PlannedFault> = [
  ...(["verify", "settle"] as const).flatMap((operation) =>
    (["before", "after", "reject"] as const).map((mode) => ({ operation, mode }))
  ),
  { operation: "settle", mode: "hang" },
  ...(["before", "after", "reject"] as const).map((mode) => ({ operation: "send" as const, mode }))
]

/**
 * Lets clients do every paid operation while the server is killed again and again, and the facilitator and the relay
 * fail now and then; then lets all come to an end.
 */
export const runRandomKills = async (rig: CrashRig, options: RandomKillsOptions): Promise<RandomKillsResult> => {
  const { clients, random, seconds } = options
  const shop = new Shop(rig)
  const buyers = await inTurns(Array.from({ length: clients }), () => shop.newTenant())
  const over = new AbortController()
  const work = buyers.map((buyer, index) => shopOn(shop, buyer, random.fork(index), over.signal))
  const failing = failNowAndThen(rig, random.fork(clients), over.signal)
  const kills = await killFor(rig, random.fork(clients + 1), seconds * 1_000)
  over.abort()
  await Promise.all([...work, failing])
  await rig.clearFaults()
  const calm = performance.now()
  return { outcome: await settleDown(rig, shop.purchases, () => calm), kills }
}

const killFor = async (rig: CrashRig, random: Random, millis: number): Promise<number> => {
  const deadline = performance.now() + millis
  for (let kills = 0; ; kills++) {
    await sleep(LIFE_MILLIS.min + random.integer(LIFE_MILLIS.max - LIFE_MILLIS.min))
    if (performance.now() > deadline) return kills
    await rig.untilServing(await rig.kill())
  }
}

const failNowAndThen = async (rig: CrashRig, random: Random, signal: AbortSignal): Promise<void> => {
  while (!signal.aborted) {
    await rig.plan(random.pick(FAULTS))
    await sleep(FAULT_EVERY_MILLIS, undefined, { signal, ref: false }).catch(() => undefined)
  }
}

/** One client: wants one thing after the other, of all kinds, with a wallet of its own. */
const shopOn = async (shop: Shop, buyer: Buyer, random: Random, signal: AbortSignal): Promise<void> => {
  const mailboxes: Array<OwnMailbox> = []
  while (!signal.aborted) {
    const client: ClientKind = random.integer(10) < GIVE_UP_IN_TEN ? "gives up" : "pays again"
    const service = mailboxes.length === 0 ? "email.mailbox.create" : random.pick(SERVICES)
    const mailbox = mailboxes.at(-1)
    // A mailbox is changed or deleted by one purchase alone, so that each can be seen for itself.
    if (service === "email.mailbox.update" || service === "email.mailbox.delete") mailboxes.pop()
    const purchase = shop.wish(service, { name: "under random kills", client, buyer }, mailbox)
    if (service === "email.mailbox.delete" && mailbox !== undefined) shop.hide(mailbox)
    await pursue(purchase, signal)
    if (service === "email.mailbox.create") mailboxes.push(...shop.boughtBy(purchase))
  }
}

/** Gets a challenge as soon as the server is there, and does what the client does. */
const pursue = async (purchase: Purchase, signal: AbortSignal): Promise<void> => {
  while (!signal.aborted) {
    const attempt = await sign(purchase).catch(() => undefined)
    if (attempt !== undefined) return carryThrough(purchase, attempt, signal)
    await sleep(PAUSE_MILLIS, undefined, { ref: false })
  }
}
