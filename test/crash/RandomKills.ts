import { setTimeout as sleep } from "node:timers/promises"
import { inTurns } from "../faults/client/inTurns.ts"
import type { Country } from "../faults/client/Requests.ts"
import type { Wallet } from "../faults/client/Wallet.ts"
import { type Fault, inflict, planFaults } from "../faults/fault/Fault.ts"
import { clearProviderFaults, planProviderFault } from "../faults/fault/ProviderFaults.ts"
import { dataBoughtBy } from "../faults/observation/Purchases.ts"
import { PhoneCarrier } from "../support/PhoneCarrier.ts"
import type { Random } from "../support/Random.ts"
import { carryThrough, sign } from "./Client.ts"
import {
  type ClientKind,
  type CrashPurchase,
  type OwnCall,
  type OwnMailbox,
  type OwnNumber,
  type Service,
  SERVICES,
  type Target
} from "./Purchase.ts"
import { type Outcome, settle } from "./Settle.ts"
import { callBoughtBy, mailboxBoughtBy, type Shop, STAYS_SECONDS } from "./Shop.ts"

export interface RandomKillsOptions {
  readonly random: Random
  readonly seconds: number
  readonly clients: number
}

export interface RandomKillsResult {
  readonly outcome: Outcome
  readonly kills: number
}

/** From the moment at which the server serves to the next kill. */
const LIFE_MILLIS = { min: 500, max: 3_000 }
const PROVIDER_FAULT_EVERY_MILLIS = 1_500
const RETRY_MILLIS = 300
/** A call is answered sooner. */
const ANSWER_MILLIS = 600
const EXTENSION_TRIES = 5
const GIVE_UP_PERCENT = 30

/** Runs clients that buy everything while the server is killed at random and providers fail, then waits for every end. */
export const runRandomKills = async (shop: Shop, options: RandomKillsOptions): Promise<RandomKillsResult> => {
  const { clients, random, seconds } = options
  const { cluster } = shop.testbed
  const wallets = await inTurns(Array.from({ length: clients }), () => shop.newTenant())
  const ended = new AbortController()
  const { signal } = ended
  const buying = wallets.map((wallet, index) => new RandomClient(shop, wallet, random.fork(index)).run(signal))
  const providerFaults = planFaults({ "provider failed": 1 }, 2 * seconds, random.fork(clients))
  const failing = failProviders(shop, providerFaults, signal)
  const kills = await killServer(shop, random.fork(clients + 1), seconds)
  ended.abort()
  await Promise.all([...buying, failing])
  await clearProviderFaults(cluster)
  const calmAt = performance.now()
  return { outcome: await settle(shop, shop.purchases, () => calmAt), kills }
}

const killServer = async ({ testbed }: Shop, random: Random, seconds: number): Promise<number> => {
  const deadline = performance.now() + seconds * 1_000
  for (let kills = 0; ; kills++) {
    await sleep(LIFE_MILLIS.min + random.integer(LIFE_MILLIS.max - LIFE_MILLIS.min))
    if (performance.now() > deadline) return kills
    await inflict({ kind: "killed", downMillis: 0 }, testbed.cluster.servers[0]!)
  }
}

/** Makes a provider fail every second or two. */
export const failProviders = async (
  { testbed }: Shop,
  faults: ReadonlyArray<Fault>,
  signal: AbortSignal
): Promise<void> => {
  for (const fault of faults) {
    if (signal.aborted) return
    if (fault.kind === "provider failed") await planProviderFault(testbed.cluster, fault.fault)
    await sleep(PROVIDER_FAULT_EVERY_MILLIS, undefined, { signal, ref: false }).catch(() => undefined)
  }
}

interface Order {
  readonly service: Service
  readonly target: Target
}

/** How much a client buys in a long run. */
export interface Pace {
  /** Between two purchases. */
  readonly pauseMillis: number
  /** The carrier sells out. Afterwards the client buys mailboxes in their place. */
  readonly numbersMax: number
}

/** A client that buys services at random, and keeps them. */
export class RandomClient {
  readonly #shop: Shop
  readonly #wallet: Wallet
  readonly #random: Random
  readonly #mailboxes: Array<OwnMailbox> = []
  readonly #numbers: Array<OwnNumber> = []
  /** Each number is renewed once, and gets minutes once. */
  readonly #toRenew: Array<OwnNumber> = []
  readonly #toFill: Array<OwnNumber> = []
  /** Answered calls that need no server. */
  readonly #calls: Array<OwnCall> = []
  readonly #pace: Pace
  #numbersOrdered = 0

  constructor(shop: Shop, wallet: Wallet, random: Random, pace: Pace = { pauseMillis: 0, numbersMax: Infinity }) {
    this.#pace = pace
    this.#shop = shop
    this.#wallet = wallet
    this.#random = random
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const client: ClientKind = this.#random.integer(100) < GIVE_UP_PERCENT ? "gives up" : "pays again"
      const { service, target } = await this.#next(this.#random.pick(SERVICES))
      const purchase = this.#shop.order(service, { group: "random kills", client, wallet: this.#wallet }, target)
      if (service === "email.mailbox.delete" && target.mailbox !== undefined) this.#shop.hideMailbox(target.mailbox)
      await this.#pursue(purchase, signal)
      await this.#keep(purchase)
      await sleep(this.#pace.pauseMillis, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  /** An order for the service, or for the first thing that it needs and that the client does not own. */
  async #next(service: Service): Promise<Order> {
    switch (service) {
      case "email.mailbox.create":
        return { service, target: {} }
      case "email.mailbox.update":
      case "email.mailbox.delete":
      case "email.message.send": {
        // One purchase alone changes or deletes a mailbox, so that its result can be observed.
        const mailbox = service === "email.message.send" ? this.#mailboxes.at(-1) : this.#mailboxes.pop()
        return mailbox === undefined
          ? { service: "email.mailbox.create", target: {} }
          : { service, target: { mailbox } }
      }
      case "phone.number.us.30d":
        return this.#newNumber("US")
      case "phone.number.ca.30d":
        return this.#newNumber("CA")
      case "phone.number.renew.30d":
      case "phone.call.inbound.add.10m": {
        const number = (service === "phone.number.renew.30d" ? this.#toRenew : this.#toFill).pop()
        return number === undefined ? this.#newNumber("US") : { service, target: { number } }
      }
      case "phone.call.extend.1m": {
        const call = this.#calls.pop()
        return call === undefined ? this.#next("phone.call.outbound.5m") : { service, target: { call } }
      }
      case "phone.call.outbound.1m":
      case "phone.call.outbound.5m": {
        const number = this.#numbers.at(-1)
        if (number === undefined) return this.#newNumber("CA")
        const toNumber =
          service === "phone.call.outbound.5m"
            ? await this.#shop.testbed.carrier.person({ seconds: STAYS_SECONDS })
            : PhoneCarrier.personNumber()
        return { service, target: { number, toNumber } }
      }
    }
  }

  async #newNumber(country: Country): Promise<Order> {
    if (this.#numbersOrdered === this.#pace.numbersMax) return { service: "email.mailbox.create", target: {} }
    this.#numbersOrdered++
    const service = country === "US" ? "phone.number.us.30d" : "phone.number.ca.30d"
    return { service, target: await this.#shop.place(country, "calm") }
  }

  /** Signs once the server answers, and acts as the purchase's client. A call that is over cannot be extended. */
  async #pursue(purchase: CrashPurchase, signal: AbortSignal): Promise<void> {
    const tries = purchase.goods.kind === "extension" ? EXTENSION_TRIES : Number.POSITIVE_INFINITY
    for (let tried = 0; tried < tries && !signal.aborted; tried++) {
      const payment = await sign(purchase).catch(() => undefined)
      if (payment !== undefined) return carryThrough(purchase, payment, signal)
      await sleep(RETRY_MILLIS, undefined, { ref: false })
    }
  }

  async #keep(purchase: CrashPurchase): Promise<void> {
    if (purchase.goods.kind === "mailbox") this.#mailboxes.push(...[mailboxBoughtBy(purchase) ?? []].flat())
    if (purchase.goods.kind === "number") {
      const bought = dataBoughtBy<OwnNumber>(purchase)
      if (bought === undefined) return
      const { number, phoneNumberId } = bought
      for (const list of [this.#numbers, this.#toRenew, this.#toFill]) list.push({ number, phoneNumberId })
    }
    if (purchase.service === "phone.call.outbound.5m" && purchase.goods.kind === "call") {
      const callId = callBoughtBy(purchase)
      if (callId === undefined) return
      const { phoneNumberId, toNumber } = purchase.goods
      await sleep(ANSWER_MILLIS, undefined, { ref: false })
      // A killed server takes its calls along unless they are held.
      const isHeld = await this.#shop.testbed.holdCall(toNumber).then(
        () => true,
        () => false
      )
      if (isHeld) this.#calls.push({ callId, toNumber, phoneNumberId })
    }
  }
}
