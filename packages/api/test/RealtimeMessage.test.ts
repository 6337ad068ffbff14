import { RealtimeClientMessage, RealtimeServerMessage } from "@agentos/api"
import { assert, describe, it } from "@effect/vitest"
import { Option, Schema } from "effect"

const eventId = "019aa000-0000-7000-8000-000000000001"

const fromClient = Schema.decodeUnknownOption(RealtimeClientMessage, { onExcessProperty: "error" })
const fromServer = Schema.decodeUnknownOption(RealtimeServerMessage)

const event = {
  eventId,
  type: "email.received",
  status: "delivered",
  source: "smtp",
  service: "email",
  resourceId: eventId,
  agentId: eventId,
  createdAt: "2026-11-21T08:00:00.000Z",
  deliveredAt: "2026-11-21T08:00:00.001Z",
  acknowledgedAt: null,
  expiresAt: "2026-12-21T08:00:00.000Z",
  deliveryCount: 1,
  payload: {
    type: "email.received",
    eventId,
    mailboxId: eventId,
    emailId: eventId,
    from: "bob@example.com",
    subject: "Hello",
    authentication: null,
    automatic: null,
    receivedAt: "2026-11-21T08:00:00.000Z"
  }
}

describe("RealtimeMessage", () => {
  it("accepts the messages of clients", () => {
    const messages = [
      { type: "session.authenticate", token: "eyJ" },
      { type: "session.authenticate", token: "eyJ", mode: "observe" },
      { type: "event.ack", eventId },
      { type: "event.ack", eventId, deliveryId: `${eventId}.1` },
      {
        type: "call.reply",
        callId: eventId,
        turnId: eventId,
        text: "One moment.",
        digits: "0123456789*#w",
        silenceSeconds: 2
      }
    ]
    for (const message of messages) assert.deepEqual<unknown>(fromClient(message), Option.some(message))
  })

  it("rejects invalid messages", () => {
    const refused = [
      {},
      { type: "session.authenticate" },
      { type: "session.authenticate", token: "eyJ", mode: "steal" },
      { type: "session.authenticate", token: "x".repeat(5_000) },
      { type: "event.ack", eventId: "1" },
      { type: "event.ack", eventId, extra: true },
      { type: "call.reply", callId: eventId, turnId: eventId, silenceSeconds: 1 },
      { type: "call.reply", callId: eventId, turnId: eventId, digits: "" },
      { type: "call.reply", callId: eventId, turnId: eventId, digits: "1,2" },
      { type: "call.reply", callId: eventId, turnId: eventId, digits: "1".repeat(65) },
      { type: "session.ready" }
    ]
    for (const message of refused) assert.isTrue(Option.isNone(fromClient(message)), JSON.stringify(message))
  })

  it("accepts the messages of the server", () => {
    const messages = [
      { type: "session.ready", sessionId: eventId, leaseSeconds: 30, maxInFlight: 64, pending: 0 },
      { type: "event.delivery", deliveryId: "1", event },
      { type: "event.observed", event },
      { type: "session.replay.complete", delivered: 3 },
      { type: "event.acknowledged", eventId },
      { type: "event.ack_stale", eventId, reason: "lease_lost" },
      { type: "event.ack_stale", eventId, reason: "expired" },
      { type: "error", code: "RESOURCE_NOT_FOUND", message: "No such event." }
    ]
    for (const message of messages) assert.deepEqual<unknown>(fromServer(message), Option.some(message))
  })
})
