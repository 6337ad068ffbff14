import type { OperationAdministration, OperationReport, ReportedAttempt } from "@agentos/core"
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
  shownTime
} from "./ServerCommand.ts"

const REPORT =
  "operationId, serviceId, state, paymentState, payer, tenantId, network, price, baseUnits, token, transaction, refund, reason, nextAttempt: {kind: leased|scheduled|due, at}, createdAt, updatedAt"

/** Formats a time without its seconds. */
const shownMinute = (time: string) => shownTime(time).replace(/:\d\dZ$/, "Z")

const ATTEMPTS: Readonly<Record<ReportedAttempt["kind"], string>> = {
  leased: "a worker holds the lease until",
  scheduled: "scheduled for",
  due: "due since"
}

const fieldsOf = (operation: OperationReport): ReadonlyArray<Field> => {
  const { nextAttempt, price, reason, refund } = operation
  return [
    ["Operation", operation.operationId],
    ["Service", operation.serviceId],
    ["State", operation.state],
    ["Payment", operation.paymentState],
    ["Next attempt", nextAttempt && `${ATTEMPTS[nextAttempt.kind]} ${shownTime(nextAttempt.at)}`],
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
      "Reads the paid operations of all tenants from the database. --state open shows those that are not final. Find those in a final state by --payer. Needs DATABASE_URL or AGENTOS_DATA_DIR only; an embedded database has one user at a time.",
    arguments: [],
    flags: [
      {
        name: "state",
        type: "text",
        value: "STATE",
        summary: "Only operations in this state; open: in any that is not final.",
        choices: ["open", "claimed", "settling", "settled", "fulfilling", "refused", "refund_due"]
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
      { line: "agentos-server operations list --state open", does: "Find an operation that is stuck" },
      {
        line: "agentos-server operations list --payer 0x4aA349036473103028d92Dd5B906027B64B85A94",
        does: "Answer a question about a payment"
      }
    ],
    output: "rows",
    json: `{items: [{${REPORT}}], nextCursor}`,
    exits: []
  },
  async (context, { flags: { cursor, limit, payer, state } }) => {
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
        { heading: "PAYER", value: ({ payer: wallet }) => wallet, whole: true, drop: 2 }
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
    summary: "Show one paid operation",
    description:
      "Shows the state of an operation, where its money is, why it failed, and when it is worked on next. Needs DATABASE_URL or AGENTOS_DATA_DIR only; an embedded database has one user at a time.",
    arguments: [ID],
    flags: [],
    examples: [
      {
        line: "agentos-server operations show 019ab1c0-5f3e-7b01-9d52-0c6f1f4e7a90",
        does: "See why an operation waits"
      }
    ],
    output: "record",
    json: `{${REPORT}}`,
    exits: [5]
  },
  async (context, { arguments: { id } }) => {
    const operation = await onOperations(context, ({ find }) => find(id.toLowerCase()))
    context.output.record(operation, fieldsOf(operation))
  }
)

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
