import type { InboundMailReport, MailAdministration, OutboundMessageReport, ReportedAttempt } from "@agentos/core"
import { Failure, type Field } from "@agentos/node/command-line"
import type { Effect as Effects } from "effect"
import type { CommandMutation } from "../program/Maintenance.ts"
import {
  confirm,
  defineCommand,
  NEEDS,
  onDatabase,
  PAGE_FLAGS,
  readFlags,
  REASON_FLAG,
  reasonOf,
  type ServerCommandContext,
  shownTime,
  withConfiguration
} from "./ServerCommand.ts"

const INBOUND =
  "inboundMailId, state: waiting|failed, attempts, failure, nextAttempt: {kind: leased|scheduled|due, at}, sizeBytes, receivedAt, mailboxIds, envelope: {mailFrom, rcptTo, remoteAddress, helo, secure}"
const OUTBOUND =
  "messageId, tenantId, mailboxId, state: scheduled|deferred|sending|unknown, attempts, dueAt, sendAt, createdAt, operationId, recipients: [{address, status, reason}]"

const SHARED_FLAGS = [
  { name: "tenant", type: "text", value: "TENANT", summary: "Only mail of this tenant: its wallet or id." },
  {
    name: "older-than",
    type: "integer",
    value: "MINUTES",
    summary: "Only mail that waits at least so long.",
    minimum: 0,
    maximum: 5_256_000
  },
  ...PAGE_FLAGS
] as const
const YES_FLAG = { name: "yes", short: "y", type: "boolean", summary: "Go on without confirmation." } as const
const MAIL = { name: "id", summary: "Id of the mail.", presence: "required" } as const
const MESSAGE = { name: "id", summary: "Id of the message.", presence: "required" } as const
const SAMPLE_ID = "019ab1c0-5f3e-7b01-9d52-0c6f1f4e7a90"

/** Runs an effect on the waiting mail of the configured database. */
const onMail = async <A>(
  context: ServerCommandContext,
  use: (mail: MailAdministration["Service"]) => Effects.Effect<A, unknown>,
  mutation?: CommandMutation
): Promise<A> => {
  const { Effect } = await import("effect")
  return onDatabase(context, (core) => Effect.flatMap(core.MailAdministration, use), mutation)
}

const ATTEMPTS: Readonly<Record<ReportedAttempt["kind"], string>> = {
  leased: "a worker holds the lease until",
  scheduled: "scheduled for",
  due: "due since"
}

const inboundFields = (mail: InboundMailReport): ReadonlyArray<Field> => {
  const { envelope, mailboxIds, nextAttempt } = mail
  return [
    ["Mail", mail.inboundMailId],
    ["State", mail.state],
    ["Next attempt", `${ATTEMPTS[nextAttempt.kind]} ${shownTime(nextAttempt.at)}`],
    ["Attempts", mail.attempts],
    ["Last failure", mail.failure],
    ["Bytes", mail.sizeBytes],
    ["Received", shownTime(mail.receivedAt)],
    ["From", envelope.mailFrom || "<>"],
    ["To", envelope.rcptTo.join(", ")],
    ["Client", `${envelope.remoteAddress} (${envelope.helo})`],
    ["Encrypted", envelope.secure],
    ["Mailboxes", mailboxIds.join(", ")]
  ]
}

const outboundFields = (message: OutboundMessageReport): ReadonlyArray<Field> => [
  ["Message", message.messageId],
  ["Tenant", message.tenantId],
  ["Mailbox", message.mailboxId],
  ["State", message.state],
  ["Attempts", message.attempts],
  ["Due", shownTime(message.dueAt)],
  ["Scheduled for", message.sendAt && shownTime(message.sendAt)],
  ["Operation", message.operationId],
  ...message.recipients.map(({ address, reason, status }): Field => [
    address,
    [status, reason].filter(Boolean).join(": ")
  ])
]

export const INBOUND_LIST = defineCommand(
  {
    name: "mail inbound list",
    summary: "Show accepted mails that wait for delivery",
    description: `Shows mails that were answered with 250 and reached no mailbox yet, oldest first, without their content. ${NEEDS}`,
    flags: [
      {
        name: "state",
        type: "text",
        value: "STATE",
        summary: "failed: an attempt failed; waiting: none did.",
        choices: ["waiting", "failed"]
      },
      { name: "mailbox", type: "text", value: "MAILBOX", summary: "Only mail to this mailbox: its address or id." },
      ...SHARED_FLAGS
    ],
    examples: [{ line: "agentos-server mail inbound list --state failed", does: "Find mail that can't be delivered" }],
    output: "rows",
    json: `{items: [{${INBOUND}}], nextCursor}`
  },
  async (context, { flags: { "older-than": olderThanMinutes, ...flags } }) => {
    const { QueryInboundMailsInput } = await import("@agentos/core")
    const query = await readFlags(QueryInboundMailsInput, { ...flags, olderThanMinutes })
    const page = await onMail(context, ({ listInbound }) => listInbound(query))
    const { output } = context
    output.table(
      page,
      page.items,
      [
        { heading: "MAIL", value: ({ inboundMailId }) => inboundMailId, whole: true },
        { heading: "STATE", value: ({ state }) => state, whole: true },
        { heading: "TRIES", value: ({ attempts }) => attempts, whole: true },
        { heading: "RECEIVED", value: (mail) => mail.receivedAt, shown: (mail) => shownTime(mail.receivedAt) },
        { heading: "FAILURE", value: ({ failure }) => failure, drop: 1 }
      ],
      "No mail waits."
    )
    if (page.nextCursor !== null) output.note(`More mails: --cursor ${page.nextCursor}`)
  }
)

export const INBOUND_SHOW = defineCommand(
  {
    name: "mail inbound show",
    summary: "Show a mail that waits",
    description: `Shows the attempts, the last failure, the size and the envelope of a mail that was accepted and reached no mailbox yet. --content adds its first 256 KiB, and leaves a record in the audit. ${NEEDS}`,
    arguments: [MAIL],
    flags: [{ name: "content", type: "boolean", summary: "Show the content too." }, REASON_FLAG],
    examples: [{ line: `agentos-server mail inbound show ${SAMPLE_ID}`, does: "See why a mail waits" }],
    output: "record",
    json: `{${INBOUND}, content, isWhole}`,
    exits: [5]
  },
  async (context, { arguments: { id }, flags }) => {
    const { Effect } = await import("effect")
    const target = id.toLowerCase()
    const mutation = { action: "inbound-mail.read", target, reason: await reasonOf(flags.reason) }
    if (!flags.content) {
      const mail = await onMail(context, ({ findInbound }) => findInbound(target))
      return context.output.record(mail, inboundFields(mail))
    }
    const mail = await onMail(
      context,
      ({ findInbound, readInbound }) =>
        Effect.zipWith(findInbound(target), readInbound(target), (found, read) => ({ ...found, ...read })),
      mutation
    )
    const { output } = context
    output.data(mail, () => `${output.recordText(inboundFields(mail))}\n`)
    if (!output.options.json) output.bytes(new TextEncoder().encode(mail.content))
  }
)

export const INBOUND_REPLAY = defineCommand(
  {
    name: "mail inbound replay",
    summary: "Deliver a mail that waits at once",
    description: `Makes a mail due, so that a server delivers it within seconds, as if it were new: after several failures it would be delivered unparsed. Refuses a mail that a worker holds. ${NEEDS}`,
    arguments: [MAIL],
    flags: [YES_FLAG, REASON_FLAG],
    examples: [
      { line: `agentos-server mail inbound replay ${SAMPLE_ID}`, does: "After the cause of the failure is fixed" }
    ],
    output: "record",
    json: `{${INBOUND}}`,
    exits: [2, 5, 6]
  },
  async (context, { arguments: { id }, flags: { reason, yes } }) => {
    const target = id.toLowerCase()
    const mutation = { action: "inbound-mail.replay", target, reason: await reasonOf(reason) }
    await confirm(context, yes, `Deliver the mail ${id} now? [y/N] `, "Cancelled. Nothing was changed.")
    const mail = await onMail(context, ({ replayInbound }) => replayInbound(target), mutation)
    context.output.record(mail, inboundFields(mail))
  }
)

export const INBOUND_DROP = defineCommand(
  {
    name: "mail inbound drop",
    summary: "Delete a mail that waits, permanently",
    description: `Deletes a mail that was accepted, so that no mailbox receives it. Its sender is not told. The answer has its envelope for the last time; the audit keeps its time, size, mailboxes and the domain of the sender. Changes no payment. Refuses a mail that a worker holds. ${NEEDS}`,
    arguments: [MAIL],
    flags: [{ ...REASON_FLAG, summary: "Required. Reason, for the audit: up to 500 characters." }, YES_FLAG],
    examples: [
      {
        line: `agentos-server mail inbound drop ${SAMPLE_ID} --reason "A broken mail"`,
        does: "When a mail can't be delivered"
      }
    ],
    output: "record",
    json: `{${INBOUND}}`,
    exits: [2, 5, 6]
  },
  async (context, { arguments: { id }, flags: { reason: given, yes } }) => {
    const target = id.toLowerCase()
    const reason = await reasonOf(given)
    if (!reason) throw new Failure({ code: "USAGE", message: "--reason is missing: why the mail is deleted." })
    await confirm(context, yes, `Delete the mail ${id} permanently? [y/N] `, "Cancelled. Nothing was deleted.")
    const mutation = { action: "inbound-mail.drop", target, reason }
    const mail = await onMail(context, ({ dropInbound }) => dropInbound(target, reason), mutation)
    context.output.record(mail, inboundFields(mail))
  }
)

export const OUTBOUND_LIST = defineCommand(
  {
    name: "mail outbound list",
    summary: "Show messages that wait to be sent",
    description: `Shows messages that are scheduled, or that the relay did not take yet, oldest first. A message whose first attempt has not ended is an operation: operations list --state fulfilling. ${NEEDS}`,
    flags: [
      {
        name: "state",
        type: "text",
        value: "STATE",
        summary: "Only messages in this state; unknown: the relay may have taken it.",
        choices: ["scheduled", "deferred", "sending", "unknown"]
      },
      ...SHARED_FLAGS
    ],
    examples: [
      { line: "agentos-server mail outbound list --state deferred", does: "See which messages wait for the relay" }
    ],
    output: "rows",
    json: `{items: [{${OUTBOUND}}], nextCursor}`
  },
  async (context, { flags: { "older-than": olderThanMinutes, ...flags } }) => {
    const { QueryOutboundMessagesInput } = await import("@agentos/core")
    const query = await readFlags(QueryOutboundMessagesInput, { ...flags, olderThanMinutes })
    const page = await onMail(context, ({ listOutbound }) => listOutbound(query))
    const { output } = context
    output.table(
      page,
      page.items,
      [
        { heading: "MESSAGE", value: ({ messageId }) => messageId, whole: true },
        { heading: "STATE", value: ({ state }) => state, whole: true },
        { heading: "TRIES", value: ({ attempts }) => attempts, whole: true },
        { heading: "DUE", value: ({ dueAt }) => dueAt, shown: ({ dueAt }) => shownTime(dueAt) },
        { heading: "REASON", value: ({ recipients }) => recipients.find(({ reason }) => reason)?.reason, drop: 1 }
      ],
      "No messages wait."
    )
    if (page.nextCursor !== null) output.note(`More messages: --cursor ${page.nextCursor}`)
  }
)

export const OUTBOUND_RETRY = defineCommand(
  {
    name: "mail outbound retry",
    summary: "Send a deferred message again at once",
    description: `Makes a message due that the relay did not take, so that a server sends it within seconds to the recipients that it has not reached. Refuses a scheduled message, one that is being sent, and one that the relay may have taken, so that none is sent twice. ${NEEDS}`,
    arguments: [MESSAGE],
    flags: [YES_FLAG, REASON_FLAG],
    examples: [{ line: `agentos-server mail outbound retry ${SAMPLE_ID}`, does: "After the relay was repaired" }],
    output: "record",
    json: `{${OUTBOUND}}`,
    exits: [2, 5, 6]
  },
  async (context, { arguments: { id }, flags: { reason, yes } }) => {
    const target = id.toLowerCase()
    const mutation = { action: "outbound-message.retry", target, reason: await reasonOf(reason) }
    await confirm(context, yes, `Send the message ${id} again now? [y/N] `, "Cancelled. Nothing was changed.")
    const message = await onMail(context, ({ retryOutbound }) => retryOutbound(target), mutation)
    context.output.record(message, outboundFields(message))
  }
)

export const OUTBOUND_CANCEL = defineCommand(
  {
    name: "mail outbound cancel",
    summary: "End the attempts at a message, with its refund",
    description:
      "Ends a message that waits for the recipients that it has not reached. A scheduled message that reached no recipient is refunded, as if its tenant had canceled it or its last attempt had failed. Refuses a message that is being sent, and one that the relay may have taken. Uses the whole configuration; an embedded database has one user at a time.",
    arguments: [MESSAGE],
    flags: [YES_FLAG, REASON_FLAG],
    examples: [{ line: `agentos-server mail outbound cancel ${SAMPLE_ID}`, does: "When the relay will never take it" }],
    output: "record",
    json: "{messageId, tenantId, status, operationId, isRefunded}",
    exits: [2, 5, 6]
  },
  async (context, { arguments: { id }, flags: { reason, yes } }) => {
    const given = await reasonOf(reason)
    await confirm(context, yes, `Cancel the message ${id}? [y/N] `, "Cancelled. Nothing was changed.")
    const { cancelMessage } = await import("../program/Maintenance.ts")
    const canceled = await withConfiguration(context, (config) => cancelMessage(config, id.toLowerCase(), given))
    context.output.record(canceled, [
      ["Message", canceled.messageId],
      ["Tenant", canceled.tenantId],
      ["Status", canceled.status],
      ["Operation", canceled.operationId],
      ["Refund due", canceled.isRefunded]
    ])
  }
)
