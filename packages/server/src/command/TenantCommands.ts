import type {
  ErasureReport,
  Page,
  RetainedData,
  RetentionPeriod,
  SetRetentionInput,
  TenantContents,
  TenantRecord
} from "@agentos/core"
import { Failure, type Field } from "@agentos/node/command-line"
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import {
  confirm,
  defineCommand,
  NEEDS,
  onDatabase,
  onStorage,
  PAGE_FLAGS,
  readFlags,
  REASON_FLAG,
  reasonOf,
  type ServerCommandContext,
  shownTime
} from "./ServerCommand.ts"

const TENANT = { name: "tenant", summary: "Wallet or id of the tenant.", presence: "required" } as const
const RECORD = "tenantId, wallet, createdAt, suspension: {at, reason}"
const CONTENTS = "contents: {mailboxes, messages, events, calls, numbers, operations}"

const RETAINED_DATA = [
  "messages",
  "calls",
  "transcripts",
  "events",
  "answers"
] as const satisfies ReadonlyArray<RetainedData>

const list = async (
  context: ServerCommandContext,
  query: { readonly limit: number; readonly cursor?: string | undefined; readonly matching?: string }
) => {
  const { QueryTenantsInput } = await import("@agentos/core")
  const input = await readFlags(QueryTenantsInput, query)
  const page: Page<TenantRecord> = await onDatabase(context, ({ listTenants }) => listTenants(input))
  const { output } = context
  output.table(
    page,
    page.items,
    [
      { heading: "TENANT", value: ({ tenantId }) => tenantId, whole: true },
      { heading: "WALLET", value: ({ wallet }) => wallet, whole: true },
      { heading: "CREATED", value: ({ createdAt }) => createdAt, shown: ({ createdAt }) => shownTime(createdAt) },
      { heading: "SUSPENDED", value: ({ suspension }) => suspension?.reason }
    ],
    "No tenants."
  )
  if (page.nextCursor !== null) output.note(`More tenants: --cursor ${page.nextCursor}`)
}

export const TENANTS_LIST = defineCommand(
  {
    name: "tenants list",
    summary: "Show the tenants, newest first",
    description: `Shows the wallets that have bought something. ${NEEDS}`,
    arguments: [],
    flags: PAGE_FLAGS,
    examples: [{ line: "agentos-server tenants list", does: "See the newest customers" }],
    output: "rows",
    json: `{items: [{${RECORD}}], nextCursor}`,
    exits: []
  },
  (context, { flags }) => list(context, flags)
)

export const TENANTS_SEARCH = defineCommand(
  {
    name: "tenants search",
    summary: "Find the tenant of a wallet, an address or a number",
    description: `Finds tenants by a wallet, an id, an address or local part of a mailbox, or a number such as +14155550100. ${NEEDS}`,
    arguments: [{ name: "text", summary: "What the tenant has, in full.", presence: "required" }],
    flags: PAGE_FLAGS,
    examples: [{ line: "agentos-server tenants search ada@agents.example.com", does: "Answer a complaint" }],
    output: "rows",
    json: `{items: [{${RECORD}}], nextCursor}`,
    exits: []
  },
  (context, { arguments: { text }, flags }) => list(context, { ...flags, matching: text })
)

const contentFields = ({ calls, events, mailboxes, messages, numbers, operations }: TenantContents) =>
  [
    ["Mailboxes", mailboxes],
    ["Messages", messages],
    ["Events", events],
    ["Calls", calls],
    ["Numbers", numbers],
    ["Operations", operations]
  ] satisfies ReadonlyArray<Field>

export const TENANTS_SHOW = defineCommand(
  {
    name: "tenants show",
    summary: "Show a tenant, and how much it has",
    description: `Shows a tenant with its suspension and the number of its resources. Shows no content. ${NEEDS}`,
    arguments: [TENANT],
    flags: [],
    examples: [
      { line: "agentos-server tenants show 0x4aA349036473103028d92Dd5B906027B64B85A94", does: "See a customer's size" }
    ],
    output: "record",
    json: `{${RECORD}, ${CONTENTS}}`,
    exits: [5]
  },
  async (context, { arguments: { tenant } }) => {
    const shown = await onDatabase(context, ({ showTenant }) => showTenant(tenant))
    const { contents, createdAt, suspension, tenantId, wallet } = shown
    context.output.record(shown, [
      ["Tenant", tenantId],
      ["Wallet", wallet],
      ["Created", shownTime(createdAt)],
      ["Suspended", suspension && `${shownTime(suspension.at)}: ${suspension.reason}`],
      ...contentFields(contents)
    ])
  }
)

const obstacleFields = ({ liveCalls, numbers, openOperations, waitingMails }: ErasureReport["obstacles"]) =>
  [
    ["Open operations", openOperations],
    ["Unreleased numbers", numbers],
    ["Live calls", liveCalls],
    ["Waiting mails", waitingMails]
  ] satisfies ReadonlyArray<Field>

export const TENANTS_ERASE = defineCommand(
  {
    name: "tenants erase",
    summary: "Erase the content and personal data of a tenant",
    description: `Suspends a tenant permanently, revokes its tokens, and erases its mailboxes, mail, events, webhooks, calls, transcripts and numbers, and the texts of its operations. The wallet and the amounts, transactions and times of its operations stay for the ledger. No one else gets its addresses. Refused while an operation is open, a number is not released, a call is live or a mail waits. ${NEEDS}`,
    arguments: [TENANT],
    flags: [
      { name: "dry-run", type: "boolean", summary: "Show what would be erased and what prevents it. Changes nothing." },
      REASON_FLAG,
      { name: "yes", short: "y", type: "boolean", summary: "Erase without confirmation." }
    ],
    examples: [
      { line: "agentos-server tenants erase 0x4aA349036473103028d92Dd5B906027B64B85A94 --dry-run", does: "Look first" }
    ],
    output: "record",
    json: `{tenantId, wallet, erased, ${CONTENTS}, obstacles: {openOperations, numbers, liveCalls, waitingMails}}`,
    exits: [2, 5, 6]
  },
  async (context, { arguments: { tenant }, flags: { reason, yes, ...flags } }) => {
    const { Effect } = await import("effect")
    const isDry = flags["dry-run"]
    const mutation = { action: "tenant.erase", target: tenant, reason: await reasonOf(reason) }
    if (!isDry) {
      await confirm(context, yes, `Erase the tenant ${tenant} permanently? [y/N] `, "Cancelled. Nothing was erased.")
    }
    const report = await onDatabase(
      context,
      ({ TenantErasure }) =>
        Effect.flatMap(TenantErasure, ({ erase, preview }) => (isDry ? preview(tenant) : erase(tenant))),
      isDry ? undefined : mutation
    )
    context.output.record(report, [
      ["Tenant", report.tenantId],
      ["Wallet", report.wallet],
      ["Erased", report.erased],
      ...contentFields(report.contents),
      ...(isDry ? obstacleFields(report.obstacles) : [])
    ])
  }
)

export const TENANTS_EXPORT = defineCommand(
  {
    name: "tenants export",
    summary: "Write everything of a tenant to a ZIP file",
    description: `Writes mailboxes, messages, events, calls, numbers, operations and suppressions as JSON lines, received mail as .eml, sent attachments, and a transcript for each call, to a new file that only you can read. It has no token and no secret. Written as it is read, so its size does not matter. ${NEEDS}`,
    arguments: [TENANT],
    flags: [
      { name: "output", type: "text", value: "FILE", summary: "Required. The new file.", completes: "file" },
      REASON_FLAG
    ],
    examples: [
      {
        line: "agentos-server tenants export 0x4aA349036473103028d92Dd5B906027B64B85A94 --output ada.zip",
        does: "Answer a request for access to personal data"
      }
    ],
    output: "record",
    json: "{tenantId, path, files}",
    exits: [5, 6]
  },
  async (context, { arguments: { tenant }, flags: { output: name, reason } }) => {
    if (name === undefined) throw new Failure({ code: "USAGE", message: "--output is missing: the file to write." })
    const path = resolve(context.host.workingDirectory, name)
    if (existsSync(path)) throw new Failure({ code: "EXISTS", message: `${path} exists already. Nothing was written.` })
    const given = await reasonOf(reason)
    const { exportTo } = await import("../program/Maintenance.ts")
    const exported = await onStorage(context, (config) => exportTo(config, tenant, path, given))
    context.output.record(exported, [
      ["Tenant", exported.tenantId],
      ["File", exported.path],
      ["Files in it", exported.files]
    ])
  }
)

export const TENANTS_RETENTION = defineCommand(
  {
    name: "tenants retention",
    summary: "Show or set how long the data of a tenant is kept",
    description: `Shows the periods of a tenant that differ from those of the configuration, or sets one with --data and --keep. The jobs use it from their next run on, within ten minutes, and delete older data permanently. ${NEEDS}`,
    arguments: [TENANT],
    flags: [
      {
        name: "data",
        type: "text",
        value: "DATA",
        choices: RETAINED_DATA,
        summary: "The data whose period to set; answers are those of paid operations."
      },
      {
        name: "keep",
        type: "text",
        value: "PERIOD",
        summary: "Days, or permanent, or default: the period of the configuration."
      },
      {
        name: "dry-run",
        type: "boolean",
        summary: "Count up to 1,000 rows that a period in days would delete. Changes nothing."
      },
      REASON_FLAG,
      { name: "yes", short: "y", type: "boolean", summary: "Set the period without confirmation." }
    ],
    examples: [
      {
        line: "agentos-server tenants retention 0x4aA349036473103028d92Dd5B906027B64B85A94",
        does: "See which data of a customer is kept for another time"
      }
    ],
    output: "rows",
    json: "{tenantId, items: [{data, keep}]}; with --dry-run {tenantId, data, keep, rows, hasMore}",
    exits: [2, 5]
  },
  async (context, { arguments: { tenant }, flags: { data, keep, reason, yes, ...flags } }) => {
    if ((data === undefined) !== (keep === undefined)) {
      throw new Failure({ code: "USAGE", message: "Give both --data and --keep to set a period, or neither." })
    }
    const { Effect } = await import("effect")
    const set = data !== undefined && keep !== undefined ? { data, keep: await periodOf(data, keep) } : undefined
    if (flags["dry-run"]) return await preview(context, tenant, set)
    if (set !== undefined) {
      const question = `Keep the ${data} of the tenant ${tenant} for: ${keep}? Older ones are deleted. [y/N] `
      await confirm(context, yes, question, "Cancelled. Nothing was changed.")
    }
    const report = await onDatabase(
      context,
      ({ TenantRetentions }) =>
        Effect.flatMap(TenantRetentions, (retentions) =>
          set === undefined ? retentions.show(tenant) : retentions.set(tenant, set)
        ),
      set && { action: "tenant.set-retention", target: tenant, reason: await reasonOf(reason) }
    )
    context.output.table(
      report,
      report.items,
      [
        { heading: "DATA", value: (item) => item.data, whole: true },
        { heading: "KEPT", value: (item) => (typeof item.keep === "number" ? `${item.keep} days` : item.keep) }
      ],
      "No data."
    )
  }
)

/** Shows how many rows a period would delete. */
const preview = async (context: ServerCommandContext, tenant: string, input: SetRetentionInput | undefined) => {
  if (typeof input?.keep !== "number") {
    throw new Failure({ code: "USAGE", message: "--dry-run needs --data, and --keep with a number of days." })
  }
  const { data, keep } = input
  const { Effect } = await import("effect")
  const previewed = await onDatabase(context, ({ TenantRetentions }) =>
    Effect.flatMap(TenantRetentions, (retentions) => retentions.preview(tenant, { data, keep }))
  )
  const { hasMore, rows } = previewed
  context.output.record(previewed, [
    ["Tenant", previewed.tenantId],
    ["Data", data],
    ["Would be deleted", hasMore ? `more than ${rows}` : rows]
  ])
}

/** Reads a period, as the route does. */
const periodOf = async (data: (typeof RETAINED_DATA)[number], text: string): Promise<RetentionPeriod> => {
  const { RETENTION_DAYS_MAX, RETENTION_DAYS_MIN } = await import("@agentos/core")
  if (text === "permanent" || text === "default") return text
  const [days, least] = [Number(text), RETENTION_DAYS_MIN[data]]
  if (Number.isInteger(days) && days >= least && days <= RETENTION_DAYS_MAX) return days
  throw new Failure({
    code: "USAGE",
    message: `--keep must be ${least} to ${RETENTION_DAYS_MAX} days for ${data}, or permanent, or default; it is ${text}.`
  })
}

export const SUPPRESSIONS_LIST = defineCommand(
  {
    name: "suppressions list",
    summary: "Show the addresses that a tenant can't write to",
    description: `Shows addresses that bounced or complained. ${NEEDS}`,
    arguments: [TENANT],
    flags: PAGE_FLAGS,
    examples: [
      {
        line: "agentos-server suppressions list 0x4aA349036473103028d92Dd5B906027B64B85A94",
        does: "See why a recipient is refused"
      }
    ],
    output: "rows",
    json: "{items: [{address, reason, createdAt}], nextCursor}",
    exits: [5]
  },
  async (context, { arguments: { tenant }, flags }) => {
    const { Effect } = await import("effect")
    const page = await onDatabase(context, ({ showTenant, Suppressions, toSuppressionRecord }) =>
      Effect.gen(function* () {
        const { tenantId } = yield* showTenant(tenant)
        const { items, nextCursor } = yield* (yield* Suppressions).list(tenantId, flags)
        return { items: items.map(toSuppressionRecord), nextCursor }
      })
    )
    const { output } = context
    output.table(
      page,
      page.items,
      [
        { heading: "ADDRESS", value: ({ address }) => address, whole: true },
        { heading: "REASON", value: ({ reason }) => reason, whole: true },
        { heading: "SINCE", value: ({ createdAt }) => createdAt, shown: ({ createdAt }) => shownTime(createdAt) }
      ],
      "No suppressions."
    )
    if (page.nextCursor !== null) output.note(`More suppressions: --cursor ${page.nextCursor}`)
  }
)

export const SUPPRESSIONS_REMOVE = defineCommand(
  {
    name: "suppressions remove",
    summary: "Let a tenant write to an address again",
    description: `Removes a suppression. A later bounce or complaint adds it again. The audit does not record the address. ${NEEDS}`,
    arguments: [TENANT, { name: "address", summary: "The suppressed address.", presence: "required" }],
    flags: [REASON_FLAG],
    examples: [
      {
        line: "agentos-server suppressions remove 0x4aA349036473103028d92Dd5B906027B64B85A94 bob@example.com",
        does: "After the recipient's mailbox was repaired"
      }
    ],
    output: "record",
    json: "{address, removed}",
    exits: [5]
  },
  async (context, { arguments: { address, tenant }, flags: { reason } }) => {
    if (!address.includes("@")) throw new Failure({ code: "USAGE", message: `ADDRESS is not an address: ${address}` })
    const { Effect } = await import("effect")
    const removed = await onDatabase(
      context,
      ({ liftSuppression, showTenant }) =>
        Effect.flatMap(showTenant(tenant), ({ tenantId }) => liftSuppression(tenantId, address)),
      { action: "suppression.lift", target: tenant, reason: await reasonOf(reason) }
    )
    context.output.record({ address, removed }, [
      ["Address", address],
      ["Removed", removed]
    ])
  }
)
