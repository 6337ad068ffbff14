import {
  type ByteBudget,
  type CallAdmission,
  type CallReports,
  CallStore,
  InboundMailStore,
  type Capabilities,
  Core,
  DEFAULT_EVENT_POLICY,
  EmailProvider,
  type EventDraft,
  EventPolicy,
  EventStore,
  Ingress,
  JobStore,
  MailParser,
  type MessageRetryStore,
  MessageStore,
  noMailParser,
  OfferReceipts,
  OperationStore,
  type OutgoingMail,
  PaymentRail,
  ProviderError,
  type ProviderIngress,
  RateLimiter,
  RateLimitStore,
  type SendReceipt,
  type TenantId,
  TenantStore,
  Transactor,
  TransitMemory,
  type VoiceConversations,
  walletAddress
} from "@agentos/core"
import {
  Doctor,
  ListenerSettings,
  OperatorListener,
  type RateLimit,
  Server,
  ServerSettings,
  type SiteFolders
} from "@agentos/http-server"
import { KeyringNode, RealtimeTokensJose } from "@agentos/node/keyring"
import { Memory } from "@agentos/memory"
import { TwilioIngress } from "@agentos/provider-twilio"
import { SignInWithX } from "@agentos/x402"
import { Clock, Context, Duration, Effect, Exit, Layer, Logger, Redacted, Schema, Scope } from "effect"
import { IpNetwork } from "effect/net"
import { ScriptedRail } from "@agentos/core/contract-tests"
import { NodeServer } from "../../src/connection/NodeServer.ts"
import { operatorRoutes } from "../../src/handler/operator/OperatorRoutes.ts"
import * as ScriptedCarrier from "./ScriptedCarrier.ts"
import { testSite } from "./TestSite.ts"

export const DOMAIN = "agents.test"
/** The network whose wallets may sign in. */
export const SIGN_IN_NETWORK = "eip155:402402"

/** The outcomes of the next mails. After the last one, the provider sends. */
export type SendScript = "send" | "wait" | ProviderError["reason"]

export interface TestServer {
  readonly url: string
  readonly port: number
  /** The URL of the operator routes; empty without an operator token. */
  readonly operatorUrl: string
  readonly payments: ScriptedRail.ScriptedRail
  readonly carrier: ScriptedCarrier.ScriptedCarrier
  readonly sent: ReadonlyArray<OutgoingMail>
  readonly sendScript: Array<SendScript>
  /** The log lines so far, as JSON. */
  readonly logs: ReadonlyArray<string>
  /** Runs an effect on the stores of the server. */
  readonly run: <A>(
    effect: Effect.Effect<
      A,
      never,
      | CallStore
      | InboundMailStore
      | JobStore
      | MessageRetryStore
      | MessageStore
      | OperationStore
      | TenantStore
      | Transactor
    >
  ) => Promise<A>
  /** Returns method and path of every route for operators. */
  readonly operatorRoutes: () => Promise<ReadonlyArray<string>>
  /** Appends events for a wallet's tenant, of the agent "agent" by default, and returns their ids. */
  readonly append: (wallet: string, names: ReadonlyArray<string>, agentId?: string) => Promise<ReadonlyArray<string>>
  /**
   * Stops the server as a signal would, and waits until it has stopped. Fails if an operation answered an error code
   * that its catalog entry does not list, or a payment state that the code can't have.
   */
  readonly drain: () => Promise<void>
  /** Closes the connections that are kept alive, then does the same without the time that it has for their last requests. */
  readonly stop: () => Promise<void>
}

export interface TestServerOptions {
  readonly capabilities?: Capabilities
  /** The token that signs the requests of Twilio. Enables telephony. */
  readonly carrierToken?: string
  /** The secrets of the carrier's SharedKeys. */
  readonly carrierKeys?: ReadonlyArray<string>
  /** The ingress of another provider. */
  readonly ingress?: Effect.Effect<ProviderIngress, never, CallAdmission | CallReports | VoiceConversations>
  readonly rateLimit?: RateLimit
  readonly publicUrl?: string
  readonly site?: SiteFolders
  readonly drainTimeout?: Duration.Input
  readonly trustedProxies?: ReadonlyArray<string>
  readonly signInOrigins?: ReadonlyArray<string>
  readonly operatorToken?: string
  /** Duration of an event's lease. Sessions are checked three times as often. */
  readonly leaseMillis?: number
  /** The memory that bodies in transit share. */
  readonly transitMemory?: ByteBudget
  /** Replaces the store's own. */
  readonly transactor?: Transactor["Service"]
  readonly jobStore?: JobStore["Service"]
  readonly rateLimitStore?: RateLimitStore["Service"]
  /** Whether the time of day stands still, so that no rate limit recovers. Delays pass as usual. */
  readonly isTimeStopped?: boolean
}

const keys = { activeKeyId: 1, keys: [{ id: 1, secret: Redacted.make("k".repeat(44)) }] }
/** The keys of every server. */
export const testKeys = Layer.orDie(KeyringNode.layer(keys))

/** How long the provider takes over a mail with the script "wait". */
const SLOW_SEND = "300 millis"

const emailProvider = (sent: Array<OutgoingMail>, sendScript: Array<SendScript>) =>
  EmailProvider.of({
    name: "scripted",
    domain: DOMAIN,
    send: Effect.fnUntraced(function* (mail): Effect.fn.Return<SendReceipt, ProviderError> {
      const script = sendScript.shift() ?? "send"
      if (script === "wait") yield* Effect.sleep(SLOW_SEND)
      if (script === "send" || script === "wait" || script === "Unknown") sent.push(mail)
      return script === "send" || script === "wait"
        ? { accepted: mail.to, rejected: [], response: "250 ok" }
        : yield* new ProviderError({ provider: "scripted", reason: script, message: `The relay says ${script}` })
    })
  })

const asDraft =
  (tenantId: TenantId, agentId: string) =>
  (name: string): EventDraft => ({
    tenantId,
    type: "email.received",
    source: "scripted",
    service: "email",
    resourceId: name,
    agentId,
    payload: {
      mailboxId: tenantId,
      emailId: tenantId,
      from: "bob@example.com",
      subject: name,
      authentication: null,
      automatic: null,
      receivedAt: "2026-01-31T12:00:00.000Z"
    },
    dedupeKey: name
  })

/** The clock of the server: the real one, or one whose time stands still. */
const clockOf = (isTimeStopped = false): Clock.Clock => {
  const clock = Effect.runSync(Clock.clockWith(Effect.succeed))
  const now = clock.currentTimeMillisUnsafe()
  return isTimeStopped
    ? Object.create(clock, {
        currentTimeMillis: { value: Effect.succeed(now) },
        currentTimeMillisUnsafe: { value: () => now }
      })
    : clock
}

const encodeLine = Schema.encodeSync(Schema.fromJsonString(Schema.Unknown))

/** Starts the whole server on a free port, with storage in memory, a scripted chain and a scripted mail provider. */
export const startServer = async (options: TestServerOptions = {}): Promise<TestServer> => {
  const payments = ScriptedRail.make()
  const carrier = ScriptedCarrier.make()
  const sent: Array<OutgoingMail> = []
  const sendScript: Array<SendScript> = []
  const logs: Array<string> = []
  const ports = Layer.mergeAll(
    Memory.layer,
    testKeys,
    Layer.orDie(RealtimeTokensJose.layer(keys, { issuer: "https://agentos.test" })),
    Layer.succeed(EmailProvider, emailProvider(sent, sendScript)),
    carrier.layer,
    Layer.succeed(PaymentRail, payments.rail),
    SignInWithX.layer([SIGN_IN_NETWORK]),
    Layer.succeed(MailParser, noMailParser)
  )
  const { jobStore, rateLimitStore, transactor, transitMemory } = options
  const stores = Layer.mergeAll(
    ports,
    transactor === undefined ? Layer.empty : Layer.succeed(Transactor, transactor),
    jobStore === undefined ? Layer.empty : Layer.succeed(JobStore, jobStore),
    rateLimitStore === undefined ? Layer.empty : Layer.succeed(RateLimitStore, rateLimitStore)
  )
  const publicUrl = options.publicUrl ?? "http://agentos.test"
  const providers = [
    ...(options.carrierToken === undefined
      ? []
      : [
          TwilioIngress.make({
            accountSid: ScriptedCarrier.ACCOUNT_SID,
            authToken: Redacted.make(options.carrierToken),
            sharedKeys: options.carrierKeys?.map((key) => Redacted.make(key)),
            publicUrl
          })
        ]),
    ...(options.ingress === undefined ? [] : [options.ingress])
  ]
  const settings = Layer.succeed(ServerSettings, {
    environment: "sandbox",
    publicUrl,
    capabilities: options.capabilities ?? { email: true, phone: options.carrierToken !== undefined },
    rateLimit: options.rateLimit ?? null,
    trustedProxies: (options.trustedProxies ?? []).map(IpNetwork.fromStringUnsafe),
    signInOrigins: options.signInOrigins ?? [],
    operatorToken: options.operatorToken === undefined ? null : Redacted.make(options.operatorToken),
    site: options.site ?? testSite
  })
  const doctor = Layer.succeed(Doctor, Effect.succeed({ healthy: true, checks: [] }))
  const listener = Layer.succeed(ListenerSettings, {
    host: "127.0.0.1",
    port: 0,
    operator: { host: "127.0.0.1", port: 0 },
    drainTimeout: Duration.fromInputUnsafe(options.drainTimeout ?? "2 seconds")
  })
  const server = Server.layer.pipe(
    Layer.provide(Layer.effect(Ingress, Effect.all(providers))),
    Layer.provideMerge(
      Core.layerWithSignIn.pipe(
        Layer.provideMerge(OfferReceipts.layer(publicUrl)),
        Layer.provideMerge(options.rateLimit === undefined ? Layer.empty : RateLimiter.layer),
        Layer.provideMerge(stores)
      )
    ),
    Layer.provide(Layer.merge(settings, listener)),
    Layer.provideMerge(doctor),
    Layer.provide(transitMemory === undefined ? Layer.empty : Layer.succeed(TransitMemory, transitMemory)),
    Layer.provide(Logger.layer([Logger.make((line) => logs.push(encodeLine(Logger.formatStructured.log(line))))]))
  )
  const scope = Scope.makeUnsafe()
  const leaseDuration = options.leaseMillis ?? DEFAULT_EVENT_POLICY.leaseDuration
  const context = await Effect.runPromise(
    Layer.buildWithScope(server, scope).pipe(
      Effect.provideService(EventPolicy, { ...DEFAULT_EVENT_POLICY, leaseDuration }),
      Effect.provideService(Clock.Clock, clockOf(options.isTimeStopped))
    )
  )
  const run = Effect.runPromiseWith(context)
  const { port } = await run(Server.address)
  const operator = Context.get(context, OperatorListener)
  const drain = async () => {
    await Effect.runPromise(Scope.close(scope, Exit.void))
    const undocumented = logs.find((line) => /which its catalog entry does not list|which it can't have/.test(line))
    if (undocumented !== undefined) throw new Error(undocumented)
  }
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    operatorUrl: operator === null ? "" : `http://127.0.0.1:${operator.port}`,
    payments,
    carrier,
    sent,
    sendScript,
    logs,
    run,
    operatorRoutes: () =>
      run(Effect.map(operatorRoutes, (routes) => routes.map(({ method, path }) => `${method} ${path}`))),
    append: (wallet, names, agentId = "agent") =>
      run(
        Effect.gen(function* () {
          const store = yield* EventStore
          const { findByWallet } = yield* TenantStore
          const { transact } = yield* Transactor
          const { tenantId } = yield* Effect.fromOption(yield* findByWallet(walletAddress(wallet)))
          const events = yield* transact(store.append(names.map(asDraft(tenantId, agentId))))
          return events.map(({ eventId }) => eventId)
        })
      ),
    drain,
    stop: async () => {
      Context.get(context, NodeServer).closeIdleConnections()
      await drain()
    }
  }
}
