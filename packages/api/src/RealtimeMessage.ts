import { ErrorCode, EventRecord, Uuid } from "@agentos/core"
import { Schema } from "effect"

/** Longest credential that a message may carry, in characters; a realtime token is far shorter. */
const TOKEN_LIMIT = 4_096
/** Longest delivery id; what it is made of is the server's affair. */
const DELIVERY_ID_LIMIT = 128

/**
 * How a session takes part: `deliver` takes events to work on, `observe` is only
 * shown them. `deliver` unless said otherwise.
 */
export const RealtimeMode = Schema.Literals(["deliver", "observe"])
export type RealtimeMode = typeof RealtimeMode.Type

/** The first message of a session, within 5 seconds of connecting. */
export const SessionAuthenticate = Schema.Struct({
  type: Schema.Literal("session.authenticate"),
  token: Schema.String.check(Schema.isMaxLength(TOKEN_LIMIT)),
  mode: Schema.optionalKey(RealtimeMode)
}).annotate({ identifier: "SessionAuthenticate" })

/** Says that an event is handled. With a deliveryId it counts only while that delivery's lease is held. */
export const EventAcknowledge = Schema.Struct({
  type: Schema.Literal("event.ack"),
  eventId: Uuid.GivenUuid,
  deliveryId: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(DELIVERY_ID_LIMIT)))
}).annotate({ identifier: "EventAcknowledge" })

/** What a client may send over the WebSocket. */
export const RealtimeClientMessage = Schema.Union([SessionAuthenticate, EventAcknowledge]).annotate({
  identifier: "RealtimeClientMessage"
})
export type RealtimeClientMessage = typeof RealtimeClientMessage.Type

/** The session is open: for how long each delivery is leased to it, how many it may hold, and what waits. */
export const SessionReady = Schema.Struct({
  type: Schema.Literal("session.ready"),
  sessionId: Uuid.Uuid,
  leaseSeconds: Schema.Finite,
  maxInFlight: Schema.Int,
  pending: Schema.Int
}).annotate({ identifier: "SessionReady" })

/** An event to handle and acknowledge. */
export const EventDelivery = Schema.Struct({
  type: Schema.Literal("event.delivery"),
  deliveryId: Schema.String,
  event: EventRecord
}).annotate({ identifier: "EventDelivery" })

/** An event as a session that observes is shown it. */
export const EventObserved = Schema.Struct({ type: Schema.Literal("event.observed"), event: EventRecord }).annotate({
  identifier: "EventObserved"
})

/** What was waiting when the session began has been sent; what follows is new. */
export const SessionReplayComplete = Schema.Struct({
  type: Schema.Literal("session.replay.complete"),
  delivered: Schema.Int
}).annotate({ identifier: "SessionReplayComplete" })

/** The event is acknowledged, and will not be delivered again. */
export const EventAcknowledged = Schema.Struct({
  type: Schema.Literal("event.acknowledged"),
  eventId: Uuid.Uuid
}).annotate({ identifier: "EventAcknowledged" })

/** The delivery that was named is no longer this session's: nothing was acknowledged. */
export const EventAcknowledgementStale = Schema.Struct({
  type: Schema.Literal("event.ack_stale"),
  eventId: Uuid.Uuid
}).annotate({ identifier: "EventAcknowledgementStale" })

/** Something is wrong with a message, or with the session; the close code says whether it goes on. */
export const RealtimeError = Schema.Struct({
  type: Schema.Literal("error"),
  code: ErrorCode,
  message: Schema.String
}).annotate({ identifier: "RealtimeError" })

/** What the server may send over the WebSocket. */
export const RealtimeServerMessage = Schema.Union([
  SessionReady,
  EventDelivery,
  EventObserved,
  SessionReplayComplete,
  EventAcknowledged,
  EventAcknowledgementStale,
  RealtimeError
]).annotate({ identifier: "RealtimeServerMessage" })
export type RealtimeServerMessage = typeof RealtimeServerMessage.Type
