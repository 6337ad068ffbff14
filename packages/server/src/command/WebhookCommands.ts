import { Failure } from "@agentos/node/command-line"
import {
  confirm,
  defineCommand,
  NEEDS,
  onDatabase,
  PAGE_FLAGS,
  readFlags,
  REASON_FLAG,
  reasonOf,
  shownTime
} from "./ServerCommand.ts"

const WEBHOOK_FLAG = {
  name: "webhook",
  type: "text",
  value: "ID",
  summary: "Only the webhook with this id."
} as const

export const WEBHOOKS_DELIVERIES = defineCommand(
  {
    name: "webhooks deliveries",
    summary: "Show event webhooks and their deliveries",
    description: `Shows the event webhooks of all tenants: whether they fail or are paused, how many events wait for a retry, when the next attempt is, and how the last one ended. Of their URLs only the host. ${NEEDS}`,
    flags: [
      {
        name: "state",
        type: "text",
        value: "STATE",
        summary:
          "due: its time has come; failing: an attempt failed since the last success; paused: after three days of failures.",
        choices: ["due", "failing", "paused"]
      },
      WEBHOOK_FLAG,
      { name: "tenant", type: "text", value: "TENANT", summary: "Only that of this tenant: its wallet or id." },
      ...PAGE_FLAGS
    ],
    examples: [
      { line: "agentos-server webhooks deliveries --state failing", does: "Find endpoints that do not answer" }
    ],
    output: "rows",
    json: "{items: [{webhookId, tenantId, host, state: active|failing|paused, failures, waitingRetries, nextAttempt: {kind: leased|scheduled|due, at}, lastDelivery: {deliveryId, eventId, type, attempt, createdAt, durationMillis, outcome, responseStatus, error, nextAttemptAt}}], nextCursor}"
  },
  async (context, { flags: { webhook: webhookId, ...flags } }) => {
    const [{ Effect }, { QueryWebhooksInput }] = await Promise.all([import("effect"), import("@agentos/core")])
    const query = await readFlags(QueryWebhooksInput, { ...flags, webhookId })
    const page = await onDatabase(context, ({ WebhookAdministration }) =>
      Effect.flatMap(WebhookAdministration, ({ list }) => list(query))
    )
    const { output } = context
    output.table(
      page,
      page.items,
      [
        { heading: "WEBHOOK", value: ({ webhookId: id }) => id, whole: true },
        { heading: "STATE", value: ({ state }) => state, whole: true },
        { heading: "WAITING", value: ({ waitingRetries }) => waitingRetries, whole: true },
        {
          heading: "LAST",
          value: ({ lastDelivery }) => lastDelivery?.responseStatus ?? lastDelivery?.outcome,
          whole: true
        },
        {
          heading: "NEXT",
          value: ({ nextAttempt }) => nextAttempt?.at,
          shown: ({ nextAttempt }) => nextAttempt && shownTime(nextAttempt.at)
        },
        { heading: "HOST", value: ({ host }) => host, drop: 1 }
      ],
      "No webhooks."
    )
    if (page.nextCursor !== null) output.note(`More webhooks: --cursor ${page.nextCursor}`)
  }
)

export const WEBHOOKS_REDELIVER = defineCommand(
  {
    name: "webhooks redeliver",
    summary: "Send the events again that a webhook did not accept",
    description: `Ends the pause and the retry delays of an event webhook, or of all that fail, and makes its failed events since a time pending again. Servers then send each event that was not accepted, oldest first, under the id that it had. An accepted event is not sent again. Up to 1,000 events and 100 webhooks at a time. ${NEEDS}`,
    flags: [
      {
        name: "since",
        type: "text",
        value: "TIME",
        summary: "Required. Events that were created since then, for example 2026-01-31T12:00:00Z."
      },
      WEBHOOK_FLAG,
      {
        name: "limit",
        type: "integer",
        value: "N",
        summary: "Maximum number of events.",
        default: 1_000,
        minimum: 1,
        maximum: 1_000
      },
      { name: "dry-run", type: "boolean", summary: "Count the events. Changes nothing." },
      { name: "yes", short: "y", type: "boolean", summary: "Go on without confirmation." },
      REASON_FLAG
    ],
    examples: [
      {
        line: "agentos-server webhooks redeliver --since 2026-01-31T12:00:00Z --dry-run",
        does: "Count what the outage of an endpoint has left"
      }
    ],
    output: "rows",
    json: "{items: [{webhookId, tenantId, host, state: active|failing|paused, failed, waiting}], isWhole}",
    exits: [2, 5]
  },
  async (context, { flags: { limit, reason, since, webhook: webhookId, yes, ...flags } }) => {
    if (since === undefined)
      throw new Failure({ code: "USAGE", message: "--since is missing: the time of the first event." })
    const [{ Effect }, { RedeliverInput }] = await Promise.all([import("effect"), import("@agentos/core")])
    const input = await readFlags(RedeliverInput, { since, webhookId, limit })
    const isDry = flags["dry-run"]
    const mutation = { action: "webhooks.redeliver", target: webhookId ?? null, reason: await reasonOf(reason) }
    if (!isDry) {
      const which = webhookId === undefined ? "all webhooks that fail" : `the webhook ${webhookId}`
      await confirm(context, yes, `Send events to ${which} again? [y/N] `, "Cancelled. Nothing was changed.")
    }
    const report = await onDatabase(
      context,
      ({ WebhookAdministration }) =>
        Effect.flatMap(WebhookAdministration, ({ preview, redeliver }) => (isDry ? preview(input) : redeliver(input))),
      isDry ? undefined : mutation
    )
    const { output } = context
    output.table(
      report,
      report.items,
      [
        { heading: "WEBHOOK", value: ({ webhookId: id }) => id, whole: true },
        { heading: "STATE", value: ({ state }) => state, whole: true },
        { heading: "FAILED", value: ({ failed }) => failed, whole: true },
        { heading: "WAITING", value: ({ waiting }) => waiting, whole: true },
        { heading: "HOST", value: ({ host }) => host, drop: 1 }
      ],
      "No webhook fails or is paused."
    )
    if (!report.isWhole) output.note("There is more. Repeat the command once these were delivered.")
  }
)
