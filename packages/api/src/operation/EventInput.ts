import {
  DateTime,
  DEFAULT_LIST_LIMIT,
  DEFAULT_REPLAY_LIMIT,
  EventStatus,
  EventType,
  PageInput,
  plainText,
  Timestamp,
  Uuid,
  maxEntries
} from "@agentos/core"
import { Schema } from "effect"

const TYPES_LIMIT = 50
const NAME_LIMIT = 128
const URL_LIMIT = 2_048

const name = plainText(NAME_LIMIT)
const time = Timestamp.Timestamp.make(Date.UTC(2026, 0, 31, 12))

const someTypes = Schema.Array(name).check(
  Schema.isMinLength(1, { message: "must contain at least one type. Omit it to match events of all types" }),
  maxEntries(TYPES_LIMIT)
)
const types = Schema.optionalKey(someTypes).annotateKey({
  description: "Types of the events. An event matches any of them.",
  examples: [["email.received"]]
})
const service = Schema.optionalKey(name).annotateKey({
  description: "Only events of this service area: email, phone, payment or events (event webhooks).",
  examples: ["email"]
})

/** A page of the pending events. */
export const ReplayEventsInput = Schema.Struct({
  limit: PageInput.limit({ maximum: 200, default: DEFAULT_REPLAY_LIMIT }),
  cursor: PageInput.cursor
})

/** A page of the pending events that come with a realtime token. */
export const RealtimeTokenInput = Schema.Struct({ cursor: PageInput.cursor })

/** The filter of a list of events. An event must match every given part. `from` is inclusive, `to` exclusive. */
export const ListEventsInput = Schema.Struct({
  status: Schema.optionalKey(EventStatus).annotateKey({
    description: "Status of the events.",
    examples: ["pending"]
  }),
  types,
  agentId: Schema.optionalKey(name).annotateKey({
    description: "Only events of this agent.",
    examples: ["019ab1c8-8d53-7c21-a0d4-55a6d0b0e6f1"]
  }),
  service,
  resourceId: Schema.optionalKey(name).annotateKey({
    description: "Only events about this resource.",
    examples: ["019ab1c0-5f3e-7cc1-8a52-3f6f0c8f2a11"]
  }),
  from: Schema.optionalKey(DateTime).annotateKey({
    description: "Only events created at or after this time.",
    examples: [time]
  }),
  to: Schema.optionalKey(DateTime).annotateKey({
    description: "Only events created before this time.",
    examples: [time]
  }),
  limit: PageInput.limit({ maximum: 100, default: DEFAULT_LIST_LIMIT }),
  cursor: PageInput.cursor
}).annotate({ identifier: "ListEventsInput" })
export type ListEventsInput = typeof ListEventsInput.Type

/** The endpoint that receives the events of a tenant. */
export const SetEventWebhookInput = Schema.Struct({
  url: plainText(URL_LIMIT).annotateKey({
    description:
      "The https URL, at a public address and on port 443, that receives your events. In a sandbox also an http URL at its own machine.",
    examples: ["https://agent.example.com/events"]
  }),
  types: Schema.optionalKey(
    Schema.Array(EventType).check(
      Schema.isMinLength(1, { message: "must contain at least one type. Omit it to receive events of all types" }),
      maxEntries(TYPES_LIMIT)
    )
  ).annotateKey({ description: "Types of the events to deliver; all by default.", examples: [["email.received"]] }),
  rotateSecret: Schema.optionalKey(Schema.Boolean).annotateKey({
    description: "Makes a new signing secret although the URL stays.",
    examples: [true]
  })
}).annotate({ identifier: "SetEventWebhookInput" })

export const EventIdInput = Schema.Struct({
  eventId: Uuid.GivenUuid.annotateKey({
    description: "Id of your event.",
    examples: ["019ab1c2-7a10-7d5e-b1f3-0b8c5f6a9e42"]
  })
}).annotate({ identifier: "EventIdInput" })

/** Selects the events to acknowledge: created before `before`, and limited to these types or this service if given. */
export const AcknowledgeAllInput = Schema.Struct({
  before: DateTime.annotateKey({
    description: "The cutoff. Only events created before it are acknowledged.",
    examples: [time]
  }),
  types,
  service
}).annotate({ identifier: "AcknowledgeAllInput" })
