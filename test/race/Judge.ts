import type { Cluster } from "../support/Cluster.ts"
import type { Book, Stake, Violation } from "./Book.ts"
import { type Movement, readMovements, untilExpired } from "./ChainLog.ts"
import { readMails } from "./MailLog.ts"

/** What a race came to, by the chain and the relay. */
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

/**
 * Holds what the clients were told against the token's log and the relay's outbox as they are now. The service and its
 * database are not asked.
 */
export const judge = async (cluster: Cluster, book: Book): Promise<ReadonlyArray<Verdict>> => {
  const [movements, mails] = await Promise.all([readMovements(cluster), readMails(cluster.outboxDir)])
  const payTo = cluster.chain.payTo.toLowerCase()
  const received = movements.filter(({ to }) => to === payTo)
  const refunds = movements.filter(({ from }) => from === cluster.refundWallet.toLowerCase())
  const violations = [
    ...book.violations,
    ...wrongCharges(book, received),
    ...wrongRefunds(book, received, refunds),
    ...wrongMails(book, mails)
  ]
  return book.races.map((race) => {
    const nonces = new Set(book.stakes.filter((stake) => stake.race === race).map(({ offer }) => offer.nonce))
    const payers = new Set(book.stakes.filter((stake) => stake.race === race).map(({ offer }) => lower(offer.payer)))
    return {
      race,
      ...book.tally(race),
      charges: received.filter(({ nonce }) => nonce !== undefined && nonces.has(nonce as `0x${string}`)).length,
      refunds: refunds.filter(({ to }) => payers.has(to)).length,
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

/** Each wallet got back exactly what it paid for nothing. */
function* wrongRefunds(
  book: Book,
  received: ReadonlyArray<Movement>,
  refunds: ReadonlyArray<Movement>
): Generator<Violation> {
  const charged = new Set(received.map(({ nonce }) => nonce))
  const owing = Map.groupBy(
    book.stakes.filter(({ delivered, offer }) => delivered === 0 && charged.has(offer.nonce)),
    ({ offer }) => lower(offer.payer)
  )
  const paid = Map.groupBy(refunds, ({ to }) => to)
  for (const payer of new Set([...owing.keys(), ...paid.keys()])) {
    const owed = owing.get(payer) ?? []
    const amounts = (of: ReadonlyArray<bigint>) => of.map(String).toSorted().join(", ") || "nothing"
    const due = amounts(owed.map(({ offer }) => offer.amount))
    const sent = amounts((paid.get(payer) ?? []).map(({ value }) => value))
    if (due === sent) continue
    const stake = owed[0] ?? book.stakes.find(({ offer }) => lower(offer.payer) === payer)
    yield { ...placeOf(book, stake), text: `${payer} was owed ${due} and was paid back ${sent}` }
  }
}

const placeOf = (book: Book, stake: Stake | undefined) => ({
  race: stake?.race ?? book.races[0] ?? "",
  round: stake?.round ?? 0
})

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
