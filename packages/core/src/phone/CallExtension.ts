import { Context, Effect, Layer, Option, Schema } from "effect"
import { ProviderError } from "../kernel/ProviderError.ts"
import { AllowanceExhausted, Conflict, NumberExpiring } from "../kernel/ResourceError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Transactor } from "../kernel/Transactor.ts"
import type { OperationContext, PaidService } from "../payment/PaidService.ts"
import type { Tenant } from "../tenancy/Tenant.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import { requireAttended } from "./Attendance.ts"
import { type Call, toCallRecord } from "./Call.ts"
import { tellLimit } from "./CallLimit.ts"
import { deadlineOf } from "./CallProgress.ts"
import { CallStore } from "./CallStore.ts"
import * as Entitlement from "./Entitlement.ts"
import { ownedCall } from "./OwnedCall.ts"
import { usableNumber } from "./OwnedNumber.ts"
import { CallIdInput } from "./PhoneInput.ts"
import { PhoneNumberStore } from "./PhoneNumberStore.ts"
import { TelephonyProvider } from "./TelephonyProvider.ts"

/** The connected seconds that one extension adds. */
export const EXTENSION_SECONDS = 60

/**
 * Adds exactly 60 seconds to a call that is in progress.
 *
 * The seconds are first granted in the store, once for each operation. Then the carrier receives the sum of all granted
 * seconds, and the sum is read again afterwards. So of two concurrent extensions, neither overwrites the other.
 */
export class CallExtension extends Context.Service<CallExtension, PaidService<CallIdInput, null, Call>>()(
  "@agentos/core/phone/CallExtension"
) {
  static readonly layer = Layer.effect(
    CallExtension,
    Effect.gen(function* () {
      const calls = yield* CallStore
      const numbers = yield* PhoneNumberStore
      const provider = yield* TelephonyProvider
      const tenants = yield* TenantStore
      const transactor = yield* Transactor

      const check = Effect.fnUntraced(function* (tenant: Tenant | null, { callId }: CallIdInput) {
        const call = yield* ownedCall(calls, tenant, callId)
        const { phoneNumberId } = call
        if (call.direction === "inbound") return yield* new AllowanceExhausted({ phoneNumberId })
        const deadline = deadlineOf(call)
        if (deadline === null || call.hangUpReason !== null) {
          const why = call.state === "ended" || call.hangUpReason !== null ? "has ended" : "was not answered yet"
          return yield* new Conflict({
            message: `The call ${callId} ${why}; only an answered call that goes on can be extended.`
          })
        }
        const number = yield* usableNumber(numbers, tenant, phoneNumberId)
        if (!Entitlement.outlasts(number, deadline, EXTENSION_SECONDS * Timestamp.SECOND)) {
          return yield* new NumberExpiring({ phoneNumberId })
        }
      })

      const over = () =>
        new ProviderError({
          provider: provider.name,
          reason: "Rejected",
          message: "The call had ended before it could be extended."
        })

      const grant = ({ operationId, tenant }: OperationContext, callId: string) =>
        transactor.transact(
          Effect.andThen(tenants.lock([tenant.tenantId]), calls.grant(callId, operationId, EXTENSION_SECONDS))
        )

      const tell = (granted: Call) =>
        granted.providerCallId === null ? over() : tellLimit(calls, provider, granted, granted.providerCallId)

      return CallExtension.of({
        serviceId: "phone.call.extend.1m",
        input: CallIdInput,
        plan: Schema.Null,
        // A grant requires a live call. After 60 s of failures, no time is left to extend.
        retryFor: EXTENSION_SECONDS * Timestamp.SECOND,
        check,
        prepare: ({ tenant }, input) => Effect.as(check(tenant, input), null),
        abandon: ({ operationId }) => calls.revoke(operationId),
        revalidate: () => Effect.void,
        perform: Effect.fnUntraced(function* (context, _plan, { callId }) {
          const before = yield* calls.granted(context.operationId)
          if (Option.isSome(before)) return yield* tell(before.value)
          yield* requireAttended(context, provider.name, "The extension")
          const granted = yield* grant(context, callId)
          return yield* Option.isSome(granted) ? tell(granted.value) : over()
        }),
        record: (_context, _plan, _input, call) =>
          Effect.succeed({ created: false, data: { call: toCallRecord(call) } })
      })
    })
  )
}
