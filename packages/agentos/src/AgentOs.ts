// Imports the module alone: the whole package costs 20 MB and half a second more.
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import type { AllowedAgent } from "@agentos/node/webhook"
import { ServerStopping } from "@agentos/api"
import {
  ConfigurationInvalid,
  DEFAULT_CALL_POLICY,
  DEFAULT_EVENT_POLICY,
  DEFAULT_MAIL_POLICY,
  DEFAULT_RETENTION_POLICY,
  Timestamp
} from "@agentos/core"
import { HttpApi, stoppingResponse, Upgrades } from "@agentos/http-server"
import { parseKeyring } from "@agentos/node/keyring"
import { Context, Effect, Exit, Layer, Logger, Option, Redacted, Result, Scope } from "effect"
import { HttpEffect, HttpServerRequest } from "effect/http"
import { IpNetwork } from "effect/net"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Duplex } from "node:stream"
import { backgroundLayer, coreLayer, type Setup } from "./Composition.ts"
import { type CustomCarrier, customCarrier } from "./custom/CustomCarrier.ts"
import { type CustomMail, customMail } from "./custom/CustomMail.ts"
import { type CustomRail, customRail } from "./custom/CustomRail.ts"
import type { Mail } from "./Mail.ts"
import type { Payment } from "./Payment.ts"
import type { Storage } from "./Storage.ts"
import type { Telephony } from "./Telephony.ts"
import { toAgentOsError } from "./inProcess/AgentOsError.ts"
import { makeInvoke, type Run } from "./inProcess/Invoke.ts"
import { type UseCases, useCases } from "./inProcess/UseCases.ts"

/** The options of a host. The defaults are those of the server. */
export interface AgentOsOptions {
  /**
   * The base URL at which clients reach the host: https, or http on localhost. If it has a path, requests below that path
   * are served, whether or not the host has removed it.
   */
  readonly publicUrl: string
  /** Secrets in the format `1:secret,2:secret`; each secret has at least 32 bytes. The highest id is the active one. */
  readonly keys: string
  readonly storage: Storage
  /** `x402(…)`, or a payment rail of the host's own. */
  readonly payment: Payment | CustomRail
  /** `smtp(…)`, or a mail system of the host's own. Without it, services of mail are not offered. */
  readonly mail?: Mail | CustomMail | undefined
  /** `twilio(…)`, or a carrier of the host's own. Without it, services of telephony are not offered. */
  readonly telephony?: Telephony | CustomCarrier | undefined
  /** Requests per minute of one address, and of one tenant; 0 means no limit. Default 1,200. */
  readonly requestsPerMinute?: number | undefined
  /** Networks of the proxies whose X-Forwarded-For header is trusted, such as `10.0.0.0/8`. */
  readonly trustedProxies?: ReadonlyArray<string> | undefined
  /**
   * Origins whose pages may sign in with a wallet, such as `https://app.example`. By default only pages of the site of
   * `publicUrl`.
   */
  readonly signInOrigins?: ReadonlyArray<string> | undefined
  /** Enables the operator's routes; at least 32 characters. */
  readonly operatorToken?: string | undefined
  /** How long completed events are kept; by default permanently. */
  readonly eventRetentionDays?: number | undefined
  /** Records traces and sends them by OTLP; by default none are recorded. */
  readonly traces?: TraceOptions | undefined
  /** Hosts that agents may name in webhooks although they are not public, for trials. */
  readonly allowedAgents?: ReadonlyArray<AllowedAgent> | undefined
  /**
   * Whether this process delivers mail, completes payments and runs periodic jobs; true by default. Some process on the
   * same storage must.
   */
  readonly jobs?: boolean | undefined
  /** Receives each entry of the log as one line of JSON; by default it goes to standard error. */
  readonly log?: ((line: string) => void) | undefined
}

/** Where traces are sent. */
export interface TraceOptions {
  /** Receives OTLP over HTTP as JSON, such as `http://127.0.0.1:4318/v1/traces`. */
  readonly url: string
  /** Headers of each request to it, such as a key. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** One in this many traces is recorded; 100 by default. */
  readonly oneIn?: number | undefined
}

/** An AgentOS within another program. */
export interface AgentOs extends UseCases {
  /** Answers a request of the HTTP API. Without an address, all clients share the limits of one. */
  readonly fetch: (request: Request, client?: { readonly remoteAddress?: string | undefined }) => Promise<Response>
  /** Answers a request of the HTTP API in a server of node:http. The body must not have been read. */
  readonly node: (request: IncomingMessage, response: ServerResponse) => void
  /** Takes a WebSocket upgrade: a realtime session, or a socket of the telephony provider. */
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
  /**
   * Waits up to 10 seconds for requests in progress, closes the sockets, stops the background work and releases the
   * storage. Later requests are answered with 503. Stop listening first.
   */
  readonly close: () => Promise<void>
}

const DEFAULT_REQUESTS_PER_MINUTE = 1_200
const DOMAIN = /^(?=.{1,253}$)[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})+$/i
const LOCAL_HOSTS = new Set(["localhost", "127.0.0.1", "[::1]"])

/** Checks the options and fills in defaults. Throws `ConfigurationInvalid`, which names every invalid option. */
const setupOf = (options: AgentOsOptions): Setup => {
  const issues: Array<string> = []
  const url = URL.parse(options.publicUrl)
  const isSecure = url?.protocol === "https:" || (url?.protocol === "http:" && LOCAL_HOSTS.has(url.hostname))
  if (url === null || !isSecure || url.search !== "" || url.hash !== "") {
    issues.push("publicUrl must be an https URL without query and fragment, or http on localhost")
  }
  const keys = Result.getOrElse(parseKeyring(options.keys), (problem) => {
    issues.push(`keys ${problem}`)
    return { keys: [], activeKeyId: 0 }
  })
  const trustedProxies = (options.trustedProxies ?? []).flatMap((text) => {
    const network = IpNetwork.fromString(text)
    if (network._tag === "Success") return [network.success]
    issues.push(`trustedProxies must be networks such as 10.0.0.0/8; invalid: ${text}`)
    return []
  })
  const signInOrigins = options.signInOrigins ?? []
  for (const origin of signInOrigins) {
    if (URL.parse(origin)?.origin !== origin)
      issues.push(`signInOrigins must be origins such as https://app.example; invalid: ${origin}`)
  }
  const {
    eventRetentionDays: days,
    mail,
    operatorToken,
    telephony,
    requestsPerMinute: perMinute = DEFAULT_REQUESTS_PER_MINUTE
  } = options
  if (mail !== undefined && "domain" in mail && !DOMAIN.test(mail.domain)) {
    issues.push("mail.domain must be a domain name, such as agents.example.com")
  }
  if (operatorToken !== undefined && operatorToken.length < 32) issues.push("operatorToken must have 32 characters")
  if (issues.length > 0) throw new ConfigurationInvalid({ issues })
  return {
    environment: "production",
    publicUrl: options.publicUrl.replace(/\/+$/, ""),
    keys,
    storage: options.storage,
    payment: "layer" in options.payment ? options.payment : customRail(options.payment),
    mail: mail === undefined || "layer" in mail ? mail : customMail(mail),
    telephony: telephony === undefined || "layer" in telephony ? telephony : customCarrier(telephony),
    allowedAgents: options.allowedAgents ?? [],
    eventRetention: days === undefined ? DEFAULT_EVENT_POLICY.auditRetention : days * Timestamp.DAY,
    quotas: { calls: DEFAULT_CALL_POLICY, mail: DEFAULT_MAIL_POLICY, retention: DEFAULT_RETENTION_POLICY },
    rateLimit: perMinute === 0 ? null : { burst: perMinute, perSecond: perMinute / 60 },
    trustedProxies,
    signInOrigins,
    operatorToken: operatorToken === undefined ? null : Redacted.make(operatorToken),
    traces: tracesOf(options.traces)
  }
}

const TRACED_ONE_IN = 100

const tracesOf = (options: TraceOptions | undefined): Setup["traces"] =>
  options === undefined
    ? null
    : { url: options.url, headers: Redacted.make(options.headers ?? {}), oneIn: options.oneIn ?? TRACED_ONE_IN }

/** The HTTP API as handlers, for hosts that use Effect. */
export class AgentOsHandlers extends Context.Service<AgentOsHandlers, Pick<AgentOs, "fetch" | "node" | "upgrade">>()(
  "@agentos/agentos/AgentOsHandlers"
) {}

/** The address of the client whose request is answered through `fetch`. */
const ClientAddress = Context.Reference<string | undefined>("@agentos/agentos/ClientAddress", {
  defaultValue: () => undefined
})

const withClientAddress = (request: HttpServerRequest.HttpServerRequest, address: string | undefined) =>
  address === undefined ? request : request.modify({ remoteAddress: Option.some(address) })

/** The beginning of every route of the API, which a public URL may repeat: `https://example.com/api`. */
const ROUTE = /^\/api\/v1(?:[/?]|$)/

/** Returns the target without the path of the public URL, unless the host's router has removed it. */
const withoutBase = (base: string, target: string): string => {
  if (base === "" || !target.startsWith(base) || !/^[/?]?$/.test(target.charAt(base.length))) return target
  const rest = target.slice(base.length).replace(/^(?!\/)/, "/")
  return ROUTE.test(target) && !ROUTE.test(rest) ? target : rest
}

const DRAIN_TIMEOUT = "10 seconds"

/**
 * Counts requests until their promises settle. When the scope closes, it takes no more, and waits for those for a limited
 * time.
 */
const inProgress = Effect.gen(function* () {
  const pending = new Set<Promise<unknown>>()
  let isStopping = false
  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      isStopping = true
      return Effect.timeoutOption(
        Effect.promise(() => Promise.allSettled(pending)),
        DRAIN_TIMEOUT
      )
    })
  )
  const until = <A>(settled: Promise<A>): Promise<A> => {
    const counted = settled.finally(() => pending.delete(counted))
    pending.add(counted)
    return counted
  }
  return { until, isStopping: () => isStopping }
})

/** The connection of a Response is the host's own. */
const stopped = (): Response => {
  const { body, headers, status } = stoppingResponse()
  const { connection: _connection, ...others } = headers
  return new Response(body, { status, headers: others })
}

const handlersLayer = ({ publicUrl }: Setup) =>
  Layer.effect(
    AgentOsHandlers,
    Effect.gen(function* () {
      const base = new URL(publicUrl).pathname.replace(/\/$/, "")
      const api = yield* HttpApi.makeAll
      const { dispatch } = yield* Upgrades
      type Needed = Effect.Services<typeof api>
      type Shared = Exclude<Needed, HttpServerRequest.HttpServerRequest | Scope.Scope>
      const answerNode = yield* NodeHttpServer.makeHandler(api, { scope: yield* Effect.scope })
      const answerWeb = HttpEffect.toWebHandlerWith<Shared, Needed>(yield* Effect.context<Shared>())(
        Effect.flatMap(ClientAddress, (address) =>
          Effect.updateService(api, HttpServerRequest.HttpServerRequest, (request) =>
            withClientAddress(request, address).modify({ url: withoutBase(base, request.url) })
          )
        )
      )
      const requests = yield* inProgress
      const mounted = (request: IncomingMessage): IncomingMessage => {
        request.url = withoutBase(base, request.url ?? "")
        return request
      }
      return {
        fetch: async (request, { remoteAddress } = {}) => {
          if (requests.isStopping()) return stopped()
          return requests.until(answerWeb(request, Context.make(ClientAddress, remoteAddress)))
        },
        node: (request, response) => {
          if (requests.isStopping()) {
            const { body, headers, status } = stoppingResponse()
            response.writeHead(status, { ...headers }).end(body)
            return
          }
          void requests.until(new Promise((resolve) => response.once("close", resolve)))
          answerNode(mounted(request), response)
        },
        upgrade: (request, socket, head) => dispatch(mounted(request), socket, head)
      }
    })
  )

const logTo = (log: AgentOsOptions["log"]) =>
  Logger.layer([
    log === undefined ? Logger.withConsoleError(Logger.formatJson) : Logger.map(Logger.formatJson, (line) => log(line))
  ])

/**
 * AgentOS as a layer: every service of the core, and `AgentOsHandlers`. Its error is whatever the chosen storage, payment,
 * mail or telephony fails with when it opens. Throws `ConfigurationInvalid` if the options are invalid.
 */
export const agentOsLayer = (options: AgentOsOptions) => {
  const setup = setupOf(options)
  return Layer.mergeAll(
    HttpApi.sockets,
    handlersLayer(setup),
    options.jobs === false ? Layer.empty : backgroundLayer(setup)
  ).pipe(Layer.provide(HttpApi.limits), Layer.provideMerge(coreLayer(setup)))
}

/**
 * Opens an AgentOS: brings the storage up to date, checks the payment networks and starts the background work. Listens on
 * no port and reads no environment variable. Rejects if the options are invalid or something cannot be opened.
 */
export const createAgentOs = async (options: AgentOsOptions): Promise<AgentOs> => {
  const scope = Scope.makeUnsafe()
  const log = logTo(options.log)
  const opened = Layer.buildWithScope(Layer.provideMerge(agentOsLayer(options), log), scope)
  const services = await Effect.runPromise(Effect.onError(opened, (cause) => Scope.close(scope, Exit.failCause(cause))))
  const runWith = Effect.runPromiseWith(services)
  let closing: Promise<void> | undefined
  const run: Run = (effect) =>
    closing === undefined ? runWith(effect) : Promise.reject(toAgentOsError(new ServerStopping()))
  const handlers = Context.get(services, AgentOsHandlers)
  return {
    ...useCases(run, makeInvoke(options.publicUrl.replace(/\/+$/, ""), handlers.fetch)),
    ...handlers,
    close: () => (closing ??= runWith(Scope.close(scope, Exit.void)))
  }
}
