import { backgroundLayer, coreLayer, type Ports, type ServerServices } from "@agentos/agentos"
import {
  AccessLog,
  Doctor,
  ListenerSettings,
  Liveness,
  OperatorListener,
  Server,
  WorkerMetrics
} from "@agentos/http-server"
import { ConfigurationInvalid, ProviderError, SettingName } from "@agentos/core"
import { KeyringMisconfigured } from "@agentos/node/keyring"
import { Cause, Clock, Context, Duration, Effect, Exit, Layer, Metric, Predicate, Schema, Scope } from "effect"
import { type Environment, unknownVariables, variableOf } from "../variable/Variables.ts"
import { accessWriter, explain, logOf } from "../output/ProgramOutput.ts"
import { reportReady } from "../output/ServiceManager.ts"
import type { MailConfig } from "../config/MailConfig.ts"
import * as ServerConfig from "../config/ServerConfig.ts"
import { followLimits } from "./LimitReload.ts"
import { setupOf } from "./ServerSetup.ts"
import { StopDeadline } from "./StopDeadline.ts"
import { startWatchdog, type WatchdogLimits } from "../Watchdog.ts"
import type { WorkerRole } from "../worker/WorkerRole.ts"

export type { Ports } from "@agentos/agentos"
export { log } from "../output/ProgramOutput.ts"

/** How long requests in progress may continue. The complete shutdown stays under ten seconds. */
const DRAIN_TIMEOUT = Duration.seconds(6)

const warnOfEmbedded = Effect.logWarning(
  "The embedded database (AGENTOS_DATA_DIR) can lose committed data when the machine loses power, and serves one " +
    "server. Use a PostgreSQL server (DATABASE_URL) for real payments."
)

/** Servers without mail do not load its libraries. */
const listenForMail = Effect.fnUntraced(function* (mail: MailConfig, workers: number) {
  const { mailIntake } = yield* Effect.promise(() => import("./MailIntake.ts"))
  return { host: mail.listener.host, port: yield* mailIntake(mail, workers) }
})

const startTime = Metric.gauge("process_start_time_seconds", {
  description: "Time at which this process began to serve, in seconds since 1970."
})

/** No transaction of the store ended for a minute. The process ends, and its supervisor starts another one. */
export class StoreStalled extends Schema.TaggedError<StoreStalled>()("StoreStalled", {}) {
  override readonly message = "No transaction of the store ended for a minute, with success or a failure."
}

/** Whether a start with the same configuration would fail again. */
export const isMisconfiguration = (error: unknown): boolean =>
  error instanceof ConfigurationInvalid ||
  error instanceof KeyringMisconfigured ||
  (Predicate.isTagged(error, "DatabaseUnsuitable") &&
    Predicate.hasProperty(error, "isPermanent") &&
    error.isPermanent === true) ||
  (error instanceof ProviderError && error.reason === "Misconfigured")

export interface ServerProgramOptions {
  /** Whether this server delivers mail, completes payments and runs the periodic jobs; true by default. */
  readonly jobs?: boolean
  /** The role of this process in a server of several; it reports to that server in place of printing its addresses. */
  readonly worker?: WorkerRole | undefined
  /** Ends this process if it does not stop in time. */
  readonly stopDeadline?: StopDeadline | undefined
  /** Checks everything on which the server depends, for its route. */
  readonly doctor?: Effect.Effect<Effect.Effect<unknown>, never, ServerServices>
  /** Changes the ports, for tests of how the server behaves when a port breaks its promise. */
  readonly around?: (ports: Ports) => Ports
  /** Returns the settings as they are now. On SIGHUP, the limits of the server become those. */
  readonly reread?: (() => Environment) | undefined
  /** Shorter limits of the watchdog, for tests. */
  readonly watchdog?: WatchdogLimits | undefined
}

/**
 * The production server, configured by environment variables (see `ServerConfig.ts`). Once it listens, it prints
 * one line of JSON with its addresses. Runs until it is interrupted, then shuts down gracefully.
 */
export const serverProgram = (options: ServerProgramOptions = {}): Effect.Effect<never, unknown> =>
  Effect.flatMap(ServerConfig.read(process.env), (config) => {
    const log = { accessLog: config.accessLog, worker: options.worker?.number }
    return serve(config, options).pipe(
      Effect.provideService(SettingName, variableOf),
      Effect.provideService(AccessLog, accessWriter(log)),
      Effect.provide(logOf(log))
    )
  })

const serve = (
  config: ServerConfig.ServerConfig,
  {
    around,
    doctor,
    jobs = true,
    reread,
    stopDeadline = new StopDeadline(undefined),
    watchdog,
    worker
  }: ServerProgramOptions
): Effect.Effect<never, unknown> =>
  Effect.gen(function* () {
    for (const warning of unknownVariables(process.env)) yield* Effect.logWarning(warning)
    if (!jobs && "directory" in config.database) return yield* new ConfigurationInvalid({ issues: [NO_JOBS_EMBEDDED] })
    if (config.environment === "production" && "directory" in config.database) yield* warnOfEmbedded
    if (reread !== undefined) yield* followLimits(config, process.env, reread)
    // Released in reverse order: first requests, then background work, last the services that both need.
    const { stopping } = stopDeadline
    const setup = yield* setupOf(config)
    const services = yield* Layer.build(coreLayer(setup, around))
    // Building the index of a large table blocks an embedded database, and is over now.
    startWatchdog(worker?.number, watchdog)
    yield* stopping("the connections to the database and to providers")
    return yield* Effect.gen(function* () {
      if (jobs) yield* Layer.build(backgroundLayer(setup))
      yield* stopping("jobs and deliveries")
      // Released together: a client of either that never finishes does not take the time of the other.
      const intake = yield* Scope.fork(yield* Effect.scope, "parallel")
      const mail = yield* Scope.fork(intake)
      const smtp = config.mail && (yield* Scope.provide(listenForMail(config.mail, config.workers), mail))
      const listener = Layer.mergeAll(
        Layer.succeed(ListenerSettings, {
          host: config.host,
          port: config.port,
          operator: config.operatorListen,
          drainTimeout: DRAIN_TIMEOUT
        }),
        Layer.succeed(WorkerMetrics, worker?.metrics),
        doctor === undefined ? Layer.empty : Layer.effect(Doctor, doctor)
      )
      const requests = yield* Scope.fork(intake)
      const server = yield* Layer.buildWithScope(Layer.provide(Server.layer, listener), requests)
      yield* stopping("requests, sockets and inbound mail")
      const http = yield* Effect.provide(Server.address, server)
      const operator = Context.get(server, OperatorListener)
      yield* Metric.update(startTime, (yield* Clock.currentTimeMillis) / 1_000)
      const listening = { http, smtp: smtp ?? null, operator }
      if (worker !== undefined) worker.ready(listening)
      else {
        process.stdout.write(`${JSON.stringify({ event: "listening", ...listening, pid: process.pid })}\n`)
        reportReady()
      }
      yield* Effect.provide(
        Effect.flatMap(Liveness, ({ stalled }) => stalled),
        server
      )
      return yield* new StoreStalled()
    }).pipe(Effect.provide(services))
  }).pipe(Effect.scoped)

const NO_JOBS_EMBEDDED =
  "--no-jobs needs PostgreSQL (DATABASE_URL): no other process can run the jobs of an embedded database (AGENTOS_DATA_DIR)"

/**
 * Returns the exit status of a program that runs without the command line, after it has printed why it failed. Stopping on
 * an interrupt is a success.
 */
export const reportExit = (exit: Exit.Exit<unknown, unknown>): number => {
  if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return 0
  process.stderr.write(`Error: ${explain(Cause.squash(exit.cause))}\n`)
  return 1
}
