import type { Context } from "../command/Handler.ts"
import { decimalOf } from "../output/Wording.ts"
import { type JournalEntry, shownEntry } from "../payment/JournalEntry.ts"

/** The document of a paid answer: the API's data, with the payment beside it. */
export const withPayment = <Data extends object>(data: Data, entry: JournalEntry) => {
  const { id, payer, quote, state } = shownEntry(entry)
  const transaction = state.tag === "answered" ? state.transaction : null
  return { ...data, payment: { id, payer, ...quote, transaction } }
}

/** Says on standard error what was paid, and where it stands written. */
export const notePayment = ({ output }: Context, entry: JournalEntry): void =>
  output.note(`Paid ${decimalOf(entry.quote.amount)} USDT. Payment ${entry.id}.`)

/** Says that the token that came with a purchase was saved. */
export const noteToken = ({ output }: Context, entry: JournalEntry): void =>
  output.note(`The access token is saved in profile ${entry.profile}.`)
