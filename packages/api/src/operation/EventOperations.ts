import { EventRecord, Timestamp } from "@agentos/core"
import { Schema } from "effect"
import { AcknowledgeAllInput, EventIdInput, ListEventsInput, ReplayEventsQuery } from "../event/EventInput.ts"
import { NO_INPUT, operation } from "./Operation.ts"

const items = Schema.Array(EventRecord)
const oneEvent = Schema.Struct({ event: EventRecord })

export const getRealtimeToken = operation("getRealtimeToken", {
  ...NO_INPUT,
  data: Schema.Struct({
    realtime: Schema.Struct({
      token: Schema.String,
      expiresAt: Timestamp.IsoTimestamp,
      websocketUrl: Schema.String
    }),
    items
  }),
  status: 200
})

export const listEvents = operation("listEvents", {
  ...NO_INPUT,
  payload: ListEventsInput,
  data: Schema.Struct({ items, nextCursor: Schema.NullOr(Schema.String) }),
  status: 200
})

export const getEvent = operation("getEvent", { ...NO_INPUT, payload: EventIdInput, data: oneEvent, status: 200 })

export const acknowledgeEvent = operation("acknowledgeEvent", {
  ...NO_INPUT,
  payload: EventIdInput,
  data: oneEvent,
  status: 200
})

export const acknowledgeAllEvents = operation("acknowledgeAllEvents", {
  ...NO_INPUT,
  payload: AcknowledgeAllInput,
  data: Schema.Struct({ acknowledged: Schema.Int }),
  status: 200
})

export const replayEvents = operation("replayEvents", {
  ...NO_INPUT,
  query: ReplayEventsQuery,
  data: Schema.Struct({ items }),
  status: 200
})

export const acknowledgeEventById = operation("acknowledgeEventById", {
  ...NO_INPUT,
  params: EventIdInput,
  data: oneEvent,
  status: 200
})
