import { generatePrivateKey } from "viem/accounts"
import { freshName } from "../support/Agent.ts"
import { Buyer, mailboxesOf } from "./Buyer.ts"
import { sign, send } from "./Client.ts"
import type { CrashRig } from "./CrashRig.ts"
import type { ClientKind, End, Purchase, Service } from "./Purchase.ts"

/** USDT of each wallet. Nothing here costs more than a quarter. */
const FUNDS = 20
const PATHS: Readonly<Record<Service, string>> = {
  "email.mailbox.create": "/api/v1/email/mailboxes",
  "email.mailbox.update": "/api/v1/email/mailboxes/update",
  "email.mailbox.delete": "/api/v1/email/mailboxes/delete",
  "email.message.send": "/api/v1/email/messages/send"
}
const SETUP_ATTEMPTS = 20

/** A mailbox that a wallet bought. */
export interface OwnMailbox {
  readonly mailboxId: string
  readonly localPart: string
}

export interface WishOptions {
  readonly name: string
  readonly client: ClientKind
  readonly end?: End
  /** The wallet that buys. */
  readonly buyer: Buyer
  /** Where a mail goes; a domain that takes all mail unless given. */
  readonly domain?: string
  /** Another purchase will take the mailbox away. */
  readonly taken?: boolean
}

/** Makes wallets with money, and things for them to buy. */
export class Shop {
  /** All that was bought so far, what was only needed to buy something else included. */
  readonly purchases: Array<Purchase> = []
  private readonly rig: CrashRig

  constructor(rig: CrashRig) {
    this.rig = rig
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

  /** A wish that nobody has paid for yet. What it needs (a mailbox to change, to delete, to write from) is bought. */
  async newPurchase(
    service: Service,
    options: Omit<WishOptions, "buyer"> & { readonly buyer?: Buyer }
  ): Promise<Purchase> {
    const buyer = options.buyer ?? (await this.newBuyer())
    const mailbox = service === "email.mailbox.create" ? undefined : await this.newMailbox(buyer)
    if (mailbox !== undefined && (options.taken === true || service === "email.mailbox.delete")) this.hide(mailbox)
    return this.wish(service, { ...options, buyer }, mailbox)
  }

  /** A wish about a mailbox that is there, or for a new one. */
  wish(service: Service, options: WishOptions, mailbox: OwnMailbox | undefined): Purchase {
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
      ...wanted(service, mailbox, options.domain ?? "else.test")
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
    return this.wish("email.mailbox.delete", { ...SETUP, buyer }, mailbox)
  }

  /** Buys a mailbox at once, without any fault. */
  async newMailbox(buyer: Buyer): Promise<OwnMailbox> {
    const purchase = this.wish("email.mailbox.create", { ...SETUP, buyer }, undefined)
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
}

const SETUP = { name: "set-up", client: "repeats", end: "delivered" } as const

/** What is asked for, and by what it can be seen. */
const wanted = (
  service: Service,
  mailbox: OwnMailbox | undefined,
  domain: string
): Pick<Purchase, "request" | "goods"> => {
  const path = PATHS[service]
  const fresh = freshName()
  if (service === "email.mailbox.create") {
    return { request: { path, body: { localPart: fresh } }, goods: { kind: "mailbox", localPart: fresh } }
  }
  if (mailbox === undefined) throw new Error(`${service} needs a mailbox`)
  const { localPart, mailboxId } = mailbox
  switch (service) {
    case "email.mailbox.update": {
      const displayName = `changed ${fresh}`
      return {
        request: { path, body: { mailboxId, displayName } },
        goods: { kind: "displayName", mailboxId, displayName }
      }
    }
    case "email.mailbox.delete":
      return { request: { path, body: { mailboxId } }, goods: { kind: "deletion", mailboxId, localPart } }
    case "email.message.send": {
      const recipient = `${fresh}@${domain}`
      return {
        request: { path, body: { mailboxId, to: [recipient], subject: "A paid mail", text: fresh } },
        goods: { kind: "mail", recipient }
      }
    }
  }
}

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
