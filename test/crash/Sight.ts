import type { MailboxFields } from "../support/Agent.ts"
import { type Buyer, mailboxesOf, numbersOf } from "./Buyer.ts"
import type { CrashRig } from "./CrashRig.ts"
import type { Evidence } from "./Judge.ts"
import { countPhone, unclaimed } from "./PhoneSight.ts"
import type { Goods, PhoneGoods, Purchase } from "./Purchase.ts"
import { inTurns } from "./Turns.ts"

const MAIL_FROM = "witness@else.test"
const NO_SUCH_MAILBOX = 550

/** What can be seen of purchases without the service's books. */
export interface Sight {
  readonly evidence: Omit<Evidence, "late" | "reserved" | "unclaimed">
  /** Copies of mails beyond the first of each Message-ID. */
  readonly duplicates: number
}

type MailGoods = Exclude<Goods, PhoneGoods>

const isPhone = (goods: Goods): goods is PhoneGoods =>
  goods.kind === "number" ||
  goods.kind === "renewal" ||
  goods.kind === "minutes" ||
  goods.kind === "call" ||
  goods.kind === "extension"

/**
 * Looks at the chain, the relay's outbox, the carrier, the lists of mailboxes and numbers, and at the door for mail.
 * Fails when the service is away.
 */
export const look = async (rig: CrashRig, purchases: ReadonlyArray<Purchase>): Promise<Sight> => {
  const [movements, mails, carrier] = await Promise.all([rig.token.read(), rig.relay.read(), rig.carrier.log.read()])
  const ownersOf = (kinds: ReadonlyArray<Goods["kind"]>) =>
    new Set(purchases.filter(({ goods }) => kinds.includes(goods.kind)).map(({ buyer }) => buyer))
  const mailboxes = await listsOf(ownersOf(["mailbox", "displayName", "deletion"]), mailboxesOf)
  const numbers = await listsOf(ownersOf(["number", "renewal", "minutes"]), numbersOf)
  const counted = await inTurns(purchases, async (purchase): Promise<readonly [Purchase, number, number]> => {
    const { buyer, goods } = purchase
    if (isPhone(goods)) return [purchase, await countPhone(purchase, goods, carrier, numbers.get(buyer)), 0]
    if (goods.kind !== "mail") return [purchase, await countMailbox(rig, goods, mailboxes.get(buyer)), 0]
    const copies = mails.get(goods.recipient) ?? []
    const count = new Set(copies).size
    return [purchase, count, copies.length - count]
  })
  const { payTo, refundWallet } = rig.description.chain
  return {
    evidence: { movements, payTo, refundWallet, goods: new Map(counted.map(([purchase, count]) => [purchase, count])) },
    duplicates: counted.reduce((sum, [, , more]) => sum + more, 0)
  }
}

/** What the carrier has sold, or dialled, for nobody: of all that was ever wished for here. */
export const lookForUnclaimed = async ({ carrier, purchases }: CrashRig): Promise<ReadonlyArray<string>> => {
  const lists = await listsOf(new Set(purchases.map(({ buyer }) => buyer)), numbersOf)
  return unclaimed(await carrier.log.read(), [...lists.values()].flat(), purchases)
}

const listsOf = async <Item>(
  owners: ReadonlySet<Buyer>,
  list: (owner: Buyer) => Promise<ReadonlyArray<Item>>
): Promise<ReadonlyMap<Buyer, ReadonlyArray<Item>>> => {
  const known = [...owners].filter(({ token }) => token !== undefined)
  return new Map(await inTurns(known, async (owner) => [owner, await list(owner)] as const))
}

const countMailbox = async (
  rig: CrashRig,
  goods: Exclude<MailGoods, { readonly kind: "mail" }>,
  list: ReadonlyArray<MailboxFields> | undefined
): Promise<number> => {
  switch (goods.kind) {
    case "mailbox":
      // A wallet that was never told its token can't list: the door for mail says whether the address lives.
      return list === undefined
        ? Number(await takesMail(rig, goods.localPart))
        : list.filter(({ localPart }) => localPart === goods.localPart).length
    case "displayName":
      return (list ?? []).filter(
        ({ displayName, mailboxId }) => mailboxId === goods.mailboxId && displayName === goods.displayName
      ).length
    case "deletion": {
      const isListed = (list ?? []).some(({ mailboxId }) => mailboxId === goods.mailboxId)
      return Number(!isListed && !(await takesMail(rig, goods.localPart)))
    }
  }
}

const takesMail = (rig: CrashRig, localPart: string): Promise<boolean> =>
  rig.door.check(MAIL_FROM, `${localPart}@${rig.description.emailDomain}`).then(
    () => true,
    (error: { readonly responseCode?: number }) => {
      if (error.responseCode === NO_SUCH_MAILBOX) return false
      throw new Error("the door for mail is closed", { cause: error })
    }
  )
