import { type Column, EXIT, Failure, usageError } from "@agentos/node/command-line"
import { countOf, timeColumn, timeOf } from "../output/Wording.ts"
import type { Resumed } from "../payment/Sending.ts"
import type { ListedEntry } from "../payment/JournalFile.ts"
import type { DataOf } from "../server/Server.ts"
import { defineCommand } from "./Command.ts"
import type { Context } from "../context/Context.ts"
import { LIMIT_FLAG } from "../context/Flags.ts"
import { paymentIdOf, serverAt } from "./Resources.ts"

const outcomeOf = ({ state }: ListedEntry): string => {
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

const createdOf = ({ createdAt }: ListedEntry): string | null => timeOf(new Date(createdAt).toISOString())

/** Returns the profile in use and its payments, newest first. */
const paymentsOfProfile = async (context: Context) => {
  const { resolveSettings } = await import("../config/Settings.ts")
  const { readEntries } = await import("../payment/Journal.ts")
  const profile = (await resolveSettings(context)).profile.value
  return { profile, entries: (await readEntries(context.host)).filter((entry) => entry.profile === profile) }
}

const PAYMENT_ARGUMENT = {
  name: "payment",
  summary: "Id of a payment, a part of it, or latest.",
  presence: "required",
  completes: "payment"
} as const

export const PAYMENTS_LIST = defineCommand(
  {
    name: "payments list",
    summary: "List the payments made from this machine, newest first",
    description: "Reads the journal of this profile, without asking the server.",
    flags: [{ name: "open", type: "boolean", summary: "Only payments without a final answer." }, LIMIT_FLAG],
    examples: [{ line: "agentctl payments list --open", does: "Payments whose answer was lost" }],
    output: "rows",
    json: "{items: [payment]}"
  },
  async (context, { flags }) => {
    const { isOpen } = await import("@agentos/client")
    const { shownEntry } = await import("../payment/JournalFile.ts")
    const { entries } = await paymentsOfProfile(context)
    const shown = entries.filter((entry) => !flags.open || isOpen(entry)).slice(0, flags.limit)
    context.output.table(
      { items: shown.map(shownEntry) },
      shown,
      [timeColumn("TIME", ({ createdAt }) => new Date(createdAt).toISOString()), ...(await paymentColumns())],
      flags.open ? "No open payments." : "No payments."
    )
  }
)

const paymentColumns = async (): Promise<ReadonlyArray<Column<ListedEntry>>> => {
  const { decimalOf, isOpen } = await import("@agentos/client")
  return [
    { heading: "SERVICE", value: ({ serviceId }) => serviceId, whole: true },
    { heading: "AMOUNT", value: ({ amount }) => decimalOf(BigInt(amount)), whole: true },
    {
      heading: "OUTCOME",
      value: outcomeOf,
      shown: (entry) => (entry.state.tag === "answered" ? entry.state.paymentState : outcomeOf(entry)),
      whole: true
    },
    { heading: "OPEN", value: (entry) => (isOpen(entry) ? "yes" : "no"), whole: true },
    { heading: "PAYMENT", value: ({ id }) => id, id: true }
  ]
}

export const PAYMENTS_SHOW = defineCommand(
  {
    name: "payments show",
    summary: "Show the request, price and outcome of a payment",
    description: "The signed payment is a secret and is not shown.",
    arguments: [PAYMENT_ARGUMENT],
    examples: [{ line: "agentctl payments show latest", does: "Show a payment" }],
    output: "record",
    json: "{payment}",
    exits: [5]
  },
  async (context, { arguments: { payment } }) => {
    const { readEntry } = await import("../payment/Journal.ts")
    const { host, output } = context
    const { decimalOf, isOpen } = await import("@agentos/client")
    const { isLargeBody, shownEntry } = await import("../payment/JournalFile.ts")
    const entry = await readEntry(host, await paymentIdOf(context, payment))
    const { body, state } = entry
    output.record({ payment: shownEntry(entry) }, [
      ["Payment", entry.id],
      ["Profile", entry.profile],
      ["Server", entry.baseUrl],
      ["Service", entry.serviceId],
      ["Call", `${entry.method} ${entry.path}`],
      ["Body", isLargeBody(body) ? `${body.slice(0, 500)}… (${countOf(body.length, "character")})` : body],
      ["Idempotency-Key", entry.idempotencyKey],
      ["Amount", `${decimalOf(BigInt(entry.amount))} USDT`],
      ["Token", entry.asset],
      ["Network", entry.network],
      ["Payer", entry.payer],
      ["Pay to", entry.payTo],
      ["Created", createdOf(entry)],
      ["Outcome", outcomeOf(entry)],
      ["Request id", state.tag === "answered" ? state.requestId : null],
      ["Transaction", state.tag === "answered" ? state.transaction : null],
      ["Open", isOpen(entry) ? "yes: do not pay again" : "no"]
    ])
  }
)

type Status = DataOf<"readPaymentStatus">["payment"]

/** The fix for each advice of the server. */
const adviceText = ({ advice, paymentState, retryAfterSeconds }: Status, id: string): string => {
  switch (advice) {
    case "pay":
      return "This payment was not charged and never will be. Run the original command for a new one."
    case "retry_same":
      return `Do not sign another payment. Send this one again: agentctl payments resume ${id}`
    case "wait":
      return `Do not sign another payment. Read the status again in ${countOf(retryAfterSeconds ?? 0, "second")}.`
    case "done":
      return paymentState === "refunded"
        ? "The payment was refunded."
        : `The payment went through and was charged once. Show its result again: agentctl payments resume ${id}`
  }
}

export const PAYMENTS_STATUS = defineCommand(
  {
    name: "payments status",
    summary: "Ask the server for the state of a payment",
    description:
      "Reads the state by the signed payment in the journal, without sending the request again and without an access token: state, transaction, refund, and what to do next. Nothing is executed or charged, and the journal is not changed.",
    arguments: [PAYMENT_ARGUMENT],
    examples: [{ line: "agentctl payments status latest", does: "Read the state of a payment" }],
    output: "record",
    json: "{payment: {id, serviceId}, status}",
    exits: [5, 9]
  },
  async (context, { arguments: { payment } }) => {
    const { readEntry } = await import("../payment/Journal.ts")
    const entry = await readEntry(context.host, await paymentIdOf(context, payment))
    const client = await serverAt(context, entry.baseUrl)
    const headers = { "PAYMENT-SIGNATURE": entry.paymentSignature }
    const { payment: status } = await client.call("readPaymentStatus", { headers })
    const { decimalOf } = await import("@agentos/client")
    const { output } = context
    output.record({ payment: { id: entry.id, serviceId: entry.serviceId }, status }, [
      ["Payment", entry.id],
      ["Service", entry.serviceId],
      ["Amount", `${decimalOf(BigInt(entry.amount))} USDT`],
      ["Payment state", status.paymentState],
      ["Advice", status.advice],
      ["Operation", status.operationId],
      ["Transaction", status.transaction],
      ["Refund", status.refund?.transaction ?? null],
      ["Reason", status.reason?.message ?? null],
      ["Updated", status.updatedAt === null ? null : timeOf(status.updatedAt)]
    ])
    output.note(adviceText(status, entry.id))
  }
)

export const PAYMENTS_RECEIPT = defineCommand(
  {
    name: "payments receipt",
    summary: "Verify and show the signed receipt of a payment",
    description:
      "Verifies the signature with the key that the server publishes, and the fields with the payment. The receipt proves the delivery to others, or the refund.",
    arguments: [PAYMENT_ARGUMENT],
    examples: [
      { line: "agentctl payments receipt latest", does: "Verify a receipt" },
      { line: "agentctl payments receipt latest --json", does: "Print it with the text that was signed" }
    ],
    output: "record",
    json: "{payment, receipt, keyId, jws}",
    exits: [5]
  },
  async (context, { arguments: { payment } }) => {
    const { readEntry } = await import("../payment/Journal.ts")
    const { verifyReceipt } = await import("../payment/Receipt.ts")
    const { output } = context
    const id = await paymentIdOf(context, payment)
    const verified = await verifyReceipt(context, await readEntry(context.host, id))
    const { issuedAt, network, payer, refundOf, resourceUrl, transaction } = verified.receipt
    output.record({ payment: id, ...verified }, [
      ["Payment", id],
      ["Issued", timeOf(new Date(issuedAt * 1_000).toISOString())],
      ["Resource", resourceUrl],
      ["Payer", payer],
      ["Network", network],
      ["Transaction", transaction],
      ["Refund of", refundOf ?? null],
      ["Signed by", verified.keyId]
    ])
    output.note("The signature is valid, and the receipt is that of the payment.")
  }
)

export const PAYMENTS_RESUME = defineCommand(
  {
    name: "payments resume",
    summary: "Find out the outcome of a payment and complete it",
    description:
      "After a lost answer, an interruption or a crash, sends the request in the journal again, byte for byte. Nothing is signed, so nothing is charged twice. For an answered payment, shows again what it bought.\nWithout an id, resumes the only open payment of this profile.",
    arguments: [{ ...PAYMENT_ARGUMENT, presence: "optional" }],
    flags: [{ name: "all", type: "boolean", summary: "Resume every open payment of this profile." }],
    examples: [
      { line: "agentctl payments resume", does: "Resume the open payment" },
      { line: "agentctl payments resume --all", does: "Resume all open payments, one after the other" }
    ],
    output: "record",
    json: "{payment, data}; with --all {items: [payment]}",
    exits: [4, 5, 6, 7, 8, 9]
  },
  async (context, { arguments: { payment }, flags: { all } }) => {
    const { resume } = await import("../payment/Sending.ts")
    const { isOpen } = await import("@agentos/client")
    if (all && payment !== undefined) throw usageError("Pass a payment id or --all, not both.")
    if (payment !== undefined) {
      return showResumed(context, await resume(context, await paymentIdOf(context, payment)))
    }
    const { entries, profile } = await paymentsOfProfile(context)
    const open = entries.filter(isOpen)
    if (all) return resumeAll(context, open)
    if (open.length > 1)
      throw usageError(`Profile ${profile} has ${countOf(open.length, "open payment")}. Pass an id or --all.`, [
        "agentctl payments list --open",
        "agentctl payments resume --all"
      ])
    const [only] = open
    if (only !== undefined) return showResumed(context, await resume(context, only.id))
    context.output.note("No open payments.")
    if (context.output.options.json) context.output.data({ items: [] }, () => "")
  }
)

const showResumed = async (context: Context, { data, entry }: Resumed): Promise<void> => {
  const { decimalOf } = await import("@agentos/client")
  const { shownEntry } = await import("../payment/JournalFile.ts")
  const { noteToken, secretFields } = await import("./PaidOutput.ts")
  const { output } = context
  const { state } = entry
  output.record({ payment: shownEntry(entry), data }, [
    ["Payment", entry.id],
    ["Service", entry.serviceId],
    ["Amount", `${decimalOf(BigInt(entry.amount))} USDT`],
    ["Outcome", outcomeOf(entry)],
    ["Transaction", state.tag === "answered" ? state.transaction : null],
    ...secretFields(context, data, entry.id)
  ])
  output.note(
    data === null
      ? "Nothing was charged, and this payment will not be sent again. Run the original command for a new one."
      : "The payment went through and was charged once."
  )
  if (data !== null) noteToken(context, data, entry)
}

const resumeAll = async (context: Context, open: ReadonlyArray<ListedEntry>): Promise<void> => {
  const { resume } = await import("../payment/Sending.ts")
  const { readEntry } = await import("../payment/Journal.ts")
  const { isOpen } = await import("@agentos/client")
  const { shownEntry } = await import("../payment/JournalFile.ts")
  const { host, output } = context
  const entries: Array<ListedEntry> = []
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
  const items = entries.map(shownEntry)
  output.table({ items }, entries, await paymentColumns(), "No open payments.")
  const stillOpen = entries.filter(isOpen)
  if (stillOpen.length > 0)
    throw new Failure({
      code: "OUTCOME_UNKNOWN",
      exit: EXIT.paymentUnknown,
      message: `${countOf(stillOpen.length, "payment")} still open.`,
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
    message: `${failures.length} of ${entries.length} payments failed. See the errors above.`,
    ...(failures.length === 1 ? { paymentState } : {}),
    next: ["agentctl payments list"]
  })
}

const BUDGET_JSON = "{profile, perCall, perDay, spentLastDay, leftToday}"

const showBudget = async ({ host, output }: Context, profile: string): Promise<void> => {
  const { budgetReport } = await import("../payment/Budget.ts")
  const report = await budgetReport(host, profile)
  const text = (price: { readonly amount: string; readonly asset: string } | null) =>
    price === null ? "no limit" : `${price.amount} ${price.asset}`
  output.record(report, [
    ["Profile", profile],
    ["Per call", text(report.perCall)],
    ["Per day", text(report.perDay)],
    ["Spent in 24 h", text(report.spentLastDay)],
    ["Left", text(report.leftToday)]
  ])
}

/** Returns the limit that a flag sets, null for none, or undefined without the flag. */
const limitOf = async (flag: string, text: string | undefined): Promise<bigint | null | undefined> => {
  if (text === undefined) return undefined
  if (text === "none") return null
  const { unitsOf } = await import("@agentos/client")
  const amount = unitsOf(text)
  if (amount !== undefined) return amount
  throw usageError(`--${flag} takes an amount in USDT such as 0.50, or none, not "${text}".`)
}

export const BUDGET_SET = defineCommand(
  {
    name: "budget set",
    summary: "Limit the payments from this machine",
    description: "Applies to this profile and is checked before every signature. A day is the last 24 hours.",
    flags: [
      {
        name: "per-call",
        type: "text",
        value: "AMOUNT",
        summary: "Maximum price of one call in USDT; none for no limit."
      },
      {
        name: "per-day",
        type: "text",
        value: "AMOUNT",
        summary: "Maximum spending per day in USDT; none for no limit."
      }
    ],
    examples: [{ line: "agentctl budget set --per-call 6 --per-day 10", does: "Set both limits" }],
    output: "record",
    json: BUDGET_JSON
  },
  async (context, { flags }) => {
    const { checkProfileName } = await import("../config/ConfigFile.ts")
    const { resolveSettings } = await import("../config/Settings.ts")
    const { changeBudget } = await import("../payment/Budget.ts")
    const { "per-call": perCall, "per-day": perDay } = flags
    if (perCall === undefined && perDay === undefined) throw usageError("Pass --per-call, --per-day, or both.")
    const profile = checkProfileName((await resolveSettings(context)).profile.value)
    const limits = { perCall: await limitOf("per-call", perCall), perDay: await limitOf("per-day", perDay) }
    await changeBudget(context.host, profile, (before) => ({
      perCall: limits.perCall === undefined ? before.perCall : limits.perCall,
      perDay: limits.perDay === undefined ? before.perDay : limits.perDay
    }))
    await showBudget(context, profile)
  }
)

export const BUDGET_SHOW = defineCommand(
  {
    name: "budget show",
    summary: "Show the limits and the remaining budget",
    description:
      "Every payment that was signed in the last 24 hours counts as spent, also one that the server says it refused, because a server may lie.",
    examples: [{ line: "agentctl budget show", does: "The budget left for today" }],
    output: "record",
    json: BUDGET_JSON
  },
  async (context) => {
    const { resolveSettings } = await import("../config/Settings.ts")
    await showBudget(context, (await resolveSettings(context)).profile.value)
  }
)
