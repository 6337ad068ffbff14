import type { OperatorRecord } from "@agentos/core"
import { Failure, type Field } from "@agentos/node/command-line"
import {
  confirm,
  defineCommand,
  onDatabase,
  readFlags,
  REASON_FLAG,
  reasonOf,
  type ServerCommandContext,
  shownTime
} from "./ServerCommand.ts"

const OPERATOR = "name, role, createdAt, expiresAt"
const NEEDS =
  "Works on the database, beside servers on PostgreSQL, which follow within 5 s. An embedded database has one user at a time: use the routes /internal/operators while its server runs."

const NAME = { name: "name", summary: "Name of the operator.", presence: "required" } as const
const EXPIRES = {
  name: "expires-in-days",
  type: "integer",
  value: "DAYS",
  summary: "When the token ends. Without it: never.",
  minimum: 1,
  maximum: 3_650
} as const

const fieldsOf = ({ createdAt, expiresAt, name, role }: OperatorRecord): ReadonlyArray<Field> => [
  ["Operator", name],
  ["Role", role],
  ["Created", shownTime(createdAt)],
  ["Expires", expiresAt && shownTime(expiresAt)]
]

/** Shows a new token: the only place where it appears. */
const showToken = ({ output }: ServerCommandContext, operator: OperatorRecord, token: string): void => {
  output.record({ ...operator, token }, [...fieldsOf(operator), ["Token", token]])
  output.note("The token is not shown again.")
}

const newToken = async () => {
  const { newOperatorToken } = await import("../Secrets.ts")
  const { operatorTokenDigest } = await import("@agentos/http-server")
  const token = newOperatorToken()
  return { token, digest: operatorTokenDigest(token) }
}

const expiry = (days: number | undefined) => (days === undefined ? {} : { expiresInDays: days })

export const OPERATORS_LIST = defineCommand(
  {
    name: "operators list",
    summary: "Show the operators",
    description: `Shows the operators with a token of their own, and their roles. The operator default, whose token is AGENTOS_OPERATOR_TOKEN, is not among them. ${NEEDS}`,
    examples: [{ line: "agentos-server operators list", does: "See who may do what, and until when" }],
    output: "rows",
    json: `{items: [{${OPERATOR}}]}`
  },
  async (context) => {
    const { Effect } = await import("effect")
    const items = await onDatabase(context, ({ Operators }) => Effect.flatMap(Operators, ({ list }) => list))
    context.output.table(
      { items },
      items,
      [
        { heading: "OPERATOR", value: ({ name }) => name, whole: true },
        { heading: "ROLE", value: ({ role }) => role, whole: true },
        {
          heading: "EXPIRES",
          value: ({ expiresAt }) => expiresAt,
          shown: ({ expiresAt }) => expiresAt && shownTime(expiresAt)
        }
      ],
      "No operators but default."
    )
  }
)

export const OPERATORS_ADD = defineCommand(
  {
    name: "operators add",
    summary: "Add an operator, and print its token",
    description: `Adds an operator with a token of its own for the routes /internal. read sees everything that has no content; support also acts on tenants, jobs and operations; money also refunds, stops sales, erases tenants and manages operators. The database keeps only a hash of the token. ${NEEDS}`,
    arguments: [NAME],
    flags: [
      { name: "role", type: "text", value: "ROLE", summary: "Required.", choices: ["read", "support", "money"] },
      EXPIRES,
      REASON_FLAG
    ],
    examples: [
      {
        line: "agentos-server operators add prometheus --role read",
        does: "Let a program read the metrics, and no more"
      }
    ],
    output: "record",
    json: `{${OPERATOR}, token}`,
    exits: [6]
  },
  async (context, { arguments: { name }, flags: { reason, role, ...flags } }) => {
    const { Effect, Schema } = await import("effect")
    const { AddOperatorInput } = await import("@agentos/core")
    const input = { name, role, ...expiry(flags["expires-in-days"]) }
    if (role === undefined) throw new Failure({ code: "USAGE", message: "--role is missing: read, support or money." })
    if (!Schema.is(AddOperatorInput)(input)) {
      throw new Failure({
        code: "USAGE",
        message: `NAME must be up to 63 lower-case letters, digits, dots, hyphens and underscores, and not default: ${name}`
      })
    }
    const { digest, token } = await newToken()
    const added = await onDatabase(
      context,
      ({ Operators }) => Effect.flatMap(Operators, ({ add }) => add(input, digest)),
      { action: "operator.add", target: name, reason: await reasonOf(reason) }
    )
    showToken(context, added, token)
  }
)

export const OPERATORS_ROTATE = defineCommand(
  {
    name: "operators rotate",
    summary: "Replace the token of an operator",
    description: `Prints a new token; every server refuses the old one within 5 s. For an overlap, add a second operator instead. ${NEEDS}`,
    arguments: [NAME],
    flags: [EXPIRES, REASON_FLAG],
    examples: [{ line: "agentos-server operators rotate prometheus", does: "After the token has leaked" }],
    output: "record",
    json: `{${OPERATOR}, token}`,
    exits: [5]
  },
  async (context, { arguments: { name }, flags: { reason, ...flags } }) => {
    const { Effect } = await import("effect")
    const { digest, token } = await newToken()
    const rotated = await onDatabase(
      context,
      ({ Operators }) =>
        Effect.flatMap(Operators, ({ rotate }) => rotate(name, expiry(flags["expires-in-days"]), digest)),
      { action: "operator.rotate", target: name, reason: await reasonOf(reason) }
    )
    showToken(context, rotated, token)
  }
)

export const OPERATORS_REMOVE = defineCommand(
  {
    name: "operators remove",
    summary: "Remove an operator",
    description: `Every server refuses the operator's token within 5 s. ${NEEDS}`,
    arguments: [NAME],
    flags: [{ name: "yes", short: "y", type: "boolean", summary: "Remove without confirmation." }, REASON_FLAG],
    examples: [{ line: "agentos-server operators remove ada", does: "When a person leaves" }],
    output: "record",
    json: `{${OPERATOR}}`,
    exits: [2, 5]
  },
  async (context, { arguments: { name }, flags: { reason, yes } }) => {
    const { Effect } = await import("effect")
    const mutation = { action: "operator.remove", target: name, reason: await reasonOf(reason) }
    await confirm(context, yes, `Remove the operator ${name}? [y/N] `, "Cancelled. Nothing was changed.")
    const removed = await onDatabase(
      context,
      ({ Operators }) => Effect.flatMap(Operators, ({ remove }) => remove(name)),
      mutation
    )
    context.output.record(removed, fieldsOf(removed))
  }
)

export const AUDIT_LIST = defineCommand(
  {
    name: "audit list",
    summary: "Show what operators changed, newest first",
    description: `Shows one record for each change by a route or a command, also for those that failed. Records can't be changed, and are kept for a year at least. ${NEEDS}`,
    flags: [
      { name: "actor", type: "text", value: "NAME", summary: "Only those by this operator, or command:USER." },
      { name: "target", type: "text", value: "TEXT", summary: "Only those of this id, name or wallet." },
      {
        name: "limit",
        type: "integer",
        value: "N",
        summary: "Maximum number of records.",
        default: 20,
        minimum: 1,
        maximum: 100
      },
      { name: "cursor", type: "text", value: "CURSOR", summary: "Continue after the record with this id." }
    ],
    examples: [{ line: "agentos-server audit list --actor ada", does: "See what an operator did" }],
    output: "rows",
    json: "{items: [{auditId, at, actor, action, target, reason, before, after, outcome, failure}], nextCursor}"
  },
  async (context, { flags: { actor, cursor, limit, target } }) => {
    const { QueryAuditInput } = await import("@agentos/core")
    const query = await readFlags(QueryAuditInput, { actor, cursor, limit, target })
    const page = await onDatabase(context, ({ listAudit }) => listAudit(query))
    const { output } = context
    output.table(
      page,
      page.items,
      [
        { heading: "TIME", value: ({ at }) => at, shown: ({ at }) => shownTime(at), whole: true },
        { heading: "ACTOR", value: ({ actor: name }) => name, whole: true },
        { heading: "ACTION", value: ({ action }) => action, whole: true },
        { heading: "TARGET", value: ({ target: of }) => of, whole: true },
        { heading: "OUTCOME", value: ({ outcome }) => outcome, whole: true },
        { heading: "REASON", value: ({ failure, reason }) => failure ?? reason, wraps: true }
      ],
      "No records."
    )
    if (page.nextCursor !== null) output.note(`More records: --cursor ${page.nextCursor}`)
  }
)
