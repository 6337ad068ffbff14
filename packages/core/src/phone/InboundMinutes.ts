import { Context, Effect, Layer, Schema } from "effect"
import * as Timestamp from "../kernel/Timestamp.ts"
import type { PaidService } from "../payment/PaidService.ts"
import { CallStore } from "./CallStore.ts"
import * as InboundAllowance from "./InboundAllowance.ts"
import { shareOut } from "./InboundLimits.ts"
import { remainingNumber, usableNumber } from "./OwnedNumber.ts"
import { NumberIdInput } from "./PhoneInput.ts"
import { type PhoneNumber, toPhoneNumberRecord } from "./PhoneNumber.ts"
import { PhoneNumberStore } from "./PhoneNumberStore.ts"

/** Adds 10 minutes of inbound call time to a number. Calls in progress share the new seconds immediately. */
export class InboundMinutes extends Context.Service<InboundMinutes, PaidService<NumberIdInput, null, void>>()(
  "@agentos/core/phone/InboundMinutes"
) {
  static readonly layer = Layer.effect(
    InboundMinutes,
    Effect.gen(function* () {
      const numbers = yield* PhoneNumberStore
      const calls = yield* CallStore
      const usable = usableNumber.bind(undefined, numbers)
      return InboundMinutes.of({
        serviceId: "phone.call.inbound.add.10m",
        input: NumberIdInput,
        plan: Schema.Null,
        retryFor: Timestamp.HOUR,
        check: (tenant, { phoneNumberId }) =>
          Effect.asVoid(usable(tenant, phoneNumberId, InboundAllowance.PURCHASE_SECONDS)),
        prepare: ({ tenant }, { phoneNumberId }) =>
          Effect.as(usable(tenant, phoneNumberId, InboundAllowance.PURCHASE_SECONDS), null),
        abandon: () => Effect.void,
        revalidate: ({ tenant }, _plan, { phoneNumberId }) =>
          Effect.asVoid(remainingNumber(numbers, tenant, phoneNumberId)),
        perform: () => Effect.void,
        record: Effect.fnUntraced(function* ({ tenant }, _plan, { phoneNumberId }) {
          const current = yield* remainingNumber(numbers, tenant, phoneNumberId)
          const now = yield* Timestamp.now
          const number: PhoneNumber = {
            ...current,
            allowance: InboundAllowance.purchased(current.allowance)
          }
          yield* numbers.update(number)
          yield* shareOut(calls, number, now)
          return { created: false, data: { phoneNumber: toPhoneNumberRecord(number, now) } }
        })
      })
    })
  )
}
