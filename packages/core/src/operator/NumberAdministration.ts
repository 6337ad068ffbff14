import { Effect } from "effect"
import { makeCarrierNumbers } from "../phone/CarrierNumbers.ts"
import { TelephonyProvider } from "../phone/TelephonyProvider.ts"
import { recordBeginning } from "./Audit.ts"

/**
 * Releases a number without a record at the carrier, permanently. Fails with `NumberNotUnrecorded` if a tenant or a purchase has
 * it, or the carrier does not.
 */
export const releaseUnrecorded = Effect.fnUntraced(function* (number: string) {
  const { findUnrecorded } = yield* makeCarrierNumbers
  const { release } = yield* TelephonyProvider
  const { providerNumberId } = yield* findUnrecorded(number)
  yield* recordBeginning("number.begin-release", { providerNumberId }, null)
  yield* release(providerNumberId)
})
