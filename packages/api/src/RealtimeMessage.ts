import {
  CallDirection,
  Digits,
  ErrorCode,
  EventRecord,
  maxEntries,
  PARTY_FIELDS,
  SilenceSeconds,
  TURN_FIELDS,
  Uuid
} from "@agentos/core"
import { Schema } from "effect"

/** Maximum length of a credential in a message, in characters. A realtime token is far shorter. */
const TOKEN_LIMIT = 4_096
/** Maximum length of a delivery id. Its format is private to the server. */
const DELIVERY_ID_LIMIT = 128
/** Maximum number of phone numbers that a voice session names. */
const NUMBERS_LIMIT = 100
/** Maximum length of the text of one reply. A longer answer is sent in several. */
const TEXT_LIMIT = 4_000

/** Maximum size of a client's message, in bytes: a reply of 4,000 characters, each escaped. */
export const REALTIME_MESSAGE_LIMIT_BYTES = 32 * 1024

/** The close codes of the WebSocket: those of RFC 6455 and, from 4000 on, its own. */
export const CLOSE_CODES = {
  tooLarge: { code: 1009, meaning: `a message of more than ${REALTIME_MESSAGE_LIMIT_BYTES / 1024} KiB` },
  failed: { code: 1011, meaning: "session failed: reconnect" },
  restarting: { code: 1012, meaning: "server restarting: reconnect" },
  tooMany: { code: 1013, meaning: "too many sockets" },
  badMessage: { code: 4400, meaning: "invalid message" },
  unauthenticated: { code: 4401, meaning: "not authenticated, or token revoked" },
  slowReader: { code: 4408, meaning: "reading too slowly" },
  tooManyFrames: {
    code: 4429,
    meaning: "too many frames before authentication, or a message in more than 16 fragments"
  }
} as const
export type CloseCode = (typeof CLOSE_CODES)[keyof typeof CLOSE_CODES]["code"]

/**
 * The mode of a session: `deliver` leases events to process, `observe` only shows them, `voice` answers calls. The
 * default is `deliver`.
 */
export const RealtimeMode = Schema.Literals(["deliver", "observe", "voice"])
export type RealtimeMode = typeof RealtimeMode.Type

export const SessionAuthenticate = Schema.Struct({
  type: Schema.Literal("session.authenticate").annotateKey({ description: "Always session.authenticate." }),
  token: Schema.String.check(Schema.isMaxLength(TOKEN_LIMIT)).annotateKey({ description: "A realtime token." }),
  mode: Schema.optionalKey(RealtimeMode).annotateKey({
    description:
      "deliver: leases events to process. observe: only shows events. voice: answers calls. Default: deliver."
  }),
  phoneNumberIds: Schema.optionalKey(
    Schema.Array(Uuid.GivenUuid).check(Schema.isMinLength(1), maxEntries(NUMBERS_LIMIT))
  ).annotateKey({ description: "Numbers whose calls a session of mode voice receives. Default: all of yours." })
}).annotate({
  identifier: "SessionAuthenticate",
  description:
    "The first message of a session, within 5 seconds of connecting. A session of mode voice receives the calls of `phoneNumberIds`, by default of all your numbers."
})

export const EventAcknowledge = Schema.Struct({
  type: Schema.Literal("event.ack").annotateKey({ description: "Always event.ack." }),
  eventId: Uuid.GivenUuid.annotateKey({ description: "Id of the event to acknowledge." }),
  deliveryId: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(DELIVERY_ID_LIMIT))).annotateKey({
    description: "The deliveryId of the delivery to acknowledge. Absent: any delivery."
  })
}).annotate({
  identifier: "EventAcknowledge",
  description: "Acknowledges an event. With a deliveryId, it has an effect only while that delivery's lease is held."
})

export const CallReply = Schema.Struct({
  type: Schema.Literal("call.reply").annotateKey({ description: "Always call.reply." }),
  callId: Uuid.GivenUuid.annotateKey({ description: "Id of the call." }),
  turnId: Uuid.GivenUuid.annotateKey({ description: "Id of the turn that the reply answers." }),
  text: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(TEXT_LIMIT))).annotateKey({
    description: "Text to speak."
  }),
  digits: Schema.optionalKey(Digits).annotateKey({
    description: "Keys to press after the text, for a menu at the other end. `w` waits half a second."
  }),
  hangup: Schema.optionalKey(Schema.Boolean).annotateKey({
    description: "Whether the call ends after the text and the keys. Default: false."
  }),
  silenceSeconds: Schema.optionalKey(SilenceSeconds).annotateKey({
    description:
      "Asks you again, with the turn `[silence]`, if the person says nothing for this long after the answer. After three such turns in a row, the next silence ends the call. Default: silence is no turn."
  }),
  more: Schema.optionalKey(Schema.Boolean).annotateKey({
    description: "Whether further replies to the turn follow. Default: false."
  }),
  decline: Schema.optionalKey(Schema.Boolean).annotateKey({
    description: "Whether the session gives the call away. Default: false."
  })
}).annotate({
  identifier: "CallReply",
  description:
    "Answers a turn of a call: `text` is spoken, then `digits` are pressed, then `hangup: true` ends the call. The answer is complete unless `more` is true: then further replies to the same turn follow. `decline: true` gives the call to your next session, or to the webhook of its number."
})

export const RealtimeClientMessage = Schema.Union([SessionAuthenticate, EventAcknowledge, CallReply]).annotate({
  identifier: "RealtimeClientMessage"
})
export type RealtimeClientMessage = typeof RealtimeClientMessage.Type

export const SessionReady = Schema.Struct({
  type: Schema.Literal("session.ready").annotateKey({ description: "Always session.ready." }),
  sessionId: Uuid.Uuid.annotateKey({ description: "Id of the session." }),
  leaseSeconds: Schema.Finite.annotateKey({ description: "How long a delivery is leased, in seconds." }),
  maxInFlight: Schema.Int.annotateKey({ description: "Number of deliveries that the session may hold at once." }),
  pending: Schema.Int.annotateKey({ description: "Number of pending events." })
}).annotate({
  identifier: "SessionReady",
  description:
    "The session is open. States how long each delivery is leased, how many the session may hold, and how many are pending."
})

export const EventDelivery = Schema.Struct({
  type: Schema.Literal("event.delivery").annotateKey({ description: "Always event.delivery." }),
  deliveryId: Schema.String.annotateKey({ description: "Id of this delivery, for its acknowledgement." }),
  event: EventRecord.annotateKey({ description: "The event." })
}).annotate({ identifier: "EventDelivery", description: "An event to process and acknowledge." })

export const EventObserved = Schema.Struct({
  type: Schema.Literal("event.observed").annotateKey({ description: "Always event.observed." }),
  event: EventRecord.annotateKey({ description: "The event." })
}).annotate({
  identifier: "EventObserved",
  description: "An event as shown to an observing session."
})

export const SessionReplayComplete = Schema.Struct({
  type: Schema.Literal("session.replay.complete").annotateKey({ description: "Always session.replay.complete." }),
  delivered: Schema.Int.annotateKey({ description: "Number of events that were sent." })
}).annotate({
  identifier: "SessionReplayComplete",
  description: "All events that were pending at the start of the session have been sent. New ones follow."
})

export const EventAcknowledged = Schema.Struct({
  type: Schema.Literal("event.acknowledged").annotateKey({ description: "Always event.acknowledged." }),
  eventId: Uuid.Uuid.annotateKey({ description: "Id of the event." })
}).annotate({
  identifier: "EventAcknowledged",
  description: "The event is acknowledged, and will not be delivered again."
})

/** The outcome of the acknowledgement of an expired event, by REST and on the WebSocket. */
export const EXPIRED_EVENT = "The event has expired. It is not acknowledged, and not delivered again."

export const EventAcknowledgementStale = Schema.Struct({
  type: Schema.Literal("event.ack_stale").annotateKey({ description: "Always event.ack_stale." }),
  eventId: Uuid.Uuid.annotateKey({ description: "Id of the event." }),
  reason: Schema.optionalKey(Schema.Literals(["lease_lost", "expired"])).annotateKey({
    description: "lease_lost: the lease of the delivery has ended. expired: the event has expired."
  })
}).annotate({
  identifier: "EventAcknowledgementStale",
  description: `Nothing was acknowledged. \`lease_lost\`: the lease of the named delivery has ended, and the event is delivered again unless another session acknowledges it. \`expired\`: ${EXPIRED_EVENT}`
})

export const CallTurn = Schema.Struct({
  type: Schema.Literal("call.turn").annotateKey({ description: "Always call.turn." }),
  callId: Uuid.Uuid.annotateKey({ description: "Id of the call." }),
  turnId: Uuid.Uuid.annotateKey({ description: "Id of the turn, for the reply." }),
  phoneNumberId: Uuid.Uuid.annotateKey({ description: "Id of your number in the call." }),
  direction: CallDirection.annotateKey({
    description: "inbound: a person called your number. outbound: you placed the call."
  }),
  ...PARTY_FIELDS,
  ...TURN_FIELDS
}).annotate({
  identifier: "CallTurn",
  description: "A turn of the person on the line, to be answered by `call.reply` within 5 seconds."
})

export const CallInterrupted = Schema.Struct({
  type: Schema.Literal("call.interrupted").annotateKey({ description: "Always call.interrupted." }),
  callId: Uuid.Uuid.annotateKey({ description: "Id of the call." }),
  turnId: Uuid.Uuid.annotateKey({ description: "Id of the turn that is over." })
}).annotate({
  identifier: "CallInterrupted",
  description:
    "The turn is over: the person spoke over the answer or said something else, the call ended, or time ran out."
})

export const RealtimeError = Schema.Struct({
  type: Schema.Literal("error").annotateKey({ description: "Always error." }),
  code: ErrorCode.annotateKey({ description: "The error code." }),
  message: Schema.String.annotateKey({ description: "The problem and the fix, for people." })
}).annotate({
  identifier: "RealtimeError",
  description: "A message or the session is invalid. If the session ends, a close code follows."
})

export const RealtimeServerMessage = Schema.Union([
  SessionReady,
  EventDelivery,
  EventObserved,
  SessionReplayComplete,
  EventAcknowledged,
  EventAcknowledgementStale,
  CallTurn,
  CallInterrupted,
  RealtimeError
]).annotate({ identifier: "RealtimeServerMessage" })
export type RealtimeServerMessage = typeof RealtimeServerMessage.Type
