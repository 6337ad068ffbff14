import {
  type CallAdmission,
  type CallReports,
  ProviderError,
  type ProviderIngress,
  TelephonyProvider,
  type VoiceConversations
} from "@agentos/core"
import { Effect, Layer, Redacted } from "effect"
import { NO_PROVIDER } from "./ProviderCalls.ts"

/** Telephony as layers: what `twilio(…)` returns. */
export interface Telephony {
  /** The carrier, given the base URL at which it reaches this host. */
  readonly layer: (publicUrl: string) => Layer.Layer<TelephonyProvider, unknown>
  /** Checks that the carrier accepts the credentials. Buys and calls nothing. */
  readonly verify?: (publicUrl: string) => Effect.Effect<void, ProviderError>
  /** The webhooks and sockets through which the carrier reaches this host. */
  readonly ingress: (
    publicUrl: string
  ) => Effect.Effect<ReadonlyArray<ProviderIngress>, never, CallAdmission | CallReports | VoiceConversations>
}

export interface TwilioOptions {
  readonly accountSid: string
  readonly authToken: string | Redacted.Redacted<string>
  /** The secrets of the SharedKeys that sign Twilio's requests instead of the auth token; several during a rotation. */
  readonly sharedKeys?: ReadonlyArray<string | Redacted.Redacted<string>> | undefined
  /** Marks this deployment's numbers at Twilio; by default `agentos`. */
  readonly label?: string | undefined
  /** Whether Twilio reports who answered a call, for which it charges; by default false. */
  readonly detectsMachines?: boolean | undefined
  /** Without a trailing slash; by default Twilio's own. */
  readonly apiUrl?: string | undefined
}

const redacted = (secret: string | Redacted.Redacted<string>): Redacted.Redacted<string> =>
  typeof secret === "string" ? Redacted.make(secret) : secret

const load = Effect.promise(() => import("@agentos/provider-twilio"))

/** Numbers and calls at Twilio. */
export const twilio = ({
  accountSid,
  apiUrl,
  authToken: token,
  detectsMachines = false,
  label = "agentos",
  sharedKeys: keys = []
}: TwilioOptions): Telephony => {
  const authToken = redacted(token)
  const sharedKeys = keys.map(redacted)
  const config = { accountSid, authToken, apiUrl, detectsMachines, label }
  return {
    layer: (publicUrl) =>
      Layer.unwrap(
        Effect.map(load, ({ TelephonyProviderTwilio }) => TelephonyProviderTwilio.layer({ ...config, publicUrl }))
      ),
    verify: (publicUrl) =>
      Effect.flatMap(load, ({ TelephonyProviderTwilio }) => TelephonyProviderTwilio.verify({ ...config, publicUrl })),
    ingress: (publicUrl) =>
      Effect.flatMap(load, ({ TwilioIngress }) =>
        Effect.all([TwilioIngress.make({ accountSid, authToken, publicUrl, sharedKeys })])
      )
  }
}

const noCarrier = Effect.fail(
  new ProviderError({ provider: NO_PROVIDER, reason: "Misconfigured", message: "No carrier is configured." })
)

/**
 * No telephony. The carrier fails every call as misconfigured. Reads of numbers and calls still work; open operations
 * wait until a carrier is configured again, or are refunded.
 */
export const none: Telephony = {
  layer: () =>
    Layer.succeed(TelephonyProvider, {
      name: NO_PROVIDER,
      limitsKeptBy: "service",
      voices: [],
      search: () => noCarrier,
      buy: () => noCarrier,
      findNumber: () => noCarrier,
      release: () => noCarrier,
      listNumbers: () => noCarrier,
      place: () => noCarrier,
      findCalls: () => noCarrier,
      findCall: () => noCarrier,
      changeLimit: () => noCarrier,
      hangUp: () => noCarrier
    }),
  ingress: () => Effect.succeed([])
}
