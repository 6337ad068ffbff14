import { background, layer, type Ports } from "@agentos/agentos"
import { ListenerSettings, Server } from "@agentos/http-server"
import { Cause, Duration, Effect, Exit, Layer, Option } from "effect"
import { unknownVariables } from "./EnvironmentReader.ts"
import { mailIntake } from "./MailIntake.ts"
import { explain, log } from "./ProgramOutput.ts"
import * as ServerConfig from "./ServerConfig.ts"
import { setupOf } from "./ServerSetup.ts"

export type { Ports } from "@agentos/agentos"

/** How long requests in progress may continue. The complete shutdown stays under ten seconds. */
const DRAIN_TIMEOUT = Duration.seconds(6)

const warnOfEmbedded = Effect.logWarning(
  "The embedded database (AGENTOS_DATA_DIR) can lose committed data when the machine loses power, and serves one " +
    "server. Use a PostgreSQL server (DATABASE_URL) for real payments."
)

/**
 * The production server, configured by environment variables (see `ServerConfig.ts`). Once it listens, it prints
 * one line of JSON with its addresses; its log goes to standard error. Runs until it is interrupted, then shuts down
 * gracefully. On failure it prints the reason before it fails.
 */
export const serverProgram: Effect.Effect<never, unknown> = Effect.suspend(() => serverProgramAround((ports) => ports))

/** The same with ports changed by `around`, for tests of how the server behaves when a port breaks its promise. */
export const serverProgramAround = (around: (ports: Ports) => Ports): Effect.Effect<never, unknown> =>
  Effect.gen(function* () {
    const config = yield* ServerConfig.read(process.env)
    for (const warning of unknownVariables(process.env)) yield* Effect.logWarning(warning)
    if (config.environment === "production" && "directory" in config.database) yield* warnOfEmbedded
    // Released in reverse order: first requests, then background work, last the services that both need.
    const setup = yield* setupOf(config)
    const services = yield* Layer.build(layer(setup, around))
    return yield* Effect.gen(function* () {
      yield* Layer.build(background(setup))
      const smtpPort = yield* mailIntake(config.mail)
      const listener = Layer.succeed(ListenerSettings, {
        host: config.host,
        port: config.port,
        drainTimeout: DRAIN_TIMEOUT
      })
      const http = yield* Effect.provide(Server.address, yield* Layer.build(Layer.provide(Server.layer, listener)))
      const listening = {
        event: "listening",
        http,
        smtp: Option.match(smtpPort, {
          onNone: () => null,
          onSome: (port) => ({ host: config.mail?.listener.host, port })
        }),
        pid: process.pid
      }
      process.stdout.write(`${JSON.stringify(listening)}\n`)
      return yield* Effect.never
    }).pipe(Effect.provide(services))
  }).pipe(
    Effect.scoped,
    Effect.tapCause((cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.void
        : Effect.sync(() => process.stderr.write(`agentos: ${explain(Cause.squash(cause))}\n`))
    ),
    Effect.provide(log)
  )

/** Returns the exit status of the program. Stopping on an interrupt is a success. */
export const exitCode = (exit: Exit.Exit<unknown, unknown>): number =>
  Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause) ? 0 : 1
