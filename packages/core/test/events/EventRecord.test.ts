import { EVENT_RECORDS, type EventRecord, EventType, INTERNAL_SOURCE, toEventRecord, Uuid } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { EMAIL_RECEIVED } from "../../src/email/EmailEvent.ts"
import { draftEvent, type DurableEvent } from "../../src/events/DurableEvent.ts"
import * as Timestamp from "../../src/kernel/Timestamp.ts"

const payload = {
  mailboxId: "019aa000-0000-7000-8000-000000000002",
  emailId: "019aa000-0000-7000-8000-000000000003",
  from: "bob@example.com",
  subject: "Hello",
  authentication: null,
  automatic: null,
  receivedAt: "2026-01-31T12:00:00.000Z"
}

const about = {
  tenantId: "019aa000-0000-7000-8000-000000000001",
  source: INTERNAL_SOURCE,
  service: "email",
  resourceId: payload.emailId,
  agentId: payload.mailboxId,
  once: payload.emailId
}

describe("EventRecord", () => {
  it("has one record for each event type, under a name of its own", () => {
    assert.deepStrictEqual(Object.keys(EVENT_RECORDS), [...EventType.literals])
  })

  it("is narrowed by its type to the payload of that type", () => {
    const subjectOf = (event: EventRecord): string => {
      if (event.type === "email.received") return event.payload.subject
      // @ts-expect-error no other event has a subject
      return event.payload.subject
    }
    const event: DurableEvent = {
      ...draftEvent(EMAIL_RECEIVED, { ...about, payload }),
      eventId: about.tenantId,
      status: "pending",
      createdAt: Timestamp.Timestamp.make(0),
      deliveredAt: null,
      acknowledgedAt: null,
      expiresAt: Timestamp.Timestamp.make(1),
      deliveryCount: 0
    }
    assert.strictEqual(subjectOf(toEventRecord(event)), "Hello")
  })

  it.effect("is drafted once for each text that identifies it, under its type", () =>
    Effect.gen(function* () {
      const once = yield* Uuid.next
      const draft = draftEvent(EMAIL_RECEIVED, { ...about, once, payload })
      assert.strictEqual(draft.dedupeKey, `email.received:${once}`)
      assert.notProperty(draft, "once")
    })
  )

  it("is drafted with the declared payload only", () => {
    const { subject: _, ...partial } = payload
    // @ts-expect-error the subject is missing
    draftEvent(EMAIL_RECEIVED, { ...about, payload: partial })
    // @ts-expect-error the declaration has no body
    draftEvent(EMAIL_RECEIVED, { ...about, payload: { ...payload, body: "Hello" } })
    // @ts-expect-error the subject is text
    draftEvent(EMAIL_RECEIVED, { ...about, payload: { ...payload, subject: 1 } })
  })
})
