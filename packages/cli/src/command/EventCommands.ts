import { Failure, type FlagSpec, plain, usageError } from "@agentos/node/command-line"
import type { Context } from "../context/Context.ts"
import { CURSOR_FLAG, given, LIMIT_FLAG, timeFlags, TYPES_FLAG, typesOf } from "../context/Flags.ts"
import { countOf, TIME, timeColumn, timeOf, timeOfFlag, timeRangeOf } from "../output/Wording.ts"
import { collectPages } from "../server/Pages.ts"
import type { DataOf } from "../server/Server.ts"
import type { Handled } from "../tail/EventHandling.ts"
import type { TailEvent, TailFilter } from "../tail/TailEvent.ts"
import type { Worker } from "../tail/Worker.ts"
import { defineCommand } from "./Command.ts"
import { clientOf, eventIdOf, resourceIdOf } from "./Resources.ts"

const SERVICE_FLAG = {
  name: "service",
  type: "text",
  value: "NAME",
  summary: "Only events of this service.",
  choices: ["email", "phone", "payment", "events"]
} as const satisfies FlagSpec

const EVENT_ARGUMENT = {
  name: "event",
  summary: "Id of an event, a part of it, or latest.",
  presence: "required",
  completes: "event"
} as const

export const EVENTS_LIST = defineCommand(
  {
    name: "events list",
    summary: "List events, oldest first",
    description: "Listing does not lease or acknowledge events.",
    flags: [
      {
        name: "status",
        type: "text",
        value: "STATUS",
        summary: "Only events with this status.",
        choices: ["pending", "delivered", "acknowledged", "expired", "failed"]
      },
      TYPES_FLAG,
      SERVICE_FLAG,
      {
        name: "resource",
        type: "text",
        value: "ID",
        summary: "Only events of this mailbox (id or address), number (id or phone number) or call."
      },
      { name: "agent", type: "text", value: "ID", summary: "Only events of this agent." },
      ...timeFlags("Created"),
      LIMIT_FLAG,
      CURSOR_FLAG
    ],
    examples: [
      { line: "agentctl events list --status pending", does: "Events that are not handled yet" },
      { line: "agentctl events list --types email.received --since 1h", does: "Mail of the last hour" }
    ],
    output: "rows",
    json: "{items: [event], nextCursor}",
    exits: [4, 9]
  },
  async (context, { flags }) => {
    const { aboutOf } = await import("../tail/EventHandling.ts")
    const { host, output } = context
    const client = await clientOf(context)
    const resourceId = flags.resource === undefined ? undefined : await resourceIdOf(client, flags.resource)
    const types = typesOf(flags.types)
    const range = timeRangeOf(flags, host.now())
    const filter = given({
      status: flags.status,
      types: types.length === 0 ? undefined : types,
      service: flags.service,
      resourceId,
      agentId: flags.agent,
      from: range.since,
      to: range.until
    })
    const page = await collectPages(flags.limit, flags.cursor, (limit, cursor) =>
      client.call("listEvents", { payload: { ...filter, limit, ...given({ cursor }) } })
    )
    output.page(
      page,
      "events",
      flags.limit,
      [
        timeColumn("CREATED", ({ createdAt }) => createdAt),
        { heading: "TYPE", value: ({ type }) => type, whole: true },
        { heading: "STATUS", value: ({ status }) => status, whole: true, drop: 1 },
        { heading: "ABOUT", value: ({ payload, resourceId }) => aboutOf(payload) ?? resourceId },
        { heading: "EVENT", value: ({ eventId }) => eventId, id: true }
      ],
      range
    )
  }
)

export const EVENTS_GET = defineCommand(
  {
    name: "events get",
    summary: "Show an event with its payload",
    description: "Events do not contain message bodies. To read a message: agentctl mail read.",
    arguments: [EVENT_ARGUMENT],
    examples: [{ line: "agentctl events get latest", does: "Show an event" }],
    output: "record",
    json: "{event}",
    exits: [4, 5, 9]
  },
  async (context, { arguments: { event: reference } }) => {
    const { output } = context
    const client = await clientOf(context)
    const eventId = await eventIdOf(context, client, reference)
    const data = await client.call("getEvent", { payload: { eventId } })
    const { event } = data
    output.data(
      data,
      () =>
        output.recordText([
          ["Event", event.eventId],
          ["Type", event.type],
          ["Status", event.status],
          ["Source", event.source],
          ["Service", event.service],
          ["Resource", event.resourceId],
          ["Agent", event.agentId],
          ["Created", timeOf(event.createdAt)],
          ["Delivered", timeOf(event.deliveredAt)],
          ["Deliveries", event.deliveryCount],
          ["Acknowledged", timeOf(event.acknowledgedAt)],
          ["Expires", timeOf(event.expiresAt)]
        ]) + `\n${plain(JSON.stringify(event.payload, undefined, 2))}\n`
    )
  }
)

export const EVENTS_ACK = defineCommand(
  {
    name: "events ack",
    summary: "Acknowledge events, so that they are not delivered again",
    description: "Acknowledge an event after handling it. Idempotent.",
    arguments: [
      EVENT_ARGUMENT,
      { name: "more", summary: "Ids of more events.", presence: "several", completes: "event" }
    ],
    examples: [{ line: "agentctl events ack latest", does: "Acknowledge the newest event" }],
    output: "rows",
    json: "{items: [event]}",
    exits: [4, 5, 9]
  },
  async (context, input) => {
    const client = await clientOf(context)
    const references = [input.arguments.event, ...input.arguments.more]
    const eventIds: Array<string> = []
    for (const reference of references) eventIds.push(await eventIdOf(context, client, reference))
    const items: Array<DataOf<"acknowledgeEvent">["event"]> = []
    // In order: if one fails, the ones before it are acknowledged.
    for (const eventId of eventIds) items.push((await client.call("acknowledgeEvent", { payload: { eventId } })).event)
    context.output.table(
      { items },
      items,
      [
        { heading: "EVENT", value: ({ eventId }) => eventId, id: true },
        { heading: "TYPE", value: ({ type }) => type, whole: true },
        { heading: "STATUS", value: ({ status }) => status, whole: true }
      ],
      "No events."
    )
  }
)

export const EVENTS_ACK_ALL = defineCommand(
  {
    name: "events ack-all",
    summary: "Acknowledge all events before a time",
    description:
      "Without --before, acknowledges all events until now. Agents do not receive acknowledged events again.",
    flags: [
      { name: "before", type: "text", value: "TIME", summary: `Created before: ${TIME}.` },
      TYPES_FLAG,
      SERVICE_FLAG
    ],
    examples: [{ line: "agentctl events ack-all --before 1d --types payment.completed", does: "Clean up old events" }],
    output: "record",
    json: "{acknowledged}",
    exits: [4, 9]
  },
  async (context, { flags }) => {
    const client = await clientOf(context)
    const types = typesOf(flags.types)
    const data = await client.call("acknowledgeAllEvents", {
      payload: {
        before: timeOfFlag("before", flags.before ?? "now", context.host.now()),
        ...(types.length === 0 ? {} : { types }),
        ...(flags.service === undefined ? {} : { service: flags.service })
      }
    })
    context.output.record(data, [["Acknowledged", data.acknowledged]])
  }
)

export const EVENTS_TAIL = defineCommand(
  {
    name: "events tail",
    summary: "Follow events, and pass them to a command or a URL",
    description:
      "Without --exec and --forward-to, observes: shows the unacknowledged events and then each new one, without leasing any.\nWith --exec or --forward-to, works: leases events, handles them in order, and acknowledges each after success. A failed event is retried while the next ones continue. Events that are not acknowledged are delivered again, also after an interruption or a crash, so handling must be idempotent. With --types, --service or --since nothing is leased, because leases follow the order of events: run only one such tail at a time.\nReconnects automatically, and polls over REST where WebSockets are blocked. Prints one line of JSON per event if the output is not a terminal; with --exec, what the command prints.",
    flags: [
      TYPES_FLAG,
      SERVICE_FLAG,
      { name: "since", type: "text", value: "TIME", summary: `Start with events created at or after: ${TIME}.` },
      { name: "max", type: "integer", value: "N", summary: "Exit after this number of events.", minimum: 1 },
      {
        name: "exec",
        type: "text",
        value: "CMD",
        summary:
          "Run this shell command for each event, with the event as JSON on standard input and AGENTOS_EVENT_ID and AGENTOS_EVENT_TYPE in the environment, but without AGENTOS_PRIVATE_KEY, AGENTOS_PASSWORD and AGENTOS_TOKEN."
      },
      {
        name: "forward-to",
        type: "text",
        value: "URL",
        summary:
          "POST each event as JSON to this URL, signed as event webhooks are. A 2xx status is success. The signing secret is printed at the start; AGENTOS_WEBHOOK_SECRET sets another one."
      },
      {
        name: "ack",
        type: "text",
        value: "WHEN",
        summary: "When to acknowledge. By default on success with --exec or --forward-to, otherwise never.",
        choices: ["never", "success", "always"]
      },
      {
        name: "jobs",
        short: "j",
        type: "integer",
        value: "N",
        summary: "Number of events to handle concurrently. With more than 1, they finish in any order.",
        default: 1,
        minimum: 1,
        maximum: 64
      }
    ],
    examples: [
      { line: "agentctl events tail --since 1h", does: "Observe, starting an hour ago" },
      { line: "agentctl events tail --exec './handle-event.sh'", does: "Handle one event after the other" },
      { line: "agentctl events tail --forward-to http://localhost:3000/hook", does: "Forward events to your server" },
      {
        line: "agentctl events tail --types email.received --max 1 | jq .payload",
        does: "Wait for one event in a script"
      }
    ],
    output: "rows",
    json: "one event per line",
    exits: [4, 9]
  },
  async (context, { flags }) => {
    const { observeEvents, workOnEvents } = await import("../tail/EventSources.ts")
    const { isSelective } = await import("../tail/TailEvent.ts")
    const { Worker } = await import("../tail/Worker.ts")
    const { host, output } = context
    const handle = await handlerOf(context, flags)
    const acknowledge = flags.ack ?? (handle === undefined ? "never" : "success")
    const filter: TailFilter = {
      types: typesOf(flags.types),
      service: flags.service,
      since: flags.since === undefined ? undefined : timeOfFlag("since", flags.since, host.now())
    }
    const client = await clientOf(context)
    const worker = new Worker(output, {
      handle: handle ?? (await printerOf(context)),
      acknowledge,
      jobs: flags.jobs,
      max: flags.max
    })
    const follow = acknowledge === "never" ? observeEvents : workOnEvents
    if (acknowledge !== "never" && isSelective(filter))
      output.note("Filtered events are not leased: run only one such tail at a time, or events are handled twice.")
    await untilEnded(context, worker, (stop) => follow(context, client, filter, worker, stop))
    if (worker.failures > 0 && flags.max !== undefined)
      throw new Failure({
        code: "FAILED",
        message: `${countOf(worker.failures, "event")} of ${flags.max} failed.`
      })
  }
)

type Handle = (event: TailEvent) => Promise<Handled>

interface HandlerFlags {
  readonly exec: string | undefined
  readonly "forward-to": string | undefined
}

/** Returns the handler of --exec or --forward-to; undefined if events are only printed. */
const handlerOf = async (context: Context, flags: HandlerFlags): Promise<Handle | undefined> => {
  const { forward, runCommand } = await import("../tail/EventHandling.ts")
  const { host } = context
  const { exec, "forward-to": url } = flags
  if (exec !== undefined && url !== undefined) throw usageError("Pass --exec or --forward-to, not both.")
  if (exec !== undefined) return (event) => runCommand(host, exec, event)
  if (url === undefined) return undefined
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw usageError(`--forward-to takes an http:// or https:// URL, not "${url}".`)
  const { forwardingSecret } = await import("../tail/Signing.ts")
  const secret = await forwardingSecret(host)
  context.output.note(`Forwarding to ${url}. The signing secret of these deliveries is ${secret}`)
  const print = await printerOf(context)
  return async (event) => {
    const outcome = await forward(host, url, secret, event)
    return outcome._tag === "Done" ? print(event) : outcome
  }
}

const printerOf = async ({ host, output }: Context): Promise<Handle> => {
  const { eventLine } = await import("../tail/EventHandling.ts")
  return async (event) => {
    const { columns, isTerminal } = host.stdout
    output.text(eventLine(event, output, { json: output.options.json || !isTerminal, columns }))
    await host.stdout.drained()
    return { _tag: "Done" }
  }
}

/** Follows until --max events are handled or the command is interrupted, and lets running handlers finish. */
const untilEnded = async (
  { host }: Context,
  worker: Worker,
  follow: (stop: AbortSignal) => Promise<void>
): Promise<void> => {
  const stop = new AbortController()
  const interrupted = new Promise<never>((_, reject) => {
    const interrupt = () => reject(new Failure({ code: "INTERRUPTED", message: "Interrupted." }))
    if (host.signal.aborted) interrupt()
    host.signal.addEventListener("abort", interrupt, { once: true })
  })
  const following = follow(stop.signal)
  try {
    await Promise.race([following, worker.ended(), interrupted])
  } finally {
    // Keeps the leases while handlers run, so that no other session gets their events.
    await worker.close()
    stop.abort()
    // Errors after the stop are a result of it.
    await Promise.allSettled([following])
  }
}
