import { setTimeout as sleep } from "node:timers/promises"
import { useOf } from "../faults/client/Wallet.ts"
import type { Holds } from "../faults/server/StepGate.ts"
import { send, sign } from "./Client.ts"
import { type Outcome, settle } from "./Settle.ts"
import type { Shop } from "./Shop.ts"

const KEYS = 4
/** Keys that are refused have their answer by then. The others are held as well. */
const HELD_MILLIS = 1_500

/** Presents one payment under several keys at once, before any of them is settled. */
export const runManyKeys = async (shop: Shop): Promise<Outcome> => {
  const wallet = await shop.newTenant()
  const purchase = await shop.newPurchase("email.message.send", { group: "many keys", client: "repeats", wallet })
  const payment = await sign(purchase)
  const { gate } = shop.testbed
  const holds: Holds = { [payment.authorization.nonce]: { step: "before_settle", until: "released" } }
  gate.set(holds)
  for (let more = 1; more < KEYS; more++) useOf(payment, purchase.request)
  const answers = Promise.all(payment.uses.map((use) => send(purchase, payment, use)))
  await gate.untilHeld(holds)
  await Promise.race([answers, sleep(HELD_MILLIS, undefined, { ref: false })])
  gate.set({})
  await answers
  const now = performance.now()
  return settle(shop, [purchase], () => now)
}
