import { defineCommand, type FlagSpec } from "./Command.ts"
import { CURSOR_FLAG, LIMIT_FLAG } from "./PageFlags.ts"

const TYPES_FLAG = {
  name: "types",
  type: "list",
  value: "TYPE",
  summary: "Only of these types, as email.received; separated by commas."
} as const satisfies FlagSpec

const SERVICE_FLAG = {
  name: "service",
  type: "text",
  value: "NAME",
  summary: "Only of this half of the service.",
  choices: ["email", "phone", "payment"]
} as const satisfies FlagSpec

const EVENT_ARGUMENT = {
  name: "event",
  summary: "Id of an event.",
  presence: "required",
  completes: "event"
} as const

export const EVENTS_LIST = defineCommand({
  name: "events list",
  summary: "List events, oldest first",
  description: "Looking takes nothing from a working agent: no event is leased or acknowledged.",
  arguments: [],
  flags: [
    {
      name: "status",
      type: "text",
      value: "STATUS",
      summary: "Only in this state.",
      choices: ["pending", "delivered", "acknowledged", "expired", "failed"]
    },
    TYPES_FLAG,
    SERVICE_FLAG,
    { name: "resource", type: "text", value: "ID", summary: "Only about this mailbox, number or call." },
    { name: "agent", type: "text", value: "ID", summary: "Only of this agent." },
    {
      name: "since",
      type: "text",
      value: "TIME",
      summary: "Created since: 10m, 2h, 3d ago, or a moment with its offset."
    },
    { name: "until", type: "text", value: "TIME", summary: "Created before: written as for --since." },
    LIMIT_FLAG,
    CURSOR_FLAG
  ],
  examples: [
    { line: "agentctl events list --status pending", does: "What nobody has handled" },
    { line: "agentctl events list --types email.received --since 1h", does: "Mail of the last hour" }
  ],
  output: "rows",
  json: "{items: [event], nextCursor}",
  exits: [4, 9]
})

export const EVENTS_GET = defineCommand({
  name: "events get",
  summary: "Show one event with its payload",
  description: "Bodies of messages are never part of an event: agentctl mail read shows them.",
  arguments: [EVENT_ARGUMENT],
  flags: [],
  examples: [{ line: "agentctl events get 0190f3c2-…", does: "One event" }],
  output: "record",
  json: "{event}",
  exits: [4, 5, 9]
})

export const EVENTS_ACK = defineCommand({
  name: "events ack",
  summary: "Acknowledge events, so that they are not delivered again",
  description: "Do so once an event is handled. Doing so again changes nothing.",
  arguments: [
    EVENT_ARGUMENT,
    { name: "more", summary: "Further ids of events.", presence: "several", completes: "event" }
  ],
  flags: [],
  examples: [{ line: "agentctl events ack 0190f3c2-…", does: "One event" }],
  output: "rows",
  json: "{items: [event]}",
  exits: [4, 5, 9]
})

export const EVENTS_ACK_ALL = defineCommand({
  name: "events ack-all",
  summary: "Acknowledge every event before a moment",
  description: "Without --before, everything until now. An agent that has not handled an event will not see it again.",
  arguments: [],
  flags: [
    {
      name: "before",
      type: "text",
      value: "TIME",
      summary: "Created before: 10m, 2h, 3d ago, or a moment with its offset."
    },
    TYPES_FLAG,
    SERVICE_FLAG
  ],
  examples: [{ line: "agentctl events ack-all --before 1d --types payment.completed", does: "Tidies up" }],
  output: "record",
  json: "{acknowledged}",
  exits: [4, 9]
})

export const EVENTS_TAIL = defineCommand({
  name: "events tail",
  summary: "Follow events as they come, and hand them to a command or an address",
  description:
    "Plain, it only looks: it shows what is unacknowledged, then each event as it comes, and takes nothing from a working agent.\nWith --exec or --forward-to it works: each event is leased to it, handled in order, and acknowledged once that has gone well. One that fails is tried again, and those after it go on. A tail that is interrupted, or killed, loses nothing: what was not acknowledged comes again, so handle an event twice as if it were once. With --types, --service or --since nothing is leased, because leases go by order alone: run one such tail at a time.\nConnections are made again by themselves; where no WebSocket gets through, it works over REST. One line of JSON an event where its output is no terminal.",
  arguments: [],
  flags: [
    TYPES_FLAG,
    SERVICE_FLAG,
    {
      name: "since",
      type: "text",
      value: "TIME",
      summary: "Begin with what was created since: 10m, 2h, 3d ago, or a moment with its offset."
    },
    { name: "max", type: "integer", value: "N", summary: "End after so many events.", minimum: 1 },
    {
      name: "exec",
      type: "text",
      value: "CMD",
      summary:
        "Run this shell command for each event, which it reads as JSON on standard input; AGENTOS_EVENT_ID and AGENTOS_EVENT_TYPE are set, and AGENTOS_PRIVATE_KEY, AGENTOS_PASSWORD and AGENTOS_TOKEN are not."
    },
    {
      name: "forward-to",
      type: "text",
      value: "URL",
      summary: "POST each event as JSON to this address; a 2xx is success."
    },
    {
      name: "ack",
      type: "text",
      value: "WHEN",
      summary:
        "Acknowledge never, on success, or always; never unless there is --exec or --forward-to, else on success.",
      choices: ["never", "success", "always"]
    },
    {
      name: "jobs",
      short: "j",
      type: "integer",
      value: "N",
      summary: "Handle so many events at a time. With more than one, they end in any order.",
      default: 1,
      minimum: 1,
      maximum: 64
    }
  ],
  examples: [
    { line: "agentctl events tail --since 1h", does: "Watches, beginning an hour ago" },
    { line: "agentctl events tail --exec './handle-event.sh'", does: "Works: one event after the other" },
    { line: "agentctl events tail --forward-to http://localhost:3000/hook", does: "Hands events to a server of yours" },
    {
      line: "agentctl events tail --types email.received --max 1 | jq .payload",
      does: "Waits for one event, for a script"
    }
  ],
  output: "rows",
  json: "an event a line",
  exits: [4, 9]
})
