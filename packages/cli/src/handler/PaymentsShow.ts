import type { InputOf } from "../command/Command.ts"
import type { Context } from "../command/Handler.ts"
import type { PAYMENTS_SHOW } from "../command/PaymentCommands.ts"
import { decimalOf, momentOf } from "../output/Wording.ts"
import { readEntry } from "../payment/Journal.ts"
import { isOpen, shownEntry } from "../payment/JournalEntry.ts"
import { outcomeOf } from "./PaymentsList.ts"

export const run = async (context: Context, input: InputOf<typeof PAYMENTS_SHOW>): Promise<void> => {
  const { host, output } = context
  const entry = await readEntry(host, input.arguments.payment)
  const { state } = entry
  output.record({ payment: { ...shownEntry(entry), open: isOpen(entry) } }, [
    ["Payment", entry.id],
    ["Profile", entry.profile],
    ["Server", entry.baseUrl],
    ["Service", entry.serviceId],
    ["Call", `${entry.method} ${entry.path}`],
    ["Body", entry.body],
    ["Idempotency-Key", entry.idempotencyKey],
    ["Amount", `${decimalOf(entry.quote.amount)} USDT`],
    ["Token", entry.quote.asset],
    ["Network", entry.quote.network],
    ["Payer", entry.payer],
    ["Pay to", entry.quote.payTo],
    ["Created", momentOf(new Date(entry.createdAt).toISOString())],
    ["Outcome", outcomeOf(entry)],
    ["Request id", state.tag === "answered" ? state.requestId : null],
    ["Transaction", state.tag === "answered" ? state.transaction : null],
    ["Open", isOpen(entry) ? "yes: do not pay again" : "no"]
  ])
}
