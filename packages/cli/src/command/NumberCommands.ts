import { given, PAY_EXITS, PAY_FLAGS, yesFlag } from "../context/Flags.ts"
import { asStarted } from "../host/Host.ts"
import { durationOf, minuteOf, timeColumn, timeOf } from "../output/Wording.ts"
import type { DataOf } from "../server/Server.ts"
import { defineCommand } from "./Command.ts"
import { clientOf, connect, findNumber, numberIdOf } from "./Resources.ts"

const NUMBER_ARGUMENT = {
  name: "number",
  summary: "A number of yours, for example +14155550100, the name of its agent, or its id.",
  presence: "required",
  completes: "number"
} as const

/** A number whose calls only voice sessions answer has a host under .invalid, which never resolves (RFC 2606). */
const NO_WEBHOOK = "https://agent.invalid/"

/** Whether the webhook of a number is a host under .invalid, so that only voice sessions answer. */
const isPlaceholder = (url: string): boolean => URL.canParse(url) && /(?:^|\.)invalid\.?$/.test(new URL(url).hostname)

type PhoneNumber = DataOf<"listNumbers">["items"][number]

const numberFields = (phoneNumber: PhoneNumber) =>
  [
    ["Number", phoneNumber.number],
    ["Id", phoneNumber.phoneNumberId],
    ["Status", phoneNumber.status],
    ["Until", timeOf(phoneNumber.entitlement.expiresAt)],
    ["Inbound", `${phoneNumber.inboundAllowance.remainingSeconds} s left`],
    ["Agent", phoneNumber.agentName],
    [
      "Webhook",
      isPlaceholder(phoneNumber.agentWebhookUrl) ? "none: voice sessions answer" : phoneNumber.agentWebhookUrl
    ]
  ] as const

export const NUMBER_BUY = defineCommand(
  {
    name: "number buy",
    summary: "Buy a phone number for 30 days",
    description:
      "Calls to the number are answered by a voice session (agentctl voice answer, or the client library), or by your agent at --webhook while no session is connected. With --webhook, the answer to the purchase contains the secret with which your agent verifies callbacks. The secret is shown on a terminal and with --json, but not piped as text. To see it again: agentctl payments resume PAYMENT --json.",
    arguments: [{ name: "country", summary: "Country of the number.", presence: "required", choices: ["us", "ca"] }],
    flags: [
      { name: "agent-name", type: "text", value: "TEXT", summary: "Name of the agent.", default: "Agent" },
      {
        name: "webhook",
        type: "text",
        value: "URL",
        summary: "https:// URL at which your agent answers calls. Without it, a voice session answers them."
      },
      { name: "area-code", type: "text", value: "CODE", summary: "Area code of three digits. Any area by default." },
      { name: "description", type: "text", value: "TEXT", summary: "Description of the agent." },
      { name: "greeting", type: "text", value: "TEXT", summary: "First sentence to each caller." },
      { name: "voice", type: "text", value: "NAME", summary: "Voice of the agent." },
      { name: "language", type: "text", value: "TAG", summary: "Language, for example en-US." },
      ...PAY_FLAGS
    ],
    examples: [
      { line: "agentctl number buy us --agent-name Ada", does: "Show the price and ask for confirmation" },
      {
        line: "agentctl number buy us --area-code 415 --webhook https://agent.example/voice",
        does: "A number whose calls your server answers"
      }
    ],
    output: "record",
    json: "{phoneNumberId, number, callbackVerificationSecret, phoneNumber, operationId, authentication: {accessTokenSaved, profile} or {next, message}, payment}",
    exits: PAY_EXITS
  },
  async (context, { arguments: { country }, flags }) => {
    const { payAndPrint, secretFields } = await import("./PaidOutput.ts")
    const place = country === "us" ? "a number in the United States" : "a number in Canada"
    const area = flags["area-code"] === undefined ? "" : ` with area code ${flags["area-code"]}`
    await payAndPrint(
      context,
      {
        operation: country === "us" ? "purchaseUsNumber" : "purchaseCanadaNumber",
        payload: {
          agentName: flags["agent-name"],
          agentWebhookUrl: flags.webhook ?? NO_WEBHOOK,
          ...given({
            areaCode: flags["area-code"],
            description: flags.description,
            beginMessage: flags.greeting,
            voice: flags.voice,
            language: flags.language
          })
        },
        purchase: `${place}${area} for 30 days`
      },
      flags,
      (data, paymentId) => [
        ...numberFields(data.phoneNumber),
        ...(flags.webhook === undefined ? [] : secretFields(context, data, paymentId))
      ]
    )
    if (flags.webhook === undefined)
      context.output.note(asStarted(context.host, "To answer its calls: agentctl voice answer --exec './answer.sh'"))
  }
)

export const NUMBER_LIST = defineCommand(
  {
    name: "number list",
    summary: "List your phone numbers",
    description: "Shows when each number expires and the remaining inbound minutes.",
    examples: [{ line: "agentctl number list", does: "Your numbers and when they expire" }],
    output: "rows",
    json: "{items: [number]}",
    exits: [4, 9]
  },
  async (context) => {
    const client = await clientOf(context)
    const data = await client.call("listNumbers")
    context.output.table(
      data,
      data.items,
      [
        { heading: "NUMBER", value: ({ number }) => number, whole: true },
        { heading: "AGENT", value: ({ agentName }) => agentName },
        { heading: "STATUS", value: ({ status }) => status, whole: true },
        timeColumn("UNTIL", ({ entitlement }) => entitlement.expiresAt, 1),
        { heading: "LEFT", value: ({ entitlement }) => durationOf(entitlement.secondsRemaining), whole: true },
        {
          heading: "INBOUND LEFT",
          value: ({ inboundAllowance }) => durationOf(inboundAllowance.remainingSeconds),
          whole: true
        },
        { heading: "ID", value: ({ phoneNumberId }) => phoneNumberId, id: true }
      ],
      "No phone numbers."
    )
  }
)

export const NUMBER_VOICES = defineCommand(
  {
    name: "number voices",
    summary: "List the voices and languages of numbers",
    description: "A number is bought with one of them: number buy --voice NAME --language TAG. Needs no token.",
    flags: [{ name: "language", type: "text", value: "TAG", summary: "Only this language, for example en or en-US." }],
    examples: [{ line: "agentctl number voices --language en", does: "English voices" }],
    output: "rows",
    json: "{items: [{voice, language, vendor}]}",
    exits: [9]
  },
  async (context, { flags: { language } }) => {
    const { client } = await connect(context)
    const wanted = language?.toLowerCase()
    const { items: all } = await client.call("listVoices")
    const items = all.filter(
      (item) =>
        wanted === undefined ||
        item.language.toLowerCase() === wanted ||
        item.language.toLowerCase().startsWith(`${wanted}-`)
    )
    context.output.table(
      { items },
      items,
      [
        { heading: "LANGUAGE", value: (item) => item.language, whole: true },
        { heading: "VOICE", value: ({ voice }) => voice, whole: true },
        { heading: "VENDOR", value: ({ vendor }) => vendor }
      ],
      "No matching voices."
    )
  }
)

interface NumberPurchase<Name extends string> {
  readonly name: Name
  readonly operation: "renewNumber" | "addInboundMinutes"
  readonly summary: string
  readonly description: string
  readonly goods: string
}

/** A command that pays for an operation on a number. */
const numberPurchase = <const Name extends string>(purchase: NumberPurchase<Name>) => {
  const { description, goods, name, operation, summary } = purchase
  return defineCommand(
    {
      name,
      summary,
      description,
      arguments: [NUMBER_ARGUMENT],
      flags: PAY_FLAGS,
      examples: [{ line: `agentctl ${name} +14155550100`, does: "Show the price and ask for confirmation" }],
      output: "record",
      json: "{phoneNumber, operationId, payment}",
      exits: PAY_EXITS
    },
    async (context, { arguments: { number }, flags }) => {
      const { payAndPrint } = await import("./PaidOutput.ts")
      const { number: found, phoneNumberId } = await findNumber(await clientOf(context), number)
      const call = { operation, payload: { phoneNumberId }, purchase: `${goods} ${found}` }
      await payAndPrint(context, call, flags, (data) => numberFields(data.phoneNumber))
    }
  )
}

export const NUMBER_RENEW = numberPurchase({
  name: "number renew",
  operation: "renewNumber",
  summary: "Renew a number for another 30 days",
  description: "The days are added to the current expiry. An expired number cannot be renewed.",
  goods: "30 more days of"
})

export const NUMBER_ADD_MINUTES = numberPurchase({
  name: "number add-minutes",
  operation: "addInboundMinutes",
  summary: "Add 10 minutes of inbound calls to a number",
  description: "The minutes are added to the remaining ones. Calls to a number without minutes are not answered.",
  goods: "10 inbound minutes for"
})

export const NUMBER_RELEASE = defineCommand(
  {
    name: "number release",
    summary: "Release a number permanently",
    description: "Free, without a refund, and irreversible: after the release, another customer can get the number.",
    arguments: [NUMBER_ARGUMENT],
    flags: [yesFlag("Release")],
    examples: [{ line: "agentctl number release +14155550100", does: "Ask for confirmation and release the number" }],
    output: "record",
    json: "{phoneNumber}",
    exits: [2, 4, 5, 6, 9]
  },
  async (context, { arguments: { number }, flags }) => {
    const { rejectFolderSettings } = await import("../config/Settings.ts")
    const { askYesNo, requireTerminal } = await import("../payment/Approval.ts")
    const { connectWithToken } = await import("../server/Connection.ts")
    const { client, settings } = await connectWithToken(context)
    if (flags.yes) rejectFolderSettings(settings, ["base-url", "profile"], "Nothing was done.")
    const phoneNumberId = await numberIdOf(client, number)
    if (!flags.yes) {
      requireTerminal(context)
      const { agentName, entitlement, number: found } = await findNumber(client, phoneNumberId)
      await askYesNo(
        context,
        `Release ${found} (agent ${agentName}), paid until ${minuteOf(entitlement.expiresAt)} UTC? This cannot be undone, and nothing is refunded.`
      )
    }
    const data = await client.call("releaseNumber", { payload: { phoneNumberId, confirmRelease: true } })
    context.output.record(data, numberFields(data.phoneNumber))
  }
)
