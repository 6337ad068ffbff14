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

export interface PurchaseOptions {
  readonly name: string
  readonly client: ClientKind
  readonly end?: End
  /** The wallet that buys; a new one unless given. */
  readonly buyer?: Buyer
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
  async newPurchase(service: Service, options: PurchaseOptions): Promise<Purchase> {
    const { client, end, name, taken = false } = options
    const buyer = options.buyer ?? (await this.newBuyer())
    const purchase: Purchase = {
      name,
      service,
      buyer,
      client,
      end,
      attempts: [],
      // That a mailbox is gone does not say by which of two payments.
      hidden: taken && service === "email.mailbox.delete",
      ...(await this.wishOf(service, buyer, taken, options.domain))
    }
    this.purchases.push(purchase)
    return purchase
  }

  private async wishOf(
    service: Service,
    buyer: Buyer,
    taken: boolean,
    domain = "else.test"
  ): Promise<Pick<Purchase, "request" | "goods">> {
    const path = PATHS[service]
    const localPart = freshName()
    if (service === "email.mailbox.create") {
      return { request: { path, body: { localPart } }, goods: { kind: "mailbox", localPart } }
    }
    const mailbox = await this.newMailbox(buyer, taken || service === "email.mailbox.delete")
    const { mailboxId } = mailbox
    switch (service) {
      case "email.mailbox.update": {
        const displayName = `changed ${localPart}`
        return {
          request: { path, body: { mailboxId, displayName } },
          goods: { kind: "displayName", mailboxId, displayName }
        }
      }
      case "email.mailbox.delete":
        return {
          request: { path, body: { mailboxId } },
          goods: { kind: "deletion", mailboxId, localPart: mailbox.localPart }
        }
      case "email.message.send": {
        const recipient = `${localPart}@${domain}`
        return {
          request: { path, body: { mailboxId, to: [recipient], subject: "A paid mail", text: localPart } },
          goods: { kind: "mail", recipient }
        }
      }
    }
  }

  /** The wish to delete the mailbox that another purchase is about. */
  async newDeletion({ buyer, goods }: Purchase): Promise<Purchase> {
    if (goods.kind !== "displayName" && goods.kind !== "deletion")
      throw new Error(`no mailbox is changed by ${goods.kind}`)
    const list = await mailboxesOf(buyer)
    const mailbox = list.find(({ mailboxId }) => mailboxId === goods.mailboxId)
    if (mailbox === undefined) throw new Error(`mailbox ${goods.mailboxId} is not there`)
    const { localPart, mailboxId } = mailbox
    const purchase: Purchase = {
      name: "set-up",
      service: "email.mailbox.delete",
      buyer,
      client: "repeats",
      end: "delivered",
      request: { path: PATHS["email.mailbox.delete"], body: { mailboxId } },
      goods: { kind: "deletion", mailboxId, localPart },
      attempts: []
    }
    this.purchases.push(purchase)
    return purchase
  }

  /** Buys a mailbox at once, without any fault. `hidden`: something else will take it away. */
  async newMailbox(buyer: Buyer, hidden = false): Promise<{ readonly mailboxId: string; readonly localPart: string }> {
    const localPart = freshName()
    const purchase: Purchase = {
      name: "set-up",
      service: "email.mailbox.create",
      buyer,
      client: "repeats",
      end: "delivered",
      hidden,
      request: { path: PATHS["email.mailbox.create"], body: { localPart } },
      goods: { kind: "mailbox", localPart },
      attempts: []
    }
    await buy(purchase)
    this.purchases.push(purchase)
    const told = purchase.attempts[0]?.told.at(-1)
    return { ...mailboxOf(told?.text ?? ""), localPart }
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

const mailboxOf = (text: string): { readonly mailboxId: string } =>
  (JSON.parse(text) as { readonly data: { readonly mailbox: { readonly mailboxId: string } } }).data.mailbox
