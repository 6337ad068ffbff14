import { setTimeout as sleep } from "node:timers/promises"
import type { Country } from "../faults/client/Requests.ts"
import { Wallet } from "../faults/client/Wallet.ts"
import { dataBoughtBy, type End, isSuccess } from "../faults/observation/Purchases.ts"
import { Testbed, type TestbedOptions } from "../faults/server/Testbed.ts"
import { PhoneCarrier } from "../support/PhoneCarrier.ts"
import { send, sign } from "./Client.ts"
import {
  type ClientKind,
  type CrashPurchase,
  orderOf,
  type OwnCall,
  type OwnMailbox,
  type OwnNumber,
  type Service,
  type Target
} from "./Purchase.ts"

/** In USDT. */
const FUNDS = 1_000
const SETUP_TRIES = 20
/** Longer than a call is paid for, and than a run lasts. */
export const STAYS_SECONDS = 3_600
const ANSWERED_MILLIS_MAX = 20_000
const POLL_MILLIS = 100
/** The first areas of each country, in which nothing fails. In the last one the carrier can refuse every sale. */
const CALM_AREAS = { US: 5, CA: 6 }

export type SmartAccountKind = "deployed" | "undeployed"

/** Where a number is bought: in a calm area, in one that no other purchase uses, or in the last one. */
export type Area = "calm" | "own" | "refused"

export interface OrderOptions {
  /** The situation. */
  readonly group: string
  readonly client: ClientKind
  readonly requiredEnd?: End
  readonly wallet: Wallet
  /** Something else will remove the object of the purchase. */
  readonly isTaken?: boolean
}

export interface PurchaseOptions extends Omit<OrderOptions, "wallet"> {
  /** A new wallet by default. */
  readonly wallet?: Wallet
  readonly domain?: string
  readonly area?: Area
}

/** A number is renewed once and gets minutes once, so that both can be counted. Calls share a number. */
type NumberUse = "call" | "renewal" | "minutes"

const SETUP = { group: "setup", client: "repeats", requiredEnd: "delivered" } as const

/** Makes wallets with money and things for them to buy, and keeps every purchase of its testbed. */
export class Shop {
  readonly purchases: Array<CrashPurchase> = []
  readonly testbed: Testbed
  readonly #numbers = new Map<Wallet, Array<{ readonly number: Promise<OwnNumber>; readonly uses: Set<NumberUse> }>>()
  readonly #turns = { calm: { US: 0, CA: 0 }, own: { US: 0, CA: 0 } }

  constructor(testbed: Testbed) {
    this.testbed = testbed
  }

  /** Runs `work` with the shop of a testbed of its own. Prints the end of the servers' logs if it fails. */
  static async with<A>(options: TestbedOptions, work: (shop: Shop) => Promise<A>): Promise<A> {
    const testbed = await Testbed.start(options)
    try {
      return await work(new Shop(testbed))
    } catch (error) {
      console.log(testbed.serverLogs())
      throw error
    } finally {
      await testbed.stop()
    }
  }

  /** A wallet with money: a key, or a smart account that is deployed or not. */
  async newWallet(account?: SmartAccountKind): Promise<Wallet> {
    const kind = account === "deployed" ? "account" : account
    const wallet = new Wallet(this.testbed.cluster.servers, undefined, { kind, chain: this.testbed.cluster.chain })
    // An address that has sent a transaction can't be deployed to.
    if (account === "deployed" && wallet.smartAccount !== undefined) {
      await this.testbed.treasury.deploy(wallet.smartAccount)
    }
    await this.testbed.treasury.fund([wallet.address], FUNDS)
    return wallet
  }

  /** A wallet with an access token. */
  async newTenant(): Promise<Wallet> {
    const wallet = await this.newWallet()
    await this.newMailbox(wallet)
    return wallet
  }

  /** Prepares a purchase, and buys its target: a mailbox, a number, or a call in progress. */
  async newPurchase(service: Service, options: PurchaseOptions): Promise<CrashPurchase> {
    // A client that gives up may never receive its token, without which the numbers of its wallet cannot be listed.
    const isFirstNumber = service === "phone.number.us.30d" || service === "phone.number.ca.30d"
    const needsToken = isFirstNumber && options.client === "gives up"
    const wallet = options.wallet ?? (await (needsToken ? this.newTenant() : this.newWallet()))
    const target = await this.#targetOf(service, wallet, options)
    if (target.mailbox !== undefined && (options.isTaken === true || service === "email.mailbox.delete")) {
      this.hideMailbox(target.mailbox)
    }
    const phoneNumberId = target.number?.phoneNumberId ?? target.call?.phoneNumberId
    if (options.isTaken === true && phoneNumberId !== undefined) this.#hideNumber(phoneNumberId)
    return this.order(service, { ...options, wallet }, target)
  }

  async #targetOf(service: Service, wallet: Wallet, { area = "calm", domain }: PurchaseOptions): Promise<Target> {
    switch (service) {
      case "email.mailbox.create":
        return {}
      case "email.mailbox.update":
      case "email.mailbox.delete":
      case "email.message.send":
        return { mailbox: await this.newMailbox(wallet), domain }
      case "phone.number.us.30d":
        return this.place("US", area)
      case "phone.number.ca.30d":
        return this.place("CA", area)
      case "phone.number.renew.30d":
        return { number: await this.#numberOf(wallet, "renewal") }
      case "phone.call.inbound.add.10m":
        return { number: await this.#numberOf(wallet, "minutes") }
      case "phone.call.outbound.1m":
      case "phone.call.outbound.5m":
        return { number: await this.#numberOf(wallet, "call"), toNumber: PhoneCarrier.personNumber() }
      case "phone.call.extend.1m":
        return { call: await this.#callInProgress(wallet) }
    }
  }

  /** Adds a purchase that has no payment yet. */
  order(service: Service, options: OrderOptions, target: Target): CrashPurchase {
    const { client, group, isTaken = false, requiredEnd, wallet } = options
    const purchase: CrashPurchase = {
      group,
      label: `${service}, client ${client}`,
      service,
      wallet,
      client,
      requiredEnd,
      payments: [],
      // A missing mailbox does not show which of two payments deleted it.
      isHidden: isTaken && service === "email.mailbox.delete",
      ...orderOf(service, target)
    }
    this.purchases.push(purchase)
    return purchase
  }

  /** A purchase that deletes the mailbox of another one. */
  async newDeletion({ goods, wallet }: CrashPurchase): Promise<CrashPurchase> {
    if (goods.kind !== "displayName" && goods.kind !== "deletion") throw new Error(`${goods.kind} has no mailbox`)
    const mailbox = (await wallet.mailboxes()).find(({ mailboxId }) => mailboxId === goods.mailboxId)
    if (mailbox === undefined) throw new Error(`mailbox ${goods.mailboxId} does not exist`)
    const { localPart, mailboxId } = mailbox
    return this.order("email.mailbox.delete", { ...SETUP, wallet }, { mailbox: { mailboxId, localPart } })
  }

  async newMailbox(wallet: Wallet): Promise<OwnMailbox> {
    const purchase = this.order("email.mailbox.create", { ...SETUP, wallet }, {})
    await buy(purchase)
    return mailboxBoughtBy(purchase)!
  }

  /** Records that something else deletes a mailbox. */
  hideMailbox({ localPart }: OwnMailbox): void {
    const bought = this.purchases.find(({ goods }) => goods.kind === "mailbox" && goods.localPart === localPart)
    if (bought !== undefined) bought.isHidden = true
  }

  #hideNumber(phoneNumberId: string): void {
    const bought = this.purchases.find(
      (purchase) =>
        purchase.goods.kind === "number" && dataBoughtBy<OwnNumber>(purchase)?.phoneNumberId === phoneNumberId
    )
    if (bought !== undefined) bought.isHidden = true
  }

  /** Where a number of a country is bought. */
  async place(country: Country, area: Area): Promise<Target> {
    const all = (await this.testbed.carrierLog.areaCodes())[country]
    return {
      areaCode: this.#areaCode(country, all, area),
      agentWebhookUrl: this.testbed.cluster.phones.agentWebhookUrl
    }
  }

  #areaCode(country: Country, all: ReadonlyArray<string>, area: Area): string | undefined {
    if (area === "refused") return all.at(-1)
    if (area === "calm") return all[this.#turns.calm[country]++ % CALM_AREAS[country]]
    const code = all.slice(CALM_AREAS[country], -1)[this.#turns.own[country]++]
    if (code === undefined) throw new Error(`every area of ${country} is used`)
    return code
  }

  /** A number of the wallet that is not used in this way yet. */
  #numberOf(wallet: Wallet, use: NumberUse): Promise<OwnNumber> {
    const own = this.#numbers.get(wallet) ?? []
    this.#numbers.set(wallet, own)
    const free = own.find(({ uses }) => use === "call" || !uses.has(use))
    if (free !== undefined) {
      free.uses.add(use)
      return free.number
    }
    const number = this.#buyNumber(wallet)
    own.push({ number, uses: new Set([use]) })
    return number
  }

  async #buyNumber(wallet: Wallet): Promise<OwnNumber> {
    const purchase = this.order("phone.number.us.30d", { ...SETUP, wallet }, await this.place("US", "calm"))
    await buy(purchase)
    const { number, phoneNumberId } = dataBoughtBy<OwnNumber>(purchase)!
    return { number, phoneNumberId }
  }

  /** A call of five minutes that was answered, and that needs no server. */
  async #callInProgress(wallet: Wallet): Promise<OwnCall> {
    const number = await this.#numberOf(wallet, "call")
    const toNumber = await this.testbed.carrier.person({ seconds: STAYS_SECONDS })
    const purchase = this.order("phone.call.outbound.5m", { ...SETUP, wallet }, { number, toNumber })
    await buy(purchase)
    const callId = callBoughtBy(purchase)!
    const deadline = performance.now() + ANSWERED_MILLIS_MAX
    while ((await wallet.call(callId)).status !== "in_progress") {
      if (performance.now() > deadline) throw new Error(`the call to ${toNumber} was not answered`)
      await sleep(POLL_MILLIS)
    }
    await this.testbed.holdCall(toNumber)
    return { callId, toNumber, phoneNumberId: number.phoneNumberId }
  }
}

export const mailboxBoughtBy = (purchase: CrashPurchase): OwnMailbox | undefined => {
  const mailbox = dataBoughtBy<{ readonly mailbox: OwnMailbox }>(purchase)?.mailbox
  return mailbox && { mailboxId: mailbox.mailboxId, localPart: mailbox.localPart }
}

export const callBoughtBy = (purchase: CrashPurchase): string | undefined =>
  dataBoughtBy<{ readonly call: { readonly callId: string } }>(purchase)?.call.callId

/** Pays for something that must succeed. */
export const buy = async (purchase: CrashPurchase): Promise<void> => {
  const payment = await sign(purchase)
  for (let tries = 0; tries < SETUP_TRIES; tries++) {
    const answer = await send(purchase, payment)
    if (answer !== undefined && isSuccess(answer)) return
    if (answer !== undefined && !answer.retryable) break
    await sleep(500)
  }
  throw new Error(`${purchase.label} failed: ${payment.uses[0]?.answers.at(-1)?.text ?? "no answer"}`)
}
