import type { InputOf } from "../command/Command.ts"
import type { Context } from "../command/Handler.ts"
import type { PAYMENTS_LIST } from "../command/PaymentCommands.ts"
import { resolveSettings } from "../config/Settings.ts"
import { decimalOf, momentOf } from "../output/Wording.ts"
import { readEntries } from "../payment/Journal.ts"
import { isOpen, type JournalEntry, shownEntry } from "../payment/JournalEntry.ts"

/** What became of a payment, in a few words. */
export const outcomeOf = ({ state }: JournalEntry): string => {
  switch (state.tag) {
    case "prepared":
      return "not sent"
    case "sent":
      return "no answer"
    case "given-up":
      return "given up"
    case "answered":
      return `${state.paymentState}, ${state.status}`
  }
}

export const run = async (context: Context, { flags }: InputOf<typeof PAYMENTS_LIST>): Promise<void> => {
  const { host, output } = context
  const profile = (await resolveSettings(context)).profile.value
  const own = (await readEntries(host)).filter((entry) => entry.profile === profile && (!flags.open || isOpen(entry)))
  const entries = own.slice(0, flags.limit)
  output.table(
    { items: entries.map((entry) => ({ ...shownEntry(entry), open: isOpen(entry) })) },
    entries,
    [
      { heading: "WHEN", value: ({ createdAt }) => momentOf(new Date(createdAt).toISOString()), whole: true },
      { heading: "SERVICE", value: ({ serviceId }) => serviceId, whole: true },
      { heading: "AMOUNT", value: ({ quote }) => decimalOf(quote.amount), whole: true },
      { heading: "OUTCOME", value: outcomeOf, whole: true },
      { heading: "OPEN", value: (entry) => (isOpen(entry) ? "yes" : "no"), whole: true },
      { heading: "PAYMENT", value: ({ id }) => id, whole: true }
    ],
    flags.open ? "No payment is open." : "There is no payment yet."
  )
}
