import { Schema } from "effect"
import { EMAIL_EVENTS } from "./email/EmailEvent.ts"
import { type AnyEventDeclaration, type DurableEvent, type EventType, toAnyEventRecord } from "./events/DurableEvent.ts"
import { WEBHOOK_EVENTS } from "./events/WebhookEvent.ts"
import { PAYMENT_EVENTS } from "./payment/PaymentEvent.ts"
import { PHONE_EVENTS } from "./phone/PhoneEvent.ts"

const DECLARATIONS = [...EMAIL_EVENTS, ...PHONE_EVENTS, ...PAYMENT_EVENTS, ...WEBHOOK_EVENTS] as const

const recordsOf = <Each extends AnyEventDeclaration>(declarations: ReadonlyArray<Each>) =>
  Object.fromEntries(declarations.map(({ record, type }) => [type, record])) as {
    readonly [Type in Each["type"]]: Extract<Each, { readonly type: Type }>["record"]
  }

/** The records of each event type. */
export const EVENT_RECORDS = recordsOf(DECLARATIONS) satisfies {
  readonly [Type in EventType]: Schema.Codec<{ readonly type: Type }, unknown>
}

/** An event as clients see it: `type` determines the payload. */
export const EventRecord = Schema.Union(Object.values(EVENT_RECORDS)).annotate({ identifier: "EventRecord" })
export type EventRecord = typeof EventRecord.Type

/** Returns an event as clients see it. Its payload is as `draftEvent` checked it before it was stored. */
export const toEventRecord = (event: DurableEvent): EventRecord => toAnyEventRecord(event) as EventRecord
