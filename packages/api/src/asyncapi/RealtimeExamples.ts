import { RealtimeSession } from "@agentos/core"
import { EVENT_EXAMPLES } from "../example/EventExamples.ts"
import { CALL, PHONE_NUMBER } from "../example/ResourceExamples.ts"
import type { RealtimeClientMessage, RealtimeServerMessage } from "../RealtimeMessage.ts"

type RealtimeMessage = RealtimeClientMessage | RealtimeServerMessage

const EVENT = EVENT_EXAMPLES["email.received"]
const { eventId } = EVENT
const { callId } = CALL
const DELIVERY_ID = "019ab1c4-0d7b-7d01-8e2a-4b5c6d7e8f90.1"
const TURN_ID = "019ab1cb-1c5d-7d02-8e2a-4b5c6d7e8f91"

/** One message of each type. The deliveries and the turn are those of one session. */
export const REALTIME_EXAMPLES: {
  readonly [Type in RealtimeMessage["type"]]: Extract<RealtimeMessage, { readonly type: Type }>
} = {
  "session.authenticate": { type: "session.authenticate", token: "eyJ…", mode: "deliver" },
  "event.ack": { type: "event.ack", eventId, deliveryId: DELIVERY_ID },
  "call.reply": { type: "call.reply", callId, turnId: TURN_ID, text: "Until six.", hangup: true },
  "session.ready": {
    type: "session.ready",
    sessionId: "019ab1c4-0d7b-7c00-8e2a-4b5c6d7e8f89",
    leaseSeconds: 30,
    maxInFlight: RealtimeSession.MAX_IN_FLIGHT,
    pending: 1
  },
  "event.delivery": { type: "event.delivery", deliveryId: DELIVERY_ID, event: EVENT },
  "event.observed": {
    type: "event.observed",
    event: { ...EVENT, status: "pending", deliveredAt: null, deliveryCount: 0 }
  },
  "session.replay.complete": { type: "session.replay.complete", delivered: 1 },
  "event.acknowledged": { type: "event.acknowledged", eventId },
  "event.ack_stale": { type: "event.ack_stale", eventId, reason: "lease_lost" },
  "call.turn": {
    type: "call.turn",
    callId,
    turnId: TURN_ID,
    phoneNumberId: PHONE_NUMBER.phoneNumberId,
    direction: "inbound",
    from: CALL.toNumber,
    fromWithheld: null,
    to: PHONE_NUMBER.number,
    turn: { text: "When are you open?", at: "2026-01-31T12:00:09.000Z" },
    transcriptSoFar: [{ role: "agent", text: "Hello, this is Ada.", at: "2026-01-31T12:00:05.000Z" }]
  },
  "call.interrupted": { type: "call.interrupted", callId, turnId: TURN_ID },
  error: { type: "error", code: "RESOURCE_NOT_FOUND", message: "No such event." }
}
