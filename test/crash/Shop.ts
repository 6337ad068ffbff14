import { generatePrivateKey } from "viem/accounts"
import { Buyer, mailboxesOf } from "./Buyer.ts"
import { sign, send } from "./Client.ts"
import type { CrashRig } from "./CrashRig.ts"
import { type Area, linesBoughtBy, PhoneShop } from "./PhoneShop.ts"
import type { ClientKind, End, Purchase, Service } from "./Purchase.ts"
import { type About, type OwnMailbox, wanted } from "./Wanted.ts"

/** USDT of each wallet. What costs most is a number, at five. */
const FUNDS = 1_000
const SETUP_ATTEMPTS = 20

export interface WishOptions {
  readonly name: string
  readonly client: ClientKind
  readonly end?: End
  /** The wallet that buys. */
  readonly buyer: Buyer
  /** Another purchase, or a release, will take away what it is about. */
  readonly taken?: boolean
}

export interface PurchaseOptions extends Omit<WishOptions, "buyer"> {
  /** A new wallet unless given. */
  readonly buyer?: Buyer
  /** Where a mail goes. */
  readonly domain?: string
  /** Where a number is bought; where nothing fails unless given. */
  readonly area?: Area
}

/** Makes wallets with money, and things for them to buy. */
export class Shop {
  /** All that was bought so far, what was only needed to buy something else included. */
  readonly purchases: Array<Purchase> = []
  readonly phones: PhoneShop
  private readonly rig: CrashRig

  constructor(rig: CrashRig) {
    this.rig = rig
    this.phones = new PhoneShop(rig.carrier, rig.description.agentWebhookUrl, async (service, buyer, about) => {
      const purchase = this.wish(service, { ...SETUP, buyer }, about)
      await buy(purchase)
      return purchase
    })
  }

  /** A wallet with money, and nothing else. */
  async newBuyer(): Promise<Buyer> {
    const buyer = new Buyer(this.rig.description, generatePrivateKey())
    await this.rig.treasury.fund([buyer.address], FUNDS)
    return buyer
  }

  /** A wallet with money and its access token. */
  async newTenant(): Promise<Buyer> {
    const buyer = await this.newBuyer()
    await this.newMailbox(buyer)
    return buyer
  }

  /** A wish that nobody has paid for yet. What it needs (a mailbox, a number, a call that goes on) is bought. */
  async newPurchase(service: Service, options: PurchaseOptions): Promise<Purchase> {
    // Who never comes back is told of no token: whether its wallet has the number could not be seen.
    const isFirst = service === "phone.number.us.30d" || service === "phone.number.ca.30d"
    const isUnseen = isFirst && options.client === "gives up"
    const buyer = options.buyer ?? (await (isUnseen ? this.newTenant() : this.newBuyer()))
    const about = await this.aboutOf(service, buyer, options)
    if (about.mailbox !== undefined && (options.taken === true || service === "email.mailbox.delete")) {
      this.hide(about.mailbox)
    }
    const phoneNumberId = about.line?.phoneNumberId ?? about.call?.phoneNumberId
    if (options.taken === true && phoneNumberId !== undefined) this.hideLine(phoneNumberId)
    return this.wish(service, { ...options, buyer }, about)
  }

  private async aboutOf(service: Service, buyer: Buyer, { area = "any", domain }: PurchaseOptions): Promise<About> {
    if (service === "email.mailbox.create") return {}
    if (service.startsWith("email.")) return { mailbox: await this.newMailbox(buyer), domain }
    return this.phones.about(service, buyer, area)
  }

  /** A wish about what is there, or for what is new. */
  wish(service: Service, options: WishOptions, about: About): Purchase {
    const { buyer, client, end, name, taken = false } = options
    const purchase: Purchase = {
      name,
      service,
      buyer,
      client,
      end,
      attempts: [],
      // That a mailbox is gone does not say by which of two payments.
      hidden: taken && service === "email.mailbox.delete",
      ...wanted(service, about)
    }
    this.purchases.push(purchase)
    this.rig.purchases.push(purchase)
    return purchase
  }

  /** The wish to delete the mailbox that another purchase is about. */
  async newDeletion({ buyer, goods }: Purchase): Promise<Purchase> {
    if (goods.kind !== "displayName" && goods.kind !== "deletion") throw new Error(`${goods.kind} is about no mailbox`)
    const mailbox = (await mailboxesOf(buyer)).find(({ mailboxId }) => mailboxId === goods.mailboxId)
    if (mailbox === undefined) throw new Error(`mailbox ${goods.mailboxId} is not there`)
    return this.wish("email.mailbox.delete", { ...SETUP, buyer }, { mailbox })
  }

  /** Buys a mailbox at once, without any fault. */
  async newMailbox(buyer: Buyer): Promise<OwnMailbox> {
    const purchase = this.wish("email.mailbox.create", { ...SETUP, buyer }, {})
    await buy(purchase)
    const [mailbox] = this.boughtBy(purchase)
    if (mailbox === undefined) throw new Error("no mailbox in the answer to its purchase")
    return mailbox
  }

  /** The mailbox that a purchase was told it bought, if any. */
  boughtBy(purchase: Purchase): ReadonlyArray<OwnMailbox> {
    const told = purchase.attempts.flatMap((attempt) => attempt.told).find(({ status }) => status === 201)
    if (told === undefined) return []
    const { data } = JSON.parse(told.text) as { readonly data: { readonly mailbox: OwnMailbox } }
    return [{ mailboxId: data.mailbox.mailboxId, localPart: data.mailbox.localPart }]
  }

  /** Says that something else takes a mailbox away. */
  hide({ localPart }: OwnMailbox): void {
    const bought = this.purchases.find(({ goods }) => goods.kind === "mailbox" && goods.localPart === localPart)
    if (bought !== undefined) bought.hidden = true
  }

  /** Says that a number is given back. */
  private hideLine(phoneNumberId: string): void {
    const isIt = (purchase: Purchase) => linesBoughtBy(purchase).some((line) => line.phoneNumberId === phoneNumberId)
    const bought = this.purchases.find((purchase) => purchase.goods.kind === "number" && isIt(purchase))
    if (bought !== undefined) bought.hidden = true
  }
}

const SETUP = { name: "set-up", client: "repeats", end: "delivered" } as const

/** Pays for something, and fails unless it is had. */
export const buy = async (purchase: Purchase): Promise<void> => {
  const attempt = await sign(purchase)
  for (let tries = 0; tries < SETUP_ATTEMPTS; tries++) {
    const told = await send(purchase, attempt)
    if (told !== undefined && told.status < 300) return
    if (told !== undefined && !told.retryable) break
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  throw new Error(`${purchase.name}: ${purchase.service} can't be had: ${attempt.told.at(-1)?.text ?? "no answer"}`)
}
