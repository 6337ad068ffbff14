import { type AllowedAgent, AgentCallbackHttps, WebhookClientHttps } from "@agentos/agent-webhook"
import { ProviderError, TelephonyProvider } from "@agentos/core"
import { Ingress } from "@agentos/ingress"
import { NumberingPlanLibphonenumber } from "@agentos/numbering-libphonenumber"
import { TelephonyProviderTwilio, TwilioIngress } from "@agentos/provider-twilio"
import { Effect, Layer } from "effect"
import type { AllowedAgentConfig } from "./PhoneConfig.ts"
import { readConfiguredFile, type ServerConfig } from "./ServerConfig.ts"

const allowed = ({ caFile, host, port }: AllowedAgentConfig) =>
  Effect.map(readConfiguredFile("AGENTOS_AGENT_WEBHOOK_ALLOW", caFile), (ca): AllowedAgent => ({ host, port, ca }))

const noCarrier = Effect.fail(
  new ProviderError({ provider: "none", reason: "Misconfigured", message: "No carrier is configured." })
)

const unavailable = Layer.succeed(TelephonyProvider, {
  name: "none",
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
})

/**
 * The telephony ports, and the client of event webhooks, which may call the same hosts as voice callbacks. Without a carrier, the provider fails every call as misconfigured. Reads of numbers and calls
 * still work; open operations wait until a carrier is configured again, or are refunded.
 */
export const phonePorts = ({ phone: { allowedAgents, carrier }, publicUrl }: ServerConfig) =>
  Layer.mergeAll(
    carrier === undefined ? unavailable : TelephonyProviderTwilio.layer({ ...carrier, publicUrl }),
    NumberingPlanLibphonenumber.layer,
    Layer.unwrap(
      Effect.map(Effect.forEach(allowedAgents, allowed), (allow) =>
        Layer.merge(AgentCallbackHttps.layer({ allow }), WebhookClientHttps.layer({ allow }))
      )
    )
  )

/** The webhooks and sockets of the configured carrier. */
export const ingressLayer = ({ phone: { carrier }, publicUrl }: ServerConfig) =>
  Layer.effect(
    Ingress,
    Effect.all(carrier === undefined ? [] : [TwilioIngress.make({ authToken: carrier.authToken, publicUrl })])
  )
