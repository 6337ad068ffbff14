import { Context, Effect, Layer, Schema } from "effect"
import { EventStore } from "../events/EventStore.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import type { PaidService } from "../payment/PaidService.ts"
import * as Entitlement from "./Entitlement.ts"
import { remainingNumber, usableNumber } from "./OwnedNumber.ts"
import * as PhoneEvent from "./PhoneEvent.ts"
import { NumberIdInput } from "./PhoneInput.ts"
import { type PhoneNumber, toPhoneNumberRecord } from "./PhoneNumber.ts"
import { PhoneNumberStore } from "./PhoneNumberStore.ts"

/** Adds 30 days to the end of a number's entitlement. The carrier is not asked: it bills the service monthly. */
export class NumberRenewal extends Context.Service<NumberRenewal, PaidService<NumberIdInput, null, void>>()(
  "@agentos/core/phone/NumberRenewal"
) {
  static readonly layer = Layer.effect(
    NumberRenewal,
    Effect.gen(function* () {
      const numbers = yield* PhoneNumberStore
      const events = yield* EventStore
      return NumberRenewal.of({
        serviceId: "phone.number.renew.30d",
        input: NumberIdInput,
        plan: Schema.Null,
        retryFor: Timestamp.HOUR,
        check: (tenant, { phoneNumberId }) => Effect.asVoid(usableNumber(numbers, tenant, phoneNumberId)),
        prepare: ({ tenant }, { phoneNumberId }) => Effect.as(usableNumber(numbers, tenant, phoneNumberId), null),
        abandon: () => Effect.void,
        revalidate: ({ tenant }, _plan, { phoneNumberId }) =>
          Effect.asVoid(remainingNumber(numbers, tenant, phoneNumberId)),
        perform: () => Effect.void,
        record: Effect.fnUntraced(function* ({ operationId, tenant }, _plan, { phoneNumberId }) {
          const current = yield* remainingNumber(numbers, tenant, phoneNumberId)
          const expiresAt = Timestamp.add(current.expiresAt, Entitlement.GRANT)
          const number: PhoneNumber = { ...current, expiresAt, nextNotice: Entitlement.firstNotice(expiresAt) }
          yield* numbers.update(number)
          yield* events.append([PhoneEvent.renewed(number, operationId)])
          return { created: false, data: { phoneNumber: toPhoneNumberRecord(number, yield* Timestamp.now) } }
        })
      })
    })
  )
}
