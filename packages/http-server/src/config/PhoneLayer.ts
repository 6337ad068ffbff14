import { type AllowedAgent, AgentCallbackHttps } from "@agentos/agent-webhook"
import { ProviderError, TelephonyProvider } from "@agentos/core"
import { NumberingPlanLibphonenumber } from "@agentos/numbering-libphonenumber"
import { TelephonyProviderTwilio } from "@agentos/provider-twilio"
import { Effect, Layer } from "effect"
import { readConfiguredFile } from "./ConfiguredFile.ts"
import type { AllowedAgentConfig } from "./PhoneConfig.ts"
import type { ServerConfig } from "./ServerConfig.ts"

const allowed = ({ caFile, host, port }: AllowedAgentConfig) =>
  Effect.map(readConfiguredFile("AGENTOS_AGENT_WEBHOOK_ALLOW", caFile), (ca): AllowedAgent => ({ host, port, ca }))

const noCarrier = Effect.fail(
  new ProviderError({ provider: "none", reason: "Misconfigured", message: "No carrier is configured here." })
)

const unavailable = Layer.succeed(TelephonyProvider, {
  name: "none",
  limitsKeptBy: "service",
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
 * The ports of telephones. Without a carrier there is one that says so: what was paid is then still answered, and what
 * waits for the carrier waits until there is one again, or is paid back.
 */
export const phonePorts = ({ phone: { allowedAgents, carrier }, publicUrl }: ServerConfig) =>
  Layer.mergeAll(
    carrier === undefined ? unavailable : TelephonyProviderTwilio.layer({ ...carrier, publicUrl }),
    NumberingPlanLibphonenumber.layer,
    Layer.unwrap(Effect.map(Effect.forEach(allowedAgents, allowed), (allow) => AgentCallbackHttps.layer({ allow })))
  )
