import { setTimeout as sleep } from "node:timers/promises"
import { useOf } from "../faults/client/Wallet.ts"
import { planProviderFault } from "../faults/fault/ProviderFaults.ts"
import type { Holds } from "../faults/server/StepGate.ts"
import { carryThrough, send, sign } from "./Client.ts"
import { type Outcome, settle } from "./Settle.ts"
import type { Shop } from "./Shop.ts"

/** One fault on its own, until its client has finished. */
export type Scenario = (shop: Shop) => Promise<void>

export const play = async (shop: Shop, scenario: Scenario, endMillisMax: number): Promise<Outcome> => {
  const before = shop.purchases.length
  await scenario(shop)
  const now = performance.now()
  return settle(shop, shop.purchases.slice(before), () => now, endMillisMax)
}

const CLIENT_MILLIS = 10_000
/** Longer than the lease of a dead server. */
const KILLED_CLIENT_MILLIS = 40_000
const KEYS = 4
const REFUND_MILLIS_MAX = 30_000
const POLL_MILLIS = 100
const HELD_MILLIS = 1_500

const mailOf = async (shop: Shop, group: string, client: "pays again" | "repeats" | "gives up") => {
  const purchase = await shop.newPurchase("email.message.send", { group, client, wallet: await shop.newTenant() })
  const payment = await sign(purchase)
  return { purchase, payment, nonce: payment.authorization.nonce }
}

/** The facilitator settles, and its answer is lost. */
export const lostSettlement: Scenario = async (shop) => {
  const { nonce, payment, purchase } = await mailOf(shop, "lost settlement", "pays again")
  await planProviderFault(shop.testbed.cluster, { operation: "settle", mode: "after", only: nonce })
  await carryThrough(purchase, payment, AbortSignal.timeout(CLIENT_MILLIS))
}

/** The payer cancels the authorization after its nonce was read, and before the facilitator is called. */
export const cancelledBeforeSettling: Scenario = async (shop) => {
  const { nonce, payment, purchase } = await mailOf(shop, "cancelled", "repeats")
  const { gate, treasury } = shop.testbed
  const holds: Holds = { [nonce]: { step: "before_settle", until: "released" } }
  gate.set(holds)
  const client = carryThrough(purchase, payment, AbortSignal.timeout(CLIENT_MILLIS))
  await gate.untilHeld(holds)
  await treasury.cancel(purchase.wallet.account, payment.authorization)
  gate.set({})
  await client
}

/** The relay defers a mail for longer than its client asks. */
export const deferredMail: Scenario = async (shop) => {
  const { payment, purchase } = await mailOf(shop, "deferred", "gives up")
  const only = purchase.goods.kind === "mail" ? purchase.goods.recipient : ""
  await planProviderFault(shop.testbed.cluster, { operation: "send", mode: "before", only })
  await send(purchase, payment)
}

/** The server is killed when the chain shows a refund, and before that is stored. */
export const killedAfterRefund: Scenario = async (shop) => {
  const purchase = await shop.newPurchase("email.message.send", {
    group: "killed after the refund",
    client: "repeats",
    requiredEnd: "refunded",
    domain: "reject.test"
  })
  const payment = await sign(purchase)
  const { gate } = shop.testbed
  const holds: Holds = { [payment.authorization.nonce]: { step: "after_refund", until: "killed" } }
  gate.set(holds)
  await send(purchase, payment)
  await gate.untilHeld(holds)
  gate.set({})
  await shop.testbed.killServer()
  const deadline = performance.now() + REFUND_MILLIS_MAX
  while (performance.now() < deadline && (await send(purchase, payment))?.paymentState !== "refunded") {
    await sleep(POLL_MILLIS)
  }
}

/** The carrier dials, and its answer is lost. */
export const lostDial: Scenario = async (shop) => {
  const purchase = await shop.newPurchase("phone.call.outbound.1m", { group: "lost answer", client: "repeats" })
  const payment = await sign(purchase)
  const only = purchase.goods.kind === "call" ? purchase.goods.toNumber : ""
  await planProviderFault(shop.testbed.cluster, { operation: "call", mode: "after", only })
  await carryThrough(purchase, payment, AbortSignal.timeout(CLIENT_MILLIS))
}

/** The server is killed when the carrier has sold a number and extended a call, and before that is stored. */
export const killedAfterCarrier: Scenario = async (shop) => {
  const started = await Promise.all(
    (["phone.number.us.30d", "phone.call.extend.1m"] as const).map(async (service) => {
      const purchase = await shop.newPurchase(service, { group: "killed after the carrier", client: "repeats" })
      return { purchase, payment: await sign(purchase) }
    })
  )
  const { gate } = shop.testbed
  const holds: Holds = Object.fromEntries(
    started.map(({ payment }) => [payment.authorization.nonce, { step: "after_perform", until: "killed" } as const])
  )
  gate.set(holds)
  const ended = AbortSignal.timeout(KILLED_CLIENT_MILLIS)
  const clients = started.map(({ payment, purchase }) => carryThrough(purchase, payment, ended))
  await gate.untilHeld(holds)
  gate.set({})
  await shop.testbed.killServer()
  await Promise.all(clients)
}

/** One payment is presented under several keys at once, before any of them is settled. */
export const oneProofManyKeys: Scenario = async (shop) => {
  const { nonce, payment, purchase } = await mailOf(shop, "many keys", "repeats")
  const { gate } = shop.testbed
  const holds: Holds = { [nonce]: { step: "before_settle", until: "released" } }
  gate.set(holds)
  for (let more = 1; more < KEYS; more++) useOf(payment, purchase.request)
  const answers = Promise.all(payment.uses.map((use) => send(purchase, payment, use)))
  await gate.untilHeld(holds)
  // Keys that are refused have their answer by now. The others are held as well.
  await Promise.race([answers, sleep(HELD_MILLIS, undefined, { ref: false })])
  gate.set({})
  await answers
}
