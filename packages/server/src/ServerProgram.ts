import { backgroundLayer, coreLayer, type Ports } from "@agentos/agentos"
import { ListenerSettings, Server } from "@agentos/http-server"
import { ConfigurationInvalid } from "@agentos/core"
import { Cause, Duration, Effect, Exit, Layer } from "effect"
import { unknownVariables } from "./variable/Variables.ts"
import { explain } from "./ProgramOutput.ts"
import type { MailConfig } from "./MailConfig.ts"
import * as ServerConfig from "./ServerConfig.ts"
import { setupOf } from "./ServerSetup.ts"

export type { Ports } from "@agentos/agentos"
export { log } from "./ProgramOutput.ts"

/** How long requests in progress may continue. The complete shutdown stays under ten seconds. */
const DRAIN_TIMEOUT = Duration.seconds(6)

const warnOfEmbedded = Effect.logWarning(
  "The embedded database (AGENTOS_DATA_DIR) can lose committed data when the machine loses power, and serves one " +
    "server. Use a PostgreSQL server (DATABASE_URL) for real payments."
)

/** Servers without mail do not load its libraries. */
const listenForMail = Effect.fnUntraced(function* (mail: MailConfig) {
  const { mailIntake } = yield* Effect.promise(() => import("./MailIntake.ts"))
  return { host: mail.listener.host, port: yield* mailIntake(mail) }
})

export interface ServerProgramOptions {
  /** Whether this server delivers mail, completes payments and runs the periodic jobs; true by default. */
  readonly jobs?: boolean
  /** Changes the ports, for tests of how the server behaves when a port breaks its promise. */
  readonly around?: (ports: Ports) => Ports
}

/**
 * The production server, configured by environment variables (see `ServerConfig.ts`). Once it listens, it prints
 * one line of JSON with its addresses. Runs until it is interrupted, then shuts down gracefully.
 */
export const serverProgram = ({ around, jobs = true }: ServerProgramOptions = {}): Effect.Effect<never, unknown> =>
  Effect.gen(function* () {
    const config = yield* ServerConfig.read(process.env)
    for (const warning of unknownVariables(process.env)) yield* Effect.logWarning(warning)
    if (!jobs && "directory" in config.database) return yield* new ConfigurationInvalid({ issues: [NO_JOBS_EMBEDDED] })
    if (config.environment === "production" && "directory" in config.database) yield* warnOfEmbedded
    // Released in reverse order: first requests, then background work, last the services that both need.
    const setup = yield* setupOf(config)
    const services = yield* Layer.build(coreLayer(setup, around))
    return yield* Effect.gen(function* () {
      if (jobs) yield* Layer.build(backgroundLayer(setup))
      const smtp = config.mail && (yield* listenForMail(config.mail))
      const listener = Layer.succeed(ListenerSettings, {
        host: config.host,
        port: config.port,
        drainTimeout: DRAIN_TIMEOUT
      })
      const http = yield* Effect.provide(Server.address, yield* Layer.build(Layer.provide(Server.layer, listener)))
      const listening = {
        event: "listening",
        http,
        smtp: smtp ?? null,
        pid: process.pid
      }
      process.stdout.write(`${JSON.stringify(listening)}\n`)
      return yield* Effect.never
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
