import type { OperationAdministration, OperationReport, ReportedAttempt, TimelineEntry } from "@agentos/core"
import { Failure, type Field } from "@agentos/node/command-line"
import type { Effect as Effects } from "effect"
import type { CommandMutation } from "../program/Maintenance.ts"
import {
  confirm,
  defineCommand,
  onDatabase,
  REASON_FLAG,
  reasonOf,
  type ServerCommandContext,
  shownTime,
  withConfiguration
} from "./ServerCommand.ts"

const REPORT =
  "operationId, serviceId, state, paymentState, payer, tenantId, network, price, baseUnits, token, transaction, refund, reason, nextAttempt: {kind: leased|scheduled|due, at}, failedAttempt: {at, attempts, reason}, createdAt, updatedAt"

/** Formats a time without its seconds. */
const shownMinute = (time: string) => shownTime(time).replace(/:\d\dZ$/, "Z")

const ATTEMPTS: Readonly<Record<ReportedAttempt["kind"], string>> = {
  leased: "a worker holds the lease until",
  scheduled: "scheduled for",
  due: "due since"
}

const fieldsOf = (operation: OperationReport): ReadonlyArray<Field> => {
  const { failedAttempt, nextAttempt, price, reason, refund } = operation
  return [
    ["Operation", operation.operationId],
    ["Service", operation.serviceId],
    ["State", operation.state],
    ["Payment", operation.paymentState],
    ["Next attempt", nextAttempt && `${ATTEMPTS[nextAttempt.kind]} ${shownTime(nextAttempt.at)}`],
    ["Failed attempts", failedAttempt?.attempts],
    ["Last failed attempt", failedAttempt && `${shownTime(failedAttempt.at)} ${failedAttempt.reason}`],
    ["Failure", reason && `${reason.kind}: ${reason.message}`],
    ["Payer", operation.payer],
    ["Tenant", operation.tenantId],
    ["Price", price && `${price.amount} ${price.asset}`],
    ["Base units", operation.baseUnits],
    ["Token", operation.token],
    ["Network", operation.network],
    ["Transaction", operation.transaction],
    ["Refund", refund?.transaction],
    ["Created", shownTime(operation.createdAt)],
    ["Updated", shownTime(operation.updatedAt)]
  ]
}

/** Runs an effect on the operations of the configured database. */
const onOperations = async <A>(
  context: ServerCommandContext,
  use: (operations: OperationAdministration["Service"]) => Effects.Effect<A, unknown>,
  mutation?: CommandMutation
): Promise<A> => {
  const { Effect } = await import("effect")
  return onDatabase(context, (core) => Effect.flatMap(core.OperationAdministration, use), mutation)
}

const WALLET = /^0x[0-9a-f]{40}$/i
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export const OPERATIONS_LIST = defineCommand(
  {
    name: "operations list",
    summary: "Show paid operations, newest first",
    description:
      "Reads the paid operations of all tenants from the database. --state open shows those that are not final. Needs DATABASE_URL or AGENTOS_DATA_DIR only; an embedded database has one user at a time.",
    arguments: [],
    flags: [
      {
        name: "state",
        type: "text",
        value: "STATE",
        summary: "Only operations in this state; open: in any that is not final.",
        choices: [
          "open",
          "claimed",
          "settling",
          "settled",
          "fulfilling",
          "refused",
          "refund_due",
          "fulfilled",
          "unpaid",
          "refunded"
        ]
      },
      { name: "tenant", type: "text", value: "TENANT", summary: "Only operations of this tenant: its wallet or id." },
      {
        name: "older-than",
        type: "integer",
        value: "MINUTES",
        summary: "Only operations that were claimed at least so long ago.",
        minimum: 0,
        maximum: 5_256_000
      },
      { name: "payer", type: "text", value: "WALLET", summary: "Only operations that this wallet paid." },
      {
        name: "limit",
        type: "integer",
        value: "N",
        summary: "Maximum number of operations.",
        default: 20,
        minimum: 1,
        maximum: 100
      },
      { name: "cursor", type: "text", value: "CURSOR", summary: "Continue after the operation with this id." }
    ],
    examples: [
      { line: "agentos-server operations list --state open --older-than 10", does: "Find an operation that is stuck" },
      {
        line: "agentos-server operations list --payer 0x4aA349036473103028d92Dd5B906027B64B85A94",
        does: "Answer a question about a payment"
      }
    ],
    output: "rows",
    json: `{items: [{${REPORT}}], nextCursor}`,
    exits: []
  },
  async (context, { flags: { cursor, limit, payer, state, tenant, ...flags } }) => {
    const olderThanMinutes = flags["older-than"]
    const isFinal = state === "fulfilled" || state === "unpaid" || state === "refunded"
    if (isFinal && payer === undefined && tenant === undefined) {
      throw new Failure({ code: "USAGE", message: `--state ${state} needs --payer or --tenant.` })
    }
    if (payer !== undefined && !WALLET.test(payer)) {
      throw new Failure({ code: "USAGE", message: `--payer must be 0x and 40 hexadecimal digits: ${payer}` })
    }
    if (cursor !== undefined && !UUID.test(cursor)) {
      throw new Failure({ code: "USAGE", message: `--cursor must be the id of an operation: ${cursor}` })
    }
    const page = await onOperations(context, ({ list }) =>
      list({
        limit,
        ...(state === undefined ? {} : { state }),
        ...(payer === undefined ? {} : { payer }),
        ...(tenant === undefined ? {} : { tenant }),
        ...(olderThanMinutes === undefined ? {} : { olderThanMinutes }),
        ...(cursor === undefined ? {} : { cursor: cursor.toLowerCase() })
      })
    )
    const { output } = context
    output.table(
      page,
      page.items,
      [
        { heading: "OPERATION", value: ({ operationId }) => operationId, whole: true },
        { heading: "STATE", value: ({ state: at }) => at, whole: true },
        {
          heading: "UPDATED",
          value: ({ updatedAt }) => updatedAt,
          shown: ({ updatedAt }) => shownMinute(updatedAt),
          whole: true
        },
        { heading: "NEXT", value: ({ nextAttempt }) => nextAttempt?.kind, whole: true },
        { heading: "SERVICE", value: ({ serviceId }) => serviceId, whole: true, drop: 1 },
        { heading: "PAYER", value: ({ payer: wallet }) => wallet, whole: true, drop: 2 },
        { heading: "LAST FAILED ATTEMPT", value: ({ failedAttempt }) => failedAttempt?.reason, drop: 0 }
      ],
      "No operations."
    )
    if (page.nextCursor !== null) output.note(`More operations: --cursor ${page.nextCursor}`)
  }
)

const ID = { name: "id", summary: "Id of the operation.", presence: "required" } as const

export const OPERATIONS_SHOW = defineCommand(
  {
    name: "operations show",
    summary: "Show one paid operation with its timeline",
    description:
      "Shows the state of an operation, where its money is, why it failed, how often and why it was tried in vain, when it is worked on next, and what happened to it since its claim, actions of operators included. Needs DATABASE_URL or AGENTOS_DATA_DIR only; an embedded database has one user at a time.",
    arguments: [ID],
    flags: [],
    examples: [
      {
        line: "agentos-server operations show 019ab1c0-5f3e-7b01-9d52-0c6f1f4e7a90",
        does: "See why an operation waits"
      }
    ],
    output: "record",
    json: `{${REPORT}, timeline: [{at, event, transaction, actor, outcome, reason}]}`,
    exits: [5]
  },
  async (context, { arguments: { id } }) => {
    const operation = await onOperations(context, ({ find }) => find(id.toLowerCase()))
    context.output.record(operation, [...fieldsOf(operation), ...operation.timeline.map(momentOf)])
  }
)

const momentOf = ({ actor, at, event, outcome, reason, transaction }: TimelineEntry): Field => [
  shownTime(at),
  [event, transaction, actor && `by ${actor}`, outcome, reason].filter(Boolean).join(" ")
]

export const OPERATIONS_RETRY = defineCommand(
  {
    name: "operations retry",
    summary: "Let a server work on an open operation at once",
    description:
      "Makes an open operation due, so that a server takes it over within seconds instead of at its next attempt. Changes nothing else. Refuses a final operation, and one that a worker holds. Works on the database: the operation waits for a server that runs, or for the next one that starts. An embedded database has one user at a time.",
    arguments: [ID],
    flags: [{ name: "yes", short: "y", type: "boolean", summary: "Retry without confirmation." }, REASON_FLAG],
    examples: [
      {
        line: "agentos-server operations retry 019ab1c0-5f3e-7b01-9d52-0c6f1f4e7a90",
        does: "After the cause of the failure is fixed"
      }
    ],
    output: "record",
    json: `{${REPORT}}`,
    exits: [2, 5, 6]
  },
  async (context, { arguments: { id }, flags: { reason, yes } }) => {
    const mutation = { action: "operation.retry", target: id.toLowerCase(), reason: await reasonOf(reason) }
    await confirm(context, yes, `Retry the operation ${id} now? [y/N] `, "Cancelled. Nothing was changed.")
    const operation = await onOperations(context, ({ retry }) => retry(id.toLowerCase()), mutation)
    context.output.record(operation, fieldsOf(operation))
  }
)

const HASH = /^0x[0-9a-f]{64}$/i

/** Returns the transaction that a flag or an argument names. */
const transactionOf = (name: string, text: string | undefined): string => {
  if (text !== undefined && HASH.test(text)) return text
  throw new Failure({ code: "USAGE", message: `${name} must be a transaction: 0x and 64 hexadecimal digits.` })
}

const TX = {
  name: "tx",
  type: "text",
  value: "HASH",
  summary: "Required. The transaction that sent the money."
} as const
const CHECKED =
  "The chain must show, in a final block, a transfer of the token to the payer of at least the amount, from any wallet, that no other refund has. Repeating the command changes nothing. Uses the whole configuration; an embedded database has one user at a time."

export const OPERATIONS_REFUND = defineCommand(
  {
    name: "operations refund",
    summary: "Record a refund that you made yourself",
    description: `Completes an operation whose refund is due after you sent the money to its payer. ${CHECKED}`,
    arguments: [ID],
    flags: [TX, REASON_FLAG, { name: "yes", short: "y", type: "boolean", summary: "Record without confirmation." }],
    examples: [
      {
        line: "agentos-server operations refund 019ab1c0-5f3e-7b01-9d52-0c6f1f4e7a90 --tx 0x5d1f…",
        does: "After the refund wallet was lost"
      }
    ],
    output: "record",
    json: `{${REPORT}}`,
    exits: [2, 5, 6]
  },
  async (context, { arguments: { id }, flags: { reason, tx, yes } }) => {
    const transaction = transactionOf("--tx", tx)
    const given = await reasonOf(reason)
    await confirm(context, yes, `Record the refund of ${id}? [y/N] `, "Cancelled. Nothing was changed.")
    const { refundOperation } = await import("../program/Maintenance.ts")
    const operation = await withConfiguration(context, (config) =>
      refundOperation(config, id.toLowerCase(), transaction, given)
    )
    context.output.record(operation, fieldsOf(operation))
  }
)

export const TRANSFERS_RETURN = defineCommand(
  {
    name: "transfers return",
    summary: "Record that you returned an unclaimed transfer",
    description: `Closes a transfer that ledger reports as unclaimed after you sent the money back. ${CHECKED} If the payer presents the payment later, it counts as refunded. Reads all operations, as ledger does.`,
    arguments: [{ name: "received", summary: "The transaction that ledger reports.", presence: "required" }],
    flags: [
      TX,
      { name: "wallet", type: "text", value: "WALLET", summary: "The payer, if the transaction has several." },
      REASON_FLAG,
      { name: "yes", short: "y", type: "boolean", summary: "Record without confirmation." }
    ],
    examples: [
      { line: "agentos-server transfers return 0x8a3c… --tx 0x5d1f…", does: "After a mistaken transfer was sent back" }
    ],
    output: "record",
    json: "{network, wallet, receivedTransaction, transaction, baseUnits}",
    exits: [2, 6]
  },
  async (context, { arguments: { received }, flags: { reason, tx, wallet, yes } }) => {
    const transfer = { transaction: transactionOf("RECEIVED", received), wallet }
    const transaction = transactionOf("--tx", tx)
    const given = await reasonOf(reason)
    await confirm(context, yes, `Record the return of ${received}? [y/N] `, "Cancelled. Nothing was changed.")
    const { returnTransfer } = await import("../program/Maintenance.ts")
    const returned = await withConfiguration(context, (config) => returnTransfer(config, transfer, transaction, given))
    context.output.record(returned, [
      ["Wallet", returned.wallet],
      ["Network", returned.network],
      ["Received", returned.receivedTransaction],
      ["Returned", returned.transaction],
      ["Base units", returned.baseUnits]
    ])
  }
)
