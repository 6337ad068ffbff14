import { type AllowedAgent, AgentCallbackHttps, WebhookClientHttps } from "@agentos/node/webhook"
import {
  CallPolicy,
  CallWatch,
  Core,
  EventPolicy,
  InboundMails,
  Ingress,
  JobRunner,
  Keyring,
  MailPolicy,
  RetentionPolicy,
  MessageRetries,
  OfferReceipts,
  OperationCompletion,
  OperationStore,
  RateLimiter,
  SettingName,
  WebhookWorker
} from "@agentos/core"
import { ChainClocks, type RateLimit, ServerSettings } from "@agentos/http-server"
import { type KeyringConfig, KeyringMisconfigured, KeyringNode, RealtimeTokensJose } from "@agentos/node/keyring"
import { NumberingPlanLibphonenumber } from "@agentos/node/numbering"
import { Effect, Layer, type Redacted } from "effect"
import type { IpNetwork } from "effect/net"
import { type Mail, noMail } from "./Mail.ts"
import { observedAgents, observedProviders } from "./ProviderCalls.ts"
import type { Payment } from "./Payment.ts"
import type { Storage } from "./Storage.ts"
import { type TraceExport, traceLayer } from "./Traces.ts"
import { operatorChannels, type OperatorContact } from "./OperatorChannels.ts"
import { none, type Telephony } from "./Telephony.ts"

/** Everything that makes up one AgentOS, checked and with defaults filled in. */
export interface Setup {
  readonly environment: "production" | "sandbox"
  /** The base URL for clients, without a trailing slash. */
  readonly publicUrl: string
  readonly keys: KeyringConfig
  readonly storage: Storage
  readonly payment: Payment
  readonly mail: Mail | undefined
  readonly telephony: Telephony | undefined
  /** Hosts that agents may name in webhooks although they are not public. */
  readonly allowedAgents: ReadonlyArray<AllowedAgent>
  /** How long completed events are kept after their creation, in milliseconds; null keeps them permanently. */
  readonly eventRetention: number | null
  readonly quotas: { readonly calls: CallPolicy; readonly mail: MailPolicy; readonly retention: RetentionPolicy }
  /** Null disables rate limits. */
  readonly rateLimit: RateLimit | null
  readonly trustedProxies: ReadonlyArray<IpNetwork.IpNetwork>
  readonly signInOrigins: ReadonlyArray<string>
  /** Null disables operator access. */
  readonly operatorToken: Redacted.Redacted | null
  /** How operators are informed of incidents; by default they are not. */
  readonly operatorContact?: OperatorContact | undefined
  /** Null records no traces. */
  readonly traces: TraceExport | null
}

/** The adapters of the setup for the core's ports. */
const portsLayer = (
  { allowedAgents: allow, keys, mail, payment, publicUrl, storage, telephony }: Setup,
  limiter: ReturnType<typeof rateLimiterLayer>
) =>
  Layer.mergeAll(
    storage.layer,
    KeyringNode.layer(keys),
    RealtimeTokensJose.layer(keys, { issuer: publicUrl }),
    payment.layer.pipe(Layer.provide(limiter), Layer.provide(storage.layer)),
    (mail ?? noMail).layer,
    (telephony ?? none).layer(publicUrl),
    NumberingPlanLibphonenumber.layer,
    AgentCallbackHttps.layer({ allow }),
    WebhookClientHttps.layer({ allow })
  )

export type Ports = ReturnType<typeof portsLayer>

/** The default event policy, with events kept for as long as the setup says. */
export const policyLayer = ({ eventRetention }: Pick<Setup, "eventRetention">) =>
  Layer.effect(
    EventPolicy,
    Effect.map(EventPolicy, (policy) => ({ ...policy, auditRetention: eventRetention }))
  )

/** The limits and periods of the setup. */
export const quotasLayer = ({ calls, mail, retention }: Setup["quotas"]) =>
  Layer.mergeAll(
    Layer.succeed(CallPolicy, calls),
    Layer.succeed(MailPolicy, mail),
    Layer.succeed(RetentionPolicy, retention)
  )

/**
 * The rate limiter of the whole process. Without a rate limit it admits everything; on storage that serves one process
 * it shares nothing.
 */
export const rateLimiterLayer = ({ rateLimit, storage }: Pick<Setup, "rateLimit" | "storage">) => {
  if (rateLimit === null) return Layer.succeed(RateLimiter.RateLimiter, RateLimiter.unlimited)
  return storage.isShared ? RateLimiter.layer : Layer.sync(RateLimiter.RateLimiter, RateLimiter.makeLocal)
}

const settingsLayer = (setup: Setup) =>
  Layer.succeed(ServerSettings, {
    environment: setup.environment,
    publicUrl: setup.publicUrl,
    capabilities: { email: setup.mail !== undefined, phone: setup.telephony !== undefined },
    rateLimit: setup.rateLimit,
    trustedProxies: setup.trustedProxies,
    signInOrigins: setup.signInOrigins,
    operatorToken: setup.operatorToken,
    // Loaded by the first reader.
    site: {
      texts: async () => (await import("@agentos/site")).site.texts(),
      pages: async () => (await import("@agentos/site")).site.pages(),
      downloads: async () => (await import("@agentos/site")).site.downloads()
    }
  })

/**
 * Fails if an open operation was claimed under a key that is not configured, because its refund could not be paid
 * exactly once.
 */
const requireKeysOfOpenOperations = Layer.effectDiscard(
  Effect.gen(function* () {
    const operations = yield* OperationStore
    const keyring = yield* Keyring
    const settingName = yield* SettingName
    const needed = yield* operations.openKeyIds
    const missing = needed.filter((id) => keyring.mac(id, "refund-nonce", new Uint8Array()) === undefined)
    if (missing.length === 0) return
    const ids = missing.toSorted((a, b) => a - b).join(", ")
    return yield* new KeyringMisconfigured({
      message: `${settingName("keys")} must include the key with id ${ids}, because open operations were claimed under it.`
    })
  })
)

/** The times of chains. Tests move the time of the chain of a sandbox. */
export const chainClocksLayer = ({ environment, payment }: Pick<Setup, "environment" | "payment">) =>
  Layer.effect(ChainClocks, (environment === "production" && payment.clocks) || Effect.succeed([]))

/**
 * The services of the core on the adapters of the setup, the webhooks and sockets of providers, and the settings of the
 * HTTP API. `around` changes the adapters, for tests of how a server behaves when a port breaks its promise.
 */
export const coreLayer = (setup: Setup, around: (ports: Ports) => Ports = (ports) => ports) => {
  const { operatorContact, publicUrl, quotas, telephony = none } = setup
  const limiter = rateLimiterLayer(setup)
  const core = Core.layerWithSignIn.pipe(
    Layer.provideMerge(OfferReceipts.layer(publicUrl)),
    Layer.provideMerge(limiter),
    Layer.provide(operatorContact === undefined ? Layer.empty : operatorChannels(operatorContact)),
    Layer.provideMerge(
      Layer.provideMerge(Layer.merge(observedProviders, observedAgents), around(portsLayer(setup, limiter)))
    ),
    Layer.provide(policyLayer(setup)),
    Layer.provide(quotasLayer(quotas))
  )
  return Layer.mergeAll(requireKeysOfOpenOperations, Layer.effect(Ingress, telephony.ingress(publicUrl))).pipe(
    Layer.provideMerge(core),
    Layer.provideMerge(settingsLayer(setup)),
    Layer.provideMerge(traceLayer(setup.traces)),
    Layer.provideMerge(chainClocksLayer(setup))
  )
}

export type ServerServices = Layer.Success<ReturnType<typeof coreLayer>>

/** Runs all background work until the scope closes: deliveries, completions, refunds, limits of calls, periodic jobs. */
export const backgroundLayer = ({ mail }: Pick<Setup, "mail">) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      yield* Effect.forkScoped(OperationCompletion.run)
      yield* Effect.forkScoped(CallWatch.run)
      yield* Effect.forkScoped(WebhookWorker.run)
      yield* Effect.forkScoped((yield* JobRunner).run)
      // Mail that waits stays until mail is configured again.
      if (mail === undefined) return
      yield* Effect.forkScoped((yield* InboundMails).run)
      yield* Effect.forkScoped((yield* MessageRetries).run)
    })
  )
