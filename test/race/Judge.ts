import type { Cluster } from "../support/Cluster.ts"
import type { Movement } from "../support/TokenLog.ts"
import type { Book, Stake, Violation } from "./Book.ts"
import { readMovements, untilExpired } from "./ChainLog.ts"
import { readMails } from "./MailLog.ts"
import { type PhoneEvidence, wrongTelephones } from "./PhoneRules.ts"
import type { RaceRun } from "./RaceRun.ts"

/** What a race came to, by the chain, the relay and the carrier. */
export interface Verdict {
  readonly race: string
  readonly rounds: number
  readonly winners: number
  readonly losers: number
  readonly charges: number
  readonly refunds: number
  readonly violations: ReadonlyArray<Violation>
}

/** Waits until no authorization that was offered can be used any more, so that who was not charged never will be. */
export const untilOver = (cluster: Cluster, book: Book): Promise<void> =>
  untilExpired(cluster, Math.max(0, ...book.stakes.map(({ offer }) => offer.validBefore)))

/** What the only witnesses know: the token's log, the relay's outbox and the carrier's records. */
export interface Evidence {
  /** What came to the service's account. */
  readonly received: ReadonlyArray<Movement>
  /** What left its refund wallet. */
  readonly sent: ReadonlyArray<Movement>
  /** The Message-IDs of the copies that each recipient has. */
  readonly mails: ReadonlyMap<string, ReadonlyArray<string | null>>
  readonly phones: PhoneEvidence
}

/** Holds what the clients were told against the witnesses as they are now. The service and its database are not asked. */
export const judge = async (
  cluster: Cluster,
  { book, witness }: Pick<RaceRun, "book" | "witness">
): Promise<ReadonlyArray<Verdict>> => {
  const [movements, mails, phones] = await Promise.all([
    readMovements(cluster),
    readMails(cluster.outboxDir),
    witness.evidence()
  ])
  const received = movements.filter(({ to }) => to === lower(cluster.chain.payTo))
  const sent = movements.filter(({ from }) => from === lower(cluster.refundWallet))
  return weigh(book, { received, sent, mails, phones })
}

/** What the clients were told, held against the evidence. */
export const weigh = (book: Book, { mails, phones, received, sent }: Evidence): ReadonlyArray<Verdict> => {
  const refunds = matchRefunds(book, received, sent)
  const violations = [
    ...book.violations,
    ...wrongCharges(book, received),
    ...wrongRefunds(book, refunds),
    ...wrongMails(book, mails),
    ...wrongTelephones(book, phones)
  ]
  return book.races.map((race) => {
    const nonces = new Set(book.stakes.filter((stake) => stake.race === race).map(({ offer }) => offer.nonce))
    return {
      race,
      ...book.tally(race),
      charges: received.filter(({ nonce }) => nonce !== undefined && nonces.has(nonce as `0x${string}`)).length,
      refunds: [...refunds.owed].filter(([stake, refund]) => stake.race === race && refund !== undefined).length,
      violations: violations.filter((violation) => violation.race === race)
    }
  })
}

const lower = (address: string): string => address.toLowerCase()

/** Each authorization that bought something is charged once and bought one thing; every other is not charged, unless the money is said to go back. */
function* wrongCharges(book: Book, received: ReadonlyArray<Movement>): Generator<Violation> {
  const charges = Map.groupBy(received, ({ nonce }) => nonce)
  for (const stake of book.stakes) {
    const { delivered, offer, returned } = stake
    const made = charges.get(offer.nonce) ?? []
    charges.delete(offer.nonce)
    const wrong = (text: string): Violation => ({ race: stake.race, round: stake.round, text })
    if (delivered > 1) yield wrong(`one authorization bought ${delivered} things`)
    if (delivered > 0 && made.length !== 1) yield wrong(`delivered, and charged ${made.length} times`)
    if (delivered === 0 && !returned && made.length > 0) yield wrong(`charged, and nothing delivered`)
    if (delivered === 0 && returned && made.length !== 1)
      yield wrong(`said to be paid back, and charged ${made.length} times`)
    for (const { from, value } of made) {
      if (from !== lower(offer.payer) || value !== offer.amount) yield wrong(`charged ${value} of ${from}`)
    }
  }
  for (const [nonce, strays] of charges) {
    yield {
      race: book.races[0] ?? "",
      round: 0,
      text: `${strays.length} payments by ${nonce}, which nobody signed here`
    }
  }
}

interface Refunds {
  /** What was paid for nothing, with what came back for it. */
  readonly owed: ReadonlyMap<Stake, Movement | undefined>
  /** What was paid back to wallets that were not owed as much. */
  readonly strays: ReadonlyArray<Movement>
}

/** A refund says to whom it goes and how much it is, and not what for; one is as good as another of the same amount. */
const matchRefunds = (book: Book, received: ReadonlyArray<Movement>, sent: ReadonlyArray<Movement>): Refunds => {
  const charged = new Set(received.map(({ nonce }) => nonce))
  const left = new Set(sent)
  const owed = new Map<Stake, Movement | undefined>()
  for (const stake of book.stakes) {
    const { delivered, offer } = stake
    if (delivered > 0 || !charged.has(offer.nonce)) continue
    const refund = [...left].find(({ to, value }) => to === lower(offer.payer) && value === offer.amount)
    if (refund !== undefined) left.delete(refund)
    owed.set(stake, refund)
  }
  return { owed, strays: [...left] }
}

/** Each wallet got back exactly what it paid for nothing. */
function* wrongRefunds(book: Book, { owed, strays }: Refunds): Generator<Violation> {
  for (const [{ race, round }, refund] of owed) {
    if (refund === undefined) yield { race, round, text: "charged for nothing, and not paid back" }
  }
  for (const { to, value } of strays) {
    const stake = book.stakes.findLast(({ offer }) => lower(offer.payer) === to)
    yield {
      race: stake?.race ?? book.races[0] ?? "",
      round: stake?.round ?? 0,
      text: `${value} paid back to ${to}, to whom it was not owed`
    }
  }
}

/** A mail that was said to be sent is at the relay once, under one Message-ID; one that was not is not there. */
function* wrongMails(book: Book, mails: ReadonlyMap<string, ReadonlyArray<string | null>>): Generator<Violation> {
  for (const { mayRepeat, race, recipient, round, sent } of book.mails) {
    const copies = mails.get(recipient) ?? []
    const ids = new Set(copies).size
    if (sent && (ids !== 1 || (copies.length !== 1 && !mayRepeat))) {
      yield { race, round, text: `sent to ${recipient}: ${copies.length} copies under ${ids} Message-IDs` }
    }
    if (!sent && copies.length > 0) yield { race, round, text: `not sent to ${recipient}, and ${copies.length} copies` }
  }
}
