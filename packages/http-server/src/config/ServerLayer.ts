import { CallPolicy, Core, EventPolicy, MailPolicy, RateLimiter } from "@agentos/core"
import { KeyringNode, RealtimeTokensJose } from "@agentos/keyring-node"
import { PaymentRailX402 } from "@agentos/x402"
import { Duration, Effect, Layer } from "effect"
import { ServerSettings } from "../ServerSettings.ts"
import { mailPorts } from "./MailLayer.ts"
import { phonePorts } from "./PhoneLayer.ts"
import type { ServerConfig } from "./ServerConfig.ts"
import { storageLayer } from "./StorageLayer.ts"

/** Requests under way get this long to finish; with what else stopping takes it stays under ten seconds. */
const DRAIN_TIMEOUT = Duration.seconds(6)

/** What the core needs from outside, as the configuration names it. */
const portsLayer = (config: ServerConfig) => {
  const storage = storageLayer(config)
  return Layer.mergeAll(
    storage,
    KeyringNode.layer(config.keys),
    RealtimeTokensJose.layer(config.keys, { issuer: config.publicUrl }),
    PaymentRailX402.layer({ networks: config.networks }).pipe(Layer.provide(storage)),
    mailPorts(config.mail),
    phonePorts(config)
  )
}

/** The ports of a server. */
export type Ports = ReturnType<typeof portsLayer>

/** The policy that would hold otherwise, with events kept for as long as the configuration says. */
export const policyLayer = ({ eventRetention }: Pick<ServerConfig, "eventRetention">) =>
  Layer.effect(
    EventPolicy,
    Effect.map(EventPolicy, (policy) => ({ ...policy, auditRetention: eventRetention }))
  )

/**
 * The rate limiter of the whole process: the one that admits everything where there is no rate limit, and one that
 * shares nothing where the database is embedded, which serves one server.
 */
export const rateLimiterLayer = ({ database, rateLimit }: Pick<ServerConfig, "database" | "rateLimit">) => {
  if (rateLimit === null) return Layer.succeed(RateLimiter.RateLimiter, RateLimiter.unlimited)
  return "url" in database ? RateLimiter.layer : Layer.sync(RateLimiter.RateLimiter, RateLimiter.makeLocal)
}

/** The quotas that the configuration sets. */
const quotaLayer = ({ quotas }: ServerConfig) =>
  Layer.merge(Layer.succeed(CallPolicy, quotas.calls), Layer.succeed(MailPolicy, quotas.mail))

/** The services of the core on the adapters that the configuration names, or on what `around` makes of them. */
export const coreLayer = (config: ServerConfig, around: (ports: Ports) => Ports) =>
  Core.layerWithPhone.pipe(
    Layer.provideMerge(rateLimiterLayer(config)),
    Layer.provideMerge(around(portsLayer(config))),
    Layer.provide(policyLayer(config)),
    Layer.provide(quotaLayer(config))
  )

/** What the HTTP server is told about itself. */
export const settingsLayer = (config: ServerConfig) =>
  Layer.succeed(ServerSettings, {
    environment: config.environment,
    host: config.host,
    port: config.port,
    publicUrl: config.publicUrl,
    capabilities: { email: config.mail !== undefined, phone: config.phone.carrier !== undefined },
    rateLimit: config.rateLimit,
    trustedProxies: config.trustedProxies,
    carrierToken: config.phone.carrier?.authToken ?? null,
    operatorToken: config.operatorToken,
    drainTimeout: DRAIN_TIMEOUT
  })
