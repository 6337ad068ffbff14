import { Schema } from "effect"
import { EMAIL_RECEIVED } from "./email/EmailEvent.ts"
import {
  type DurableEvent,
  EVENT_RECORD_FIELDS,
  type EventDeclaration,
  type EventType,
  toAnyEventRecord
} from "./events/DurableEvent.ts"
import { WEBHOOK_PAUSED } from "./events/WebhookEvent.ts"
import { Uuid } from "./kernel/Uuid.ts"
import { PAYMENT_COMPLETED, PAYMENT_FAILED, PAYMENT_REFUNDED } from "./payment/PaymentEvent.ts"
import {
  CALL_ENDED,
  CALL_STARTED,
  NUMBER_EXPIRING,
  NUMBER_RECONCILED,
  NUMBER_RELEASED,
  NUMBER_RENEWED,
  NUMBER_SUSPENDED
} from "./phone/PhoneEvent.ts"

/** The name of an event type in the contract: `EmailReceived` for `email.received`. */
const nameOf = (type: EventType): string =>
  type.replaceAll(/(?:^|\.)([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Returns the schema of the records of one event type. */
const recordOf = <const Type extends EventType, const Fields extends Schema.Struct.Fields>({
  description,
  payload,
  type
}: EventDeclaration<Type, Fields>) => {
  const { eventId, ...fields } = EVENT_RECORD_FIELDS
  return Schema.Struct({
    eventId,
    type: Schema.Literal(type),
    ...fields,
    payload: Schema.Struct({ type: Schema.Literal(type), eventId: Uuid, ...payload.fields }).annotate({
      identifier: `${nameOf(type)}Payload`
    })
  }).annotate({ identifier: `${nameOf(type)}Event`, description })
}

/** The records of each event type. */
export const EVENT_RECORDS = {
  "email.received": recordOf(EMAIL_RECEIVED),
  "phone.call.started": recordOf(CALL_STARTED),
  "phone.call.ended": recordOf(CALL_ENDED),
  "phone.number.expiring": recordOf(NUMBER_EXPIRING),
  "phone.number.renewed": recordOf(NUMBER_RENEWED),
  "phone.number.released": recordOf(NUMBER_RELEASED),
  "phone.number.suspended": recordOf(NUMBER_SUSPENDED),
  "phone.number.reconciled": recordOf(NUMBER_RECONCILED),
  "payment.completed": recordOf(PAYMENT_COMPLETED),
  "payment.failed": recordOf(PAYMENT_FAILED),
  "payment.refunded": recordOf(PAYMENT_REFUNDED),
  "events.webhook.paused": recordOf(WEBHOOK_PAUSED)
} satisfies { readonly [Type in EventType]: Schema.Codec<{ readonly type: Type }, unknown> }

/** An event as clients see it: `type` determines the payload. */
export const EventRecord = Schema.Union(Object.values(EVENT_RECORDS)).annotate({ identifier: "EventRecord" })
export type EventRecord = typeof EventRecord.Type

/** Returns an event as clients see it. Its payload is as `draftEvent` checked it before it was stored. */
export const toEventRecord = (event: DurableEvent): EventRecord => toAnyEventRecord(event) as EventRecord
