import { EventStatus, plainText, Uuid } from "@agentos/core"
import { Schema } from "effect"
import { DateTime } from "./DateTime.ts"

const LIST_LIMIT = 100
const REPLAY_LIMIT = 200
const TYPES_LIMIT = 50
const NAME_LIMIT = 128
const CURSOR_LIMIT = 256

const name = plainText(NAME_LIMIT)
const types = Schema.Array(name).check(Schema.isMaxLength(TYPES_LIMIT))

/** The maximum number of events to return. */
export const ReplayEventsQuery = Schema.Struct({
  limit: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: REPLAY_LIMIT })))
})

/** The filter of a list of events. An event must match every given part. `from` is inclusive, `to` exclusive. */
export const ListEventsInput = Schema.Struct({
  status: Schema.optionalKey(EventStatus),
  types: Schema.optionalKey(types),
  agentId: Schema.optionalKey(name),
  service: Schema.optionalKey(name),
  resourceId: Schema.optionalKey(name),
  from: Schema.optionalKey(DateTime),
  to: Schema.optionalKey(DateTime),
  limit: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: LIST_LIMIT }))),
  cursor: Schema.optionalKey(plainText(CURSOR_LIMIT))
}).annotate({ identifier: "ListEventsInput" })
export type ListEventsInput = typeof ListEventsInput.Type

export const EventIdInput = Schema.Struct({ eventId: Uuid.GivenUuid }).annotate({ identifier: "EventIdInput" })

/** Selects the events to acknowledge: created before `before`, and limited to these types or this service if given. */
export const AcknowledgeAllInput = Schema.Struct({
  before: DateTime,
  types: Schema.optionalKey(types),
  service: Schema.optionalKey(name)
}).annotate({ identifier: "AcknowledgeAllInput" })
