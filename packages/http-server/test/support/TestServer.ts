import {
  type Capabilities,
  Core,
  EmailProvider,
  MailParser,
  MailUnreadable,
  type OutgoingMail,
  PaymentRail,
  ProviderError,
  type SendReceipt
} from "@agentos/core"
import { type RateLimit, Server, ServerSettings } from "@agentos/http-server"
import { KeyringNode, RealtimeTokensJose } from "@agentos/keyring-node"
import { Memory } from "@agentos/memory"
import { Duration, Effect, Exit, Layer, Redacted, References, Scope } from "effect"
import { HttpServer } from "effect/http"
import { NetAddress } from "effect/net"
import * as ScriptedRail from "./ScriptedRail.ts"

export const DOMAIN = "agents.test"

/** What the mail provider does with the next mails; it sends when this runs out. */
export type SendScript = "send" | ProviderError["reason"]

export interface TestServer {
  readonly url: string
  readonly port: number
  readonly payments: ScriptedRail.ScriptedRail
  readonly sent: ReadonlyArray<OutgoingMail>
  readonly sendScript: Array<SendScript>
  /** Ends it as a signal would, and waits until it has. */
  readonly stop: () => Promise<void>
}

export interface TestServerOptions {
  readonly capabilities?: Capabilities
  readonly rateLimit?: RateLimit
  readonly publicUrl?: string
  readonly drainTimeout?: Duration.Duration
  /** Beside the ports of the core, or instead of some of them. */
  readonly ports?: (ports: TestPorts) => TestPorts
}

const keys = { activeKeyId: 1, keys: [{ id: 1, secret: Redacted.make("k".repeat(44)) }] }

const emailProvider = (sent: Array<OutgoingMail>, sendScript: Array<SendScript>) =>
  EmailProvider.of({
    name: "scripted",
    domain: DOMAIN,
    send: (mail) =>
      Effect.suspend((): Effect.Effect<SendReceipt, ProviderError> => {
        const reason = sendScript.shift() ?? "send"
        if (reason === "send" || reason === "Unknown") sent.push(mail)
        return reason === "send"
          ? Effect.succeed({ accepted: mail.to, rejected: [], response: "250 ok" })
          : Effect.fail(new ProviderError({ provider: "scripted", reason, message: `The relay says ${reason}` }))
      })
  })

const makePorts = (payments: ScriptedRail.ScriptedRail, sent: Array<OutgoingMail>, sendScript: Array<SendScript>) =>
  Layer.mergeAll(
    Memory.layer,
    Layer.orDie(KeyringNode.layer(keys)),
    Layer.orDie(RealtimeTokensJose.layer(keys, { issuer: "https://agentos.test" })),
    Layer.succeed(EmailProvider, emailProvider(sent, sendScript)),
    Layer.succeed(PaymentRail, payments.rail),
    Layer.succeed(MailParser, { parse: () => Effect.fail(new MailUnreadable({ message: "nothing is parsed here" })) })
  )
type TestPorts = ReturnType<typeof makePorts>

/** The whole server on a free port, over memory, with a chain and a mail provider that do as they are told. */
export const startServer = async (options: TestServerOptions = {}): Promise<TestServer> => {
  const payments = ScriptedRail.make()
  const sent: Array<OutgoingMail> = []
  const sendScript: Array<SendScript> = []
  const ports = makePorts(payments, sent, sendScript)
  const settings = Layer.succeed(ServerSettings, {
    environment: "sandbox",
    host: "127.0.0.1",
    port: 0,
    publicUrl: options.publicUrl ?? "http://agentos.test",
    capabilities: options.capabilities ?? { email: true, phone: false },
    rateLimit: options.rateLimit ?? null,
    trustedProxies: [],
    drainTimeout: options.drainTimeout ?? Duration.seconds(2)
  })
  const server = Server.layer.pipe(
    Layer.provide(Core.layer.pipe(Layer.provideMerge(options.ports === undefined ? ports : options.ports(ports)))),
    Layer.provide(settings),
    Layer.provide(Layer.succeed(References.MinimumLogLevel, "None"))
  )
  const scope = Scope.makeUnsafe()
  const address = await Effect.runPromise(
    Effect.gen(function* () {
      const context = yield* Layer.buildWithScope(server, scope)
      return yield* Effect.provideContext(
        Effect.map(HttpServer.HttpServer, (http) => http.address),
        context
      )
    })
  )
  if (!NetAddress.isInetAddress(address)) throw new Error("the server listens on no port")
  return {
    url: `http://127.0.0.1:${address.port}`,
    port: address.port,
    payments,
    sent,
    sendScript,
    stop: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}
