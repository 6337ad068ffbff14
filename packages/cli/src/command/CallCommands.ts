import { Failure, plainJson, plainLine } from "@agentos/node/command-line"
import {
  CURSOR_FLAG,
  directionFlag,
  given,
  LIMIT_FLAG,
  PAY_EXITS,
  PAY_FLAGS,
  required,
  timeFlags
} from "../context/Flags.ts"
import { asStarted } from "../host/Host.ts"
import { callerOf, durationOf, timeColumn, timeOf, timeRangeOf } from "../output/Wording.ts"
import { collectPages } from "../server/Pages.ts"
import type { DataOf } from "../server/Server.ts"
import { defineCommand } from "./Command.ts"
import { callIdOf, clientOf, numberIdOf, onlyNumberId } from "./Resources.ts"

const CALL_ARGUMENT = {
  name: "call",
  summary: "Id of a call, a part of it, or latest.",
  presence: "required",
  completes: "call"
} as const

const callFields = (call: DataOf<"getCall">["call"]) =>
  [
    ["Call", call.callId],
    ["Direction", call.direction],
    ["From", callerOf(call.fromNumber, call.fromWithheld)],
    ["To", call.toNumber],
    ["Status", call.status],
    ["End reason", call.endReason],
    ["Connected", `${call.connectedSeconds} of ${call.authorizedSeconds} s`],
    ["Created", timeOf(call.createdAt)],
    ["Answered", timeOf(call.answeredAt)],
    ["Answered by", call.answeredBy],
    ["Ended", timeOf(call.endedAt)],
    ["Number", call.phoneNumberId]
  ] as const

export const CALL_START = defineCommand(
  {
    name: "call start",
    summary: "Call a person from one of your numbers",
    description:
      "Pays for 1 or 5 connected minutes, counted from the answer; then the call ends. The command returns when the call is placed. To follow the conversation: agentctl call transcript CALL --follow.",
    flags: [
      { name: "to", type: "text", value: "NUMBER", summary: "Number to call, for example +14155550100. Required." },
      {
        name: "from",
        type: "text",
        value: "NUMBER",
        summary: "Your number, as a phone number, the name of its agent, or an id. Optional if you have only one.",
        completes: "number"
      },
      {
        name: "minutes",
        type: "text",
        value: "N",
        summary: "Maximum length of the call.",
        choices: ["1", "5"],
        default: "1"
      },
      { name: "greeting", type: "text", value: "TEXT", summary: "First sentence to the person who answers." },
      ...PAY_FLAGS
    ],
    examples: [
      {
        line: 'agentctl call start --to +14155550100 --minutes 5 --greeting "Hello, this is Ada."',
        does: "Show the price and ask for confirmation"
      }
    ],
    output: "record",
    json: "{call, operationId, payment}",
    exits: PAY_EXITS
  },
  async (context, { flags }) => {
    const { payAndPrint } = await import("./PaidOutput.ts")
    const toNumber = required(flags.to, "to")
    const client = await clientOf(context)
    const phoneNumberId = flags.from === undefined ? await onlyNumberId(client) : await numberIdOf(client, flags.from)
    const isShort = flags.minutes === "1"
    const { call } = await payAndPrint(
      context,
      {
        operation: isShort ? "callOneMinute" : "callFiveMinutes",
        payload: { phoneNumberId, toNumber, ...given({ initialGreeting: flags.greeting }) },
        purchase: `a call to ${toNumber} of up to ${isShort ? "1 minute" : "5 minutes"}`
      },
      flags,
      (data) => callFields(data.call)
    )
    context.output.note(
      asStarted(
        context.host,
        `To follow the call: agentctl call transcript ${context.output.shownId(call.callId)} --follow`
      )
    )
  }
)

export const CALL_EXTEND = defineCommand(
  {
    name: "call extend",
    summary: "Add a minute to an ongoing call",
    description: "The call must be answered and not ended.",
    arguments: [CALL_ARGUMENT],
    flags: PAY_FLAGS,
    examples: [{ line: "agentctl call extend latest --yes --max-amount 0.30", does: "Without confirmation" }],
    output: "record",
    json: "{call, operationId, payment}",
    exits: PAY_EXITS
  },
  async (context, { arguments: { call }, flags }) => {
    const { payAndPrint } = await import("./PaidOutput.ts")
    const callId = await callIdOf(await clientOf(context), call)
    await payAndPrint(
      context,
      {
        operation: "extendCall",
        payload: { callId },
        purchase: `1 more minute of call ${context.output.shownId(callId)}`
      },
      flags,
      (data) => callFields(data.call)
    )
  }
)

export const CALL_LIST = defineCommand(
  {
    name: "call list",
    summary: "List calls, newest first",
    description: "Lists inbound and outbound calls, also those that were declined.",
    flags: [
      {
        name: "number",
        type: "text",
        value: "NUMBER",
        summary: "Only calls of this number of yours: a phone number, the name of its agent, or an id.",
        completes: "number"
      },
      directionFlag("calls"),
      ...timeFlags("Created"),
      LIMIT_FLAG,
      CURSOR_FLAG
    ],
    examples: [
      { line: "agentctl call list --direction inbound --since 1d", does: "Calls from others in the last day" }
    ],
    output: "rows",
    json: "{items: [call], nextCursor}",
    exits: [4, 5, 9]
  },
  async (context, { flags }) => {
    const range = timeRangeOf(flags, context.host.now())
    const query = { direction: flags.direction, after: range.since, before: range.until }
    const client = await clientOf(context)
    const phoneNumberId = flags.number === undefined ? undefined : await numberIdOf(client, flags.number)
    const page = await collectPages(flags.limit, flags.cursor, (limit, cursor) =>
      client.call("listCalls", { query: { ...query, phoneNumberId, limit, cursor } })
    )
    context.output.page(
      page,
      "calls",
      flags.limit,
      [
        timeColumn("CREATED", ({ createdAt }) => createdAt),
        { heading: "", value: ({ direction }) => (direction === "inbound" ? "from" : "to"), whole: true },
        {
          heading: "PERSON",
          value: ({ direction, fromNumber, fromWithheld, toNumber }) =>
            direction === "inbound" ? callerOf(fromNumber, fromWithheld) : toNumber,
          whole: true
        },
        { heading: "STATUS", value: ({ endReason, status }) => endReason ?? status, whole: true },
        { heading: "CONNECTED", value: ({ connectedSeconds }) => durationOf(connectedSeconds), whole: true, drop: 1 },
        { heading: "CALL", value: ({ callId }) => callId, id: true }
      ],
      range
    )
  }
)

export const CALL_SHOW = defineCommand(
  {
    name: "call show",
    summary: "Show the status, limit and end reason of a call",
    description: "Connected seconds count from the answer.",
    arguments: [CALL_ARGUMENT],
    examples: [{ line: "agentctl call show latest", does: "Show a call" }],
    output: "record",
    json: "{call}",
    exits: [4, 5, 9]
  },
  async (context, { arguments: { call } }) => {
    const client = await clientOf(context)
    const callId = await callIdOf(client, call)
    const data = await client.call("getCall", { params: { callId } })
    context.output.record(data, callFields(data.call))
  }
)

export const VOICE_ANSWER = defineCommand(
  {
    name: "voice answer",
    summary: "Answer the calls of your numbers with a command",
    description:
      "Needs no public address: the turns of calls arrive over a WebSocket. Runs the command once for each turn, in its own process, with the turn as JSON on standard input: {callId, turnId, phoneNumberId, direction, from, fromWithheld, to, turn: {text, at}, transcriptSoFar}. Its standard output is spoken, each line when it is complete; a line [press 12#] presses keys instead, and with a line [silence 10] the command also runs if the caller says nothing for 10 s. Exit code 0 ends the answer, 10 also ends the call; with another code the caller hears an apology. The first output must come within 5 s and the whole answer within 30 s. If the caller speaks over the answer, the command receives SIGTERM.\nReconnects automatically. While it runs, the webhooks of your numbers are not called. Prints one line of JSON per turn if the output is not a terminal.",
    flags: [
      {
        name: "exec",
        type: "text",
        value: "CMD",
        summary:
          "Run this shell command for each turn, with AGENTOS_CALL_ID and AGENTOS_TURN_ID in the environment, but without AGENTOS_PRIVATE_KEY, AGENTOS_PASSWORD and AGENTOS_TOKEN. Required."
      },
      {
        name: "number",
        type: "list",
        value: "NUMBER",
        summary:
          "Only calls of this number of yours: a phone number, the name of its agent, or an id. May be repeated. Default: all numbers.",
        completes: "number"
      }
    ],
    examples: [
      { line: "agentctl voice answer --exec './answer.sh'", does: "Answer with a script" },
      { line: 'agentctl voice answer --exec "jq -r .turn.text"', does: "Repeat each turn" }
    ],
    output: "rows",
    json: "{callId, turnId, heard, text, hangup, interrupted} per turn",
    exits: [4, 5, 9]
  },
  async (context, { flags }) => {
    const { VoiceAnswering } = await import("../tail/VoiceAnswering.ts")
    const command = required(flags.exec, "exec")
    const client = await clientOf(context)
    const ids = await Promise.all(flags.number.map((number) => numberIdOf(client, number)))
    await new VoiceAnswering(context, command).follow(client, ids.length === 0 ? undefined : ids)
    throw new Failure({ code: "INTERRUPTED", message: "Interrupted." })
  }
)

const POLL_MILLIS = 1_000

type Turn = DataOf<"getTranscript">["transcript"]["turns"][number]

const turnLine = ({ at, role, text }: Turn): string =>
  `${plainLine(`${at.slice(11, 19)}  ${role.padEnd(6)}  ${text}`)}\n`

export const CALL_TRANSCRIPT = defineCommand(
  {
    name: "call transcript",
    summary: "Print the transcript of a call",
    description:
      "With --follow, prints each turn as it is spoken until the call ends; with --follow and --json, one line of JSON per turn. Calls are never recorded.",
    arguments: [CALL_ARGUMENT],
    flags: [{ name: "follow", short: "f", type: "boolean", summary: "Follow the call until it ends." }],
    examples: [{ line: "agentctl call transcript latest --follow", does: "Follow an ongoing call" }],
    output: "record",
    json: "{transcript, nextCursor}",
    exits: [4, 5, 9]
  },
  async (context, { arguments: { call }, flags }) => {
    const { host, output } = context
    const client = await clientOf(context)
    const callId = await callIdOf(client, call)
    const read = () => client.call("getTranscript", { params: { callId } })
    if (!flags.follow) {
      const data = await read()
      const { complete, turns } = data.transcript
      output.data(data, () => turns.map(turnLine).join(""))
      if (complete && turns.length === 0) output.note("The transcript is empty.")
      if (!complete) output.note("The call is ongoing. Use --follow to follow it.")
      return
    }
    let shown = 0
    for (;;) {
      const { complete, turns } = (await read()).transcript
      for (const turn of turns.slice(shown)) output.text(output.options.json ? `${plainJson(turn)}\n` : turnLine(turn))
      shown = Math.max(shown, turns.length)
      if (complete) return
      await host.sleep(POLL_MILLIS)
    }
  }
)
