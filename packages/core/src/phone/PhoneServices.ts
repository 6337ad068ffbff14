import { Effect } from "effect"
import { toStored } from "../payment/PaidService.ts"
import { fiveMinuteCall, oneMinuteCall } from "./CallPlacing.ts"
import { callExtension, inboundMinutes, numberRenewal } from "./Extensions.ts"
import { canadaNumberPurchase, usNumberPurchase } from "./NumberPurchase.ts"

/** The paid services of the phone half. */
export const phoneServices = Effect.all([
  Effect.map(usNumberPurchase, toStored),
  Effect.map(canadaNumberPurchase, toStored),
  Effect.map(numberRenewal, toStored),
  Effect.map(inboundMinutes, toStored),
  Effect.map(oneMinuteCall, toStored),
  Effect.map(fiveMinuteCall, toStored),
  Effect.map(callExtension, toStored)
])
