import { Failure, usageError } from "@agentos/node/command-line"
import { TYPES_FLAG, typesOf } from "../context/Flags.ts"
import { readSecret } from "../host/Host.ts"
import { timeColumn, timeOf } from "../output/Wording.ts"
import type { CallInput, DataOf } from "../server/Server.ts"
import { defineCommand } from "./Command.ts"
import { clientOf } from "./Resources.ts"

type WebhookTypes = NonNullable<NonNullable<CallInput<"setEventWebhook">["payload"]>["types"]>

const webhookFields = (webhook: DataOf<"getEventWebhook">["webhook"]) =>
  [
    ["Webhook", webhook.webhookId],
    ["URL", webhook.url],
    ["Types", webhook.types === null ? "all" : webhook.types.join(", ")],
    ["Status", webhook.status],
    ["Created", timeOf(webhook.createdAt)],
    ["Updated", timeOf(webhook.updatedAt)],
    ["Paused", timeOf(webhook.pausedAt)]
  ] as const

export const WEBHOOK_SET = defineCommand(
  {
    name: "webhook set",
    summary: "Set the URL that receives your events",
    description:
      "Sets the webhook, or replaces it, and resumes paused deliveries. The same URL keeps its signing secret. Deliveries are signed per Standard Webhooks; a 2xx response acknowledges the event. The secret is shown on a terminal and with --json, but not piped as text. Nothing is paid.",
    arguments: [
      {
        name: "url",
        summary: "https:// URL at a public address; in the sandbox also http:// at this machine.",
        presence: "required"
      }
    ],
    flags: [
      TYPES_FLAG,
      {
        name: "rotate-secret",
        type: "boolean",
        summary: "Make a new secret although the URL stays. The old one signs too for 24 hours."
      }
    ],
    examples: [
      { line: "agentctl webhook set https://agent.example/events", does: "Receive all events" },
      {
        line: "agentctl webhook set http://localhost:3000/events",
        does: "Receive them on this machine, in the sandbox"
      },
      {
        line: "agentctl webhook set https://agent.example/mail --types email.received --json",
        does: "Receive mail events, and read the secret in a script"
      }
    ],
    output: "record",
    json: "{webhook, signingSecret}",
    exits: [4, 9]
  },
  async (context, { arguments: { url }, flags }) => {
    const { host, output } = context
    // The server checks them: it may know more types than this version.
    const types = typesOf(flags.types) as WebhookTypes
    if (!output.options.json && !host.stdout.isTerminal)
      throw usageError("The signing secret is not printed to a pipe. Pass --json, or use a terminal. Nothing was done.")
    const client = await clientOf(context)
    const data = await client.call("setEventWebhook", {
      payload: {
        url,
        ...(types.length === 0 ? {} : { types }),
        ...(flags["rotate-secret"] ? { rotateSecret: true } : {})
      }
    })
    output.record(data, [...webhookFields(data.webhook), ["Signing secret", data.signingSecret]])
    output.warn(
      "Store the signing secret: your endpoint uses it to verify deliveries. Only setting the same URL shows it again."
    )
  }
)

export const WEBHOOK_SHOW = defineCommand(
  {
    name: "webhook show",
    summary: "Show the webhook and whether it is paused",
    description: "The signing secret is not shown again.",
    examples: [{ line: "agentctl webhook show", does: "Show the webhook" }],
    output: "record",
    json: "{webhook}",
    exits: [4, 5, 9]
  },
  async (context) => {
    const data = await (await clientOf(context)).call("getEventWebhook")
    context.output.record(data, webhookFields(data.webhook))
  }
)

export const WEBHOOK_DELETE = defineCommand(
  {
    name: "webhook delete",
    summary: "Stop deliveries to the webhook",
    description: "Pending events stay, and can be received with agentctl events tail.",
    examples: [{ line: "agentctl webhook delete", does: "Delete the webhook" }],
    output: "record",
    json: "{webhookId, deleted}",
    exits: [4, 5, 9]
  },
  async (context) => {
    const data = await (await clientOf(context)).call("deleteEventWebhook")
    context.output.record(data, [
      ["Webhook", data.webhookId],
      ["Deleted", "yes"]
    ])
  }
)

export const WEBHOOK_LOG = defineCommand(
  {
    name: "webhook log",
    summary: "List the last 100 deliveries, newest first",
    description: "Shows the response to each attempt, and when a failed one is repeated.",
    examples: [{ line: "agentctl webhook log", does: "Find out why deliveries fail" }],
    output: "rows",
    json: "{items: [delivery]}",
    exits: [4, 5, 9]
  },
  async (context) => {
    const data = await (await clientOf(context)).call("listWebhookDeliveries")
    context.output.table(
      data,
      data.items,
      [
        timeColumn("TIME", ({ createdAt }) => createdAt),
        { heading: "TYPE", value: ({ type }) => type, whole: true },
        { heading: "ATTEMPT", value: ({ attempt }) => attempt, whole: true, drop: 1 },
        { heading: "OUTCOME", value: ({ outcome }) => outcome, whole: true },
        { heading: "RESPONSE", value: ({ error, responseStatus }) => responseStatus ?? error },
        timeColumn("NEXT", ({ nextAttemptAt }) => nextAttemptAt, 2),
        { heading: "EVENT", value: ({ eventId }) => eventId, id: true }
      ],
      "No deliveries."
    )
  }
)

const TEST_TIMEOUT_MILLIS = 10_000

export const WEBHOOK_TEST = defineCommand(
  {
    name: "webhook test",
    summary: "Send a signed sample event to your endpoint from this machine",
    description: `Shows whether the endpoint verifies the signature and answers 2xx. Reads the signing secret from AGENTOS_WEBHOOK_SECRET, standard input or a prompt. The sample is a payment.completed event with test data, which the service does not know; nothing is acknowledged.`,
    arguments: [{ name: "url", summary: "URL of the endpoint. By default that of the webhook.", presence: "optional" }],
    examples: [
      { line: "agentctl webhook test", does: "Test the webhook" },
      { line: "agentctl webhook test http://localhost:3000/events < secret.txt", does: "Test an endpoint locally" }
    ],
    output: "record",
    json: "{url, status, accepted}",
    exits: [2, 4, 5, 9]
  },
  async (context, { arguments: { url: given } }) => {
    const { randomUUID } = await import("node:crypto")
    const { checkSecret, SECRET_VARIABLE, signedHeaders } = await import("../tail/Signing.ts")
    const { host, output } = context
    if (given !== undefined && !(URL.canParse(given) && /^https?:$/.test(new URL(given).protocol)))
      throw usageError(`URL must be an http:// or https:// URL, not "${given}".`)
    const secret = checkSecret(await readSecret(host, SECRET_VARIABLE, "Signing secret: "))
    const url = given ?? (await (await clientOf(context)).call("getEventWebhook")).webhook.url
    const createdAt = new Date(host.now()).toISOString()
    const eventId = randomUUID()
    const body = JSON.stringify({
      eventId,
      type: "payment.completed",
      status: "pending",
      source: "agentctl",
      service: "payment",
      resourceId: eventId,
      agentId: eventId,
      createdAt,
      deliveredAt: null,
      acknowledgedAt: null,
      expiresAt: createdAt,
      deliveryCount: 1,
      payload: { test: true }
    })
    const response = await fetch(url, {
      method: "POST",
      redirect: "manual",
      headers: signedHeaders(secret, eventId, body, host.now()),
      body,
      signal: AbortSignal.any([host.signal, AbortSignal.timeout(TEST_TIMEOUT_MILLIS)])
    }).catch((error: unknown) => {
      if (host.signal.aborted) throw error
      throw new Failure({ code: "UNREACHABLE", message: `The endpoint ${url} does not answer.` })
    })
    await response.body?.cancel()
    const { ok, status } = response
    output.record({ url, status, accepted: ok }, [
      ["URL", url],
      ["Response", status],
      ["Accepted", ok ? "yes" : "no"]
    ])
    if (!ok)
      throw new Failure({ code: "FAILED", message: `The endpoint answered ${status}; only 2xx acknowledges an event.` })
  }
)
