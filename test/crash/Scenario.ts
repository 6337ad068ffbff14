import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { carryThrough, send, sign } from "./Client.ts"
import type { CrashRig } from "./CrashRig.ts"
import type { ArmedFile } from "./Parking.ts"
import type { Attempt, PhoneService } from "./Purchase.ts"
import { Shop } from "./Shop.ts"
import { type Outcome, settleDown } from "./Witness.ts"

/** One thing that goes wrong, on its own, until its client has done what it does. */
export type Scenario = (rig: CrashRig, shop: Shop) => Promise<void>

/** Lets it go wrong in a sandbox where nothing else happens, and waits so long, at most, for every end. */
export const play = async (rig: CrashRig, scenario: Scenario, endMillisMax: number): Promise<Outcome> => {
  const shop = new Shop(rig)
  await scenario(rig, shop)
  const now = performance.now()
  return settleDown(rig, shop.purchases, () => now, endMillisMax)
}

/** For how long a client goes on asking. */
const CLIENT_MILLIS = 10_000
/** Longer than a dead server's lease lasts. */
const KILLED_CLIENT_MILLIS = 40_000
const AT_ONCE = 4
const REFUND_MILLIS_MAX = 30_000
const POLL_MILLIS = 100
const HELD_MILLIS = 1_500

/** The facilitator settles, and its answer is lost; the client does as it is told. */
export const lostSettlement: Scenario = async (rig, shop) => {
  const tenant = await shop.newTenant()
  const purchase = await shop.newPurchase("email.message.send", { name: "lost", client: "pays again", buyer: tenant })
  const attempt = await sign(purchase)
  await rig.plan({ operation: "settle", mode: "after", only: attempt.authorization.nonce })
  await carryThrough(purchase, attempt, AbortSignal.timeout(CLIENT_MILLIS))
}

/** The payer cancels the authorization between the look at its nonce and the call of the facilitator. */
export const cancelledBeforeSettling: Scenario = async (rig, shop) => {
  const tenant = await shop.newTenant()
  const purchase = await shop.newPurchase("email.message.send", { name: "cancelled", client: "repeats", buyer: tenant })
  const attempt = await sign(purchase)
  const held: ArmedFile = { [attempt.authorization.nonce]: { step: "before_settle", until: "released" } }
  rig.arm(held)
  const client = carryThrough(purchase, attempt, AbortSignal.timeout(CLIENT_MILLIS))
  await rig.untilParked(held)
  await rig.treasury.cancel(tenant.account, attempt.authorization)
  rig.arm({})
  await client
}

/** The relay puts a mail off for longer than the client asks. */
export const mailPutOff: Scenario = async (rig, shop) => {
  const tenant = await shop.newTenant()
  const purchase = await shop.newPurchase("email.message.send", { name: "put off", client: "gives up", buyer: tenant })
  const attempt = await sign(purchase)
  if (purchase.goods.kind !== "mail") throw new Error("a mail was to be bought")
  await rig.plan({ operation: "send", mode: "before", only: purchase.goods.recipient })
  await send(purchase, attempt)
}

/** The server is killed when the chain shows a refund, and before that is written down. */
export const killedAfterRefund: Scenario = async (rig, shop) => {
  const purchase = await shop.newPurchase("email.message.send", {
    name: "killed after the refund",
    client: "repeats",
    end: "paid back",
    domain: "reject.test"
  })
  const attempt = await sign(purchase)
  const armed: ArmedFile = { [attempt.authorization.nonce]: { step: "after_refund", until: "killed" } }
  rig.arm(armed)
  await send(purchase, attempt)
  await rig.untilParked(armed)
  rig.arm({})
  await rig.untilServing(await rig.kill())
  await untilToldRefunded(() => send(purchase, attempt))
}

const untilToldRefunded = async (ask: () => ReturnType<typeof send>): Promise<void> => {
  const deadline = performance.now() + REFUND_MILLIS_MAX
  while (performance.now() < deadline) {
    if ((await ask())?.paymentState === "refunded") return
    await sleep(POLL_MILLIS)
  }
}

/** The carrier dials, and its answer is lost. */
export const lostDial: Scenario = async (rig, shop) => {
  const purchase = await shop.newPurchase("phone.call.outbound.1m", { name: "answer lost", client: "repeats" })
  const attempt = await sign(purchase)
  if (purchase.goods.kind !== "call") throw new Error("a call was to be bought")
  await rig.plan({ operation: "call", mode: "after", only: purchase.goods.toNumber })
  await carryThrough(purchase, attempt, AbortSignal.timeout(CLIENT_MILLIS))
}

/** The server is killed when the carrier has sold a number and extended a call, and before that is written down. */
export const killedAfterCarrier: Scenario = async (rig, shop) => {
  const services: ReadonlyArray<PhoneService> = ["phone.number.us.30d", "phone.call.extend.1m"]
  const started = await Promise.all(
    services.map(async (service) => {
      const purchase = await shop.newPurchase(service, { name: "killed after the carrier", client: "repeats" })
      return { purchase, attempt: await sign(purchase) }
    })
  )
  const armed: ArmedFile = Object.fromEntries(
    started.map(({ attempt }) => [attempt.authorization.nonce, { step: "after_perform", until: "killed" } as const])
  )
  rig.arm(armed)
  const over = AbortSignal.timeout(KILLED_CLIENT_MILLIS)
  const clients = started.map(({ attempt, purchase }) => carryThrough(purchase, attempt, over))
  await rig.untilParked(armed)
  rig.arm({})
  await rig.untilServing(await rig.kill())
  await Promise.all(clients)
}

/** One payment under several keys at once: all get as far as they are let before any of them is settled. */
export const oneProofManyKeys: Scenario = async (rig, shop) => {
  const tenant = await shop.newTenant()
  const purchase = await shop.newPurchase("email.message.send", { name: "many keys", client: "repeats", buyer: tenant })
  const attempt = await sign(purchase)
  const { nonce } = attempt.authorization
  const held: ArmedFile = { [nonce]: { step: "before_settle", until: "released" } }
  rig.arm(held)
  const copies = Array.from({ length: AT_ONCE }, (): Attempt => ({
    ...attempt,
    idempotencyKey: randomUUID(),
    told: []
  }))
  const answers = Promise.all(copies.map((copy) => send(purchase, copy)))
  await rig.untilParked(held)
  // Those that are refused have their answer by now; any other is held as well.
  await Promise.race([answers, sleep(HELD_MILLIS, undefined, { ref: false })])
  rig.arm({})
  await answers
  const winner = copies.find(({ told }) => told.every(({ code }) => code !== "IDEMPOTENCY_CONFLICT"))
  purchase.attempts.splice(0, 1, winner ?? attempt)
}
