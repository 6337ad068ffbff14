import { CallPolicy, Core, EventPolicy, MailPolicy, RateLimiter } from "@agentos/core"
import { KeyringNode, RealtimeTokensJose } from "@agentos/keyring-node"
import { PaymentRailX402, SignInWithX } from "@agentos/x402"
import { Duration, Effect, Layer } from "effect"
import { ServerSettings } from "../ServerSettings.ts"
import { mailPorts } from "./MailLayer.ts"
import { railNetwork } from "./NetworkConfig.ts"
import { phonePorts } from "./PhoneLayer.ts"
import type { ServerConfig } from "./ServerConfig.ts"
import { storageLayer } from "./StorageLayer.ts"

/** How long requests in progress may continue. The complete shutdown stays under ten seconds. */
const DRAIN_TIMEOUT = Duration.seconds(6)

/** The adapters that the configuration selects for the core's ports. */
const portsLayer = (config: ServerConfig) => {
  const storage = storageLayer(config)
  return Layer.mergeAll(
    storage,
    KeyringNode.layer(config.keys),
    RealtimeTokensJose.layer(config.keys, { issuer: config.publicUrl }),
    PaymentRailX402.layer({ networks: config.networks.map(railNetwork) }).pipe(Layer.provide(storage)),
    SignInWithX.layer(config.networks.map(({ network }) => network)),
    mailPorts(config.mail),
    phonePorts(config)
  )
}

export type Ports = ReturnType<typeof portsLayer>

/** The default event policy, with events kept for as long as the configuration says. */
export const policyLayer = ({ eventRetention }: Pick<ServerConfig, "eventRetention">) =>
  Layer.effect(
    EventPolicy,
    Effect.map(EventPolicy, (policy) => ({ ...policy, auditRetention: eventRetention }))
  )

/**
 * The rate limiter of the whole process. Without a rate limit it admits everything; with an embedded database, which
 * serves one server, it shares nothing.
 */
export const rateLimiterLayer = ({ database, rateLimit }: Pick<ServerConfig, "database" | "rateLimit">) => {
  if (rateLimit === null) return Layer.succeed(RateLimiter.RateLimiter, RateLimiter.unlimited)
  return "url" in database ? RateLimiter.layer : Layer.sync(RateLimiter.RateLimiter, RateLimiter.makeLocal)
}

const quotaLayer = ({ quotas }: ServerConfig) =>
  Layer.merge(Layer.succeed(CallPolicy, quotas.calls), Layer.succeed(MailPolicy, quotas.mail))

/** The services of the core on the configured adapters, after `around` has changed them. */
export const coreLayer = (config: ServerConfig, around: (ports: Ports) => Ports) =>
  Core.layerWithSignIn.pipe(
    Layer.provideMerge(rateLimiterLayer(config)),
    Layer.provideMerge(around(portsLayer(config))),
    Layer.provide(policyLayer(config)),
    Layer.provide(quotaLayer(config))
  )

export const settingsLayer = (config: ServerConfig) =>
  Layer.succeed(ServerSettings, {
    environment: config.environment,
    host: config.host,
    port: config.port,
    publicUrl: config.publicUrl,
    capabilities: { email: config.mail !== undefined, phone: config.phone.carrier !== undefined },
    rateLimit: config.rateLimit,
    trustedProxies: config.trustedProxies,
    operatorToken: config.operatorToken,
    drainTimeout: DRAIN_TIMEOUT
  })
