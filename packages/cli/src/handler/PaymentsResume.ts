import type { InputOf } from "../command/Command.ts"
import type { Context } from "../command/Handler.ts"
import type { PAYMENTS_RESUME } from "../command/PaymentCommands.ts"
import { resolveSettings } from "../config/Settings.ts"
import { EXIT } from "../failure/ExitCode.ts"
import { Failure } from "../failure/Failure.ts"
import { countOf, decimalOf } from "../output/Wording.ts"
import { readEntries, readEntry } from "../payment/Journal.ts"
import { isOpen, type JournalEntry, shownEntry } from "../payment/JournalEntry.ts"
import { resume, type Resumed } from "../payment/Resumption.ts"
import { secretFields } from "./CallbackSecret.ts"
import { outcomeOf } from "./PaymentsList.ts"

const shown = (entry: JournalEntry) => ({ ...shownEntry(entry), open: isOpen(entry) })

const OVER = "Nothing was charged, and it will not be sent any more. Run the command again for a new payment."

export const run = async (context: Context, input: InputOf<typeof PAYMENTS_RESUME>): Promise<void> => {
  const { all } = input.flags
  const { payment } = input.arguments
  if (all && payment !== undefined)
    throw new Failure({ code: "USAGE", message: "Either a payment is named or --all is given; not both." })
  if (payment !== undefined) return showOne(context, await resume(context, payment))
  const profile = (await resolveSettings(context)).profile.value
  const open = (await readEntries(context.host)).filter((entry) => entry.profile === profile && isOpen(entry))
  if (all) return resumeAll(context, open)
  if (open.length > 1)
    throw new Failure({
      code: "USAGE",
      message: `${countOf(open.length, "payment")} of profile ${profile} are open: name one, or give --all.`,
      next: ["agentctl payments list --open", "agentctl payments resume --all"]
    })
  const [only] = open
  if (only !== undefined) return showOne(context, await resume(context, only.id))
  context.output.note("No payment is open.")
  if (context.output.options.json) context.output.data({ items: [] }, () => "")
}

const showOne = (context: Context, { data, entry }: Resumed): void => {
  const { output } = context
  const { state } = entry
  output.record({ payment: shown(entry), data }, [
    ["Payment", entry.id],
    ["Service", entry.serviceId],
    ["Amount", `${decimalOf(entry.quote.amount)} USDT`],
    ["Outcome", outcomeOf(entry)],
    ["Transaction", state.tag === "answered" ? state.transaction : null],
    ...secretFields(context, data, entry.id)
  ])
  output.note(data === null ? OVER : "It went through, and was charged once.")
}

const resumeAll = async (context: Context, open: ReadonlyArray<JournalEntry>): Promise<void> => {
  const { host, output } = context
  const entries: Array<JournalEntry> = []
  const failures: Array<Failure> = []
  for (const { id } of open) {
    try {
      entries.push((await resume(context, id)).entry)
    } catch (error) {
      if (host.signal.aborted || !(error instanceof Failure)) throw error
      failures.push(error)
      output.warn(`${id}: ${error.message}`)
      entries.push(await readEntry(host, id))
    }
  }
  output.table(
    { items: entries.map(shown) },
    entries,
    [
      { heading: "SERVICE", value: ({ serviceId }) => serviceId, whole: true },
      { heading: "AMOUNT", value: ({ quote }) => decimalOf(quote.amount), whole: true },
      { heading: "OUTCOME", value: outcomeOf, whole: true },
      { heading: "OPEN", value: (entry) => (isOpen(entry) ? "yes" : "no"), whole: true },
      { heading: "PAYMENT", value: ({ id }) => id, whole: true }
    ],
    "No payment is open."
  )
  const unknown = entries.filter(isOpen)
  if (unknown.length > 0)
    throw new Failure({
      code: "OUTCOME_UNKNOWN",
      exit: EXIT.paymentUnknown,
      message: `${countOf(unknown.length, "payment")} still open.`,
      paymentState: "unknown",
      retryable: true,
      next: ["agentctl payments resume --all"]
    })
  const [first] = failures
  if (first === undefined) return
  if (entries.length === 1) throw first
  const { code, paymentState } = first.parts
  throw new Failure({
    code,
    exit: first.exit,
    message: `${countOf(failures.length, "payment")} of ${entries.length} bought nothing; above stands what the server said of it.`,
    ...(failures.length === 1 ? { paymentState } : {}),
    next: ["agentctl payments list"]
  })
}
