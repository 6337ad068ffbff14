import { inTurns } from "../faults/client/inTurns.ts"
import type { Wallet } from "../faults/client/Wallet.ts"
import type { PaymentObservations } from "../faults/observation/Purchases.ts"
import type { Testbed } from "../faults/server/Testbed.ts"
import type { ProviderObservations } from "../faults/verdict/ProviderInvariants.ts"
import type { MailboxFields } from "../support/Agent.ts"
import type { CarrierSight } from "../support/CarrierLog.ts"
import type { NumberFields } from "../support/PhoneCustomer.ts"
import { callBoughtBy } from "./Shop.ts"
import type { CrashPurchase, Goods } from "./Purchase.ts"

const MAIL_FROM = "witness@else.test"
const NO_SUCH_MAILBOX = 550
const GRANT_MILLIS = 30 * 24 * 60 * 60 * 1_000
const MINUTES_SECONDS = 600
const EXTENSION_SECONDS = 60
const FIVE_MINUTES_SECONDS = 300

export interface Observed extends Omit<PaymentObservations, "late" | "reserved" | "purchases"> {
  /** Copies of mails beyond the first of each Message-ID. */
  readonly duplicates: number
}

/** Reads chain, relay, carrier and lists of the service, and counts the goods. Fails while the service is down. */
export const observe = async (testbed: Testbed, purchases: ReadonlyArray<CrashPurchase>): Promise<Observed> => {
  const { carrierLog, cluster, relay, token } = testbed
  const [movements, mails, carrier] = await Promise.all([token.read(), relay.read(), carrierLog.read()])
  const walletsOf = (...kinds: ReadonlyArray<Goods["kind"]>) =>
    purchases.filter(({ goods }) => kinds.includes(goods.kind)).map(({ wallet }) => wallet)
  const mailboxes = await listsOf(walletsOf("mailbox", "displayName", "deletion"), (wallet) => wallet.mailboxes())
  const numbers = await numbersOf(walletsOf("number", "renewal", "minutes"))
  const counted = await inTurns(purchases, async (purchase) => {
    const { wallet } = purchase
    const lists = { mailboxes: mailboxes.get(wallet), numbers: numbers.get(wallet) }
    return [purchase, await countGoods(testbed, purchase, { mails, carrier, ...lists })] as const
  })
  const duplicates = purchases.flatMap(({ goods }) => {
    const copies = goods.kind === "mail" ? (mails.get(goods.recipient) ?? []) : []
    return copies.length - new Set(copies).size
  })
  return {
    movements,
    payTo: cluster.chain.payTo,
    refundWallet: cluster.refundWallet,
    goods: new Map(counted),
    duplicates: duplicates.reduce((sum, count) => sum + count, 0)
  }
}

/** Every number that wallets own, every call that they wanted, and the carrier's records of them. */
export const observeCarrier = async (
  { carrierLog }: Testbed,
  purchases: ReadonlyArray<CrashPurchase>
): Promise<ProviderObservations> => {
  const lists = await numbersOf(purchases.map(({ wallet }) => wallet))
  const [{ numbers: held }, calls] = await Promise.all([carrierLog.read(), carrierLog.calls()])
  const owned = [...lists].flatMap(([wallet, numbers]) =>
    numbers.filter(isActive).map(({ number }) => ({
      subject: { group: "carrier", label: wallet.address },
      number,
      isKept: true
    }))
  )
  const expectedCalls = purchases.flatMap((subject) =>
    subject.goods.kind === "call" ? [{ subject, toNumber: subject.goods.toNumber }] : []
  )
  return { held, calls, owned, expectedCalls, mails: new Map(), allowances: [], expectedMails: [] }
}

const isActive = ({ status }: NumberFields): boolean => status !== "released"

const numbersOf = (wallets: ReadonlyArray<Wallet>) => listsOf(wallets, (wallet) => wallet.numbers())

const listsOf = async <Item>(
  wallets: ReadonlyArray<Wallet>,
  list: (wallet: Wallet) => Promise<ReadonlyArray<Item>>
): Promise<ReadonlyMap<Wallet, ReadonlyArray<Item>>> => {
  const known = [...new Set(wallets)].filter(({ token }) => token !== undefined)
  return new Map(await inTurns(known, async (wallet) => [wallet, await list(wallet)] as const))
}

interface Records {
  readonly mails: ReadonlyMap<string, ReadonlyArray<string | null>>
  readonly carrier: CarrierSight
  /** Undefined for a wallet without a token. */
  readonly mailboxes: ReadonlyArray<MailboxFields> | undefined
  readonly numbers: ReadonlyArray<NumberFields> | undefined
}

/**
 * How many times the goods of a purchase exist. A number must be listed by its wallet and sold by the carrier. A call
 * counts as often as it was dialed. An extension counts if the carrier has the longer limit too.
 */
const countGoods = async (
  testbed: Testbed,
  purchase: CrashPurchase,
  { carrier, mailboxes, mails, numbers = [] }: Records
): Promise<number> => {
  const { goods, wallet } = purchase
  switch (goods.kind) {
    case "mail":
      return new Set(mails.get(goods.recipient)).size
    case "mailbox":
      // Without a token the wallet cannot list. Whether the mailbox accepts mail shows that it exists.
      return mailboxes === undefined
        ? Number(await acceptsMail(testbed, goods.localPart))
        : mailboxes.filter(({ localPart }) => localPart === goods.localPart).length
    case "displayName":
      return (mailboxes ?? []).filter(
        ({ displayName, mailboxId }) => mailboxId === goods.mailboxId && displayName === goods.displayName
      ).length
    case "deletion": {
      const isListed = (mailboxes ?? []).some(({ mailboxId }) => mailboxId === goods.mailboxId)
      return Number(!isListed && !(await acceptsMail(testbed, goods.localPart)))
    }
    case "number":
      return numbers.filter(
        (one) => one.agentName === goods.agentName && isActive(one) && carrier.numbers.has(one.number)
      ).length
    case "renewal": {
      const number = numbers.find(({ phoneNumberId }) => phoneNumberId === goods.phoneNumberId)
      if (number === undefined) return 0
      const { expiresAt, startedAt } = number.entitlement
      return (Date.parse(expiresAt) - Date.parse(startedAt)) / GRANT_MILLIS - 1
    }
    case "minutes": {
      const number = numbers.find(({ phoneNumberId }) => phoneNumberId === goods.phoneNumberId)
      return (number?.inboundAllowance.purchasedSeconds ?? 0) / MINUTES_SECONDS
    }
    case "call": {
      const dialed = carrier.dialled.get(goods.toNumber)?.length ?? 0
      const callId = callBoughtBy(purchase)
      if (callId === undefined) return dialed
      return (await wallet.call(callId)).toNumber === goods.toNumber ? dialed : 0
    }
    case "extension": {
      const { authorizedSeconds } = await wallet.call(goods.callId)
      const [call] = carrier.dialled.get(goods.toNumber) ?? []
      const isApplied = call !== undefined && call.timeLimitSeconds >= authorizedSeconds
      return isApplied ? (authorizedSeconds - FIVE_MINUTES_SECONDS) / EXTENSION_SECONDS : 0
    }
  }
}

const acceptsMail = ({ cluster, mail }: Testbed, localPart: string): Promise<boolean> =>
  mail.check(MAIL_FROM, `${localPart}@${cluster.emailDomain}`).then(
    () => true,
    (error: { readonly responseCode?: number }) => {
      if (error.responseCode === NO_SUCH_MAILBOX) return false
      throw new Error("the mail server did not answer", { cause: error })
    }
  )
