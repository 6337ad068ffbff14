import { Effect, Layer } from "effect"
import { toStored } from "../payment/PaidService.ts"
import { FiveMinuteCall, OneMinuteCall } from "./CallPlacing.ts"
import { CallExtension, InboundMinutes, NumberRenewal } from "./Extensions.ts"
import { CanadaNumberPurchase, UsNumberPurchase } from "./NumberPurchase.ts"

export {
  CallExtension,
  CanadaNumberPurchase,
  FiveMinuteCall,
  InboundMinutes,
  NumberRenewal,
  OneMinuteCall,
  UsNumberPurchase
}

/** The paid services of the phone half. */
export const phoneServices = Layer.mergeAll(
  UsNumberPurchase.layer,
  CanadaNumberPurchase.layer,
  NumberRenewal.layer,
  InboundMinutes.layer,
  OneMinuteCall.layer,
  FiveMinuteCall.layer,
  CallExtension.layer
)

export const storedPhoneServices = Effect.gen(function* () {
  return [
    toStored(yield* UsNumberPurchase),
    toStored(yield* CanadaNumberPurchase),
    toStored(yield* NumberRenewal),
    toStored(yield* InboundMinutes),
    toStored(yield* OneMinuteCall),
    toStored(yield* FiveMinuteCall),
    toStored(yield* CallExtension)
  ]
})
