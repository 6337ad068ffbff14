import type { CallClock } from "../CallClock.ts"
import type { CallStatus, CarrierStore, Ender } from "../CarrierStore.ts"
import type { Journal } from "../Journal.ts"
import type { TwilioWebhooks } from "../twilio/TwilioWebhooks.ts"
import type { CallbackDelivery } from "./StatusCallbacks.ts"

/** What a call needs of the carrier. */
export interface CallContext {
  readonly accountSid: string
  readonly authToken: string
  readonly clock: CallClock
  readonly store: CarrierStore
  readonly journal: Journal
  readonly webhooks: TwilioWebhooks
  readonly delivery: () => CallbackDelivery
  /** Whether a call is ended at its time limit: a test may want to see who ends it otherwise. */
  readonly keepsLimits: () => boolean
}

/** How a call ends. */
export interface CallEnding {
  readonly by: Ender
  readonly reason: string
  /** By default completed, or, where it was never answered, failed. */
  readonly status?: CallStatus
  /** When that was due, on the calls' clock, if not now. */
  readonly at?: number
}
