import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Cause, Effect, Exit, Layer, Logger, Option } from "effect"
import { mailIntake } from "./config/MailLayer.ts"
import * as ServerConfig from "./config/ServerConfig.ts"
import { coreLayer, settingsLayer } from "./config/ServerLayer.ts"
import * as Server from "./Server.ts"

/**
 * The server of production: everything comes from environment variables (see
 * `config/ServerConfig.ts`). When it listens it prints one line of JSON that
 * says where; its log goes to standard error. SIGTERM and SIGINT end it
 * gracefully.
 */
const program = Effect.gen(function* () {
  const config = yield* ServerConfig.read(process.env)
  return yield* Effect.gen(function* () {
    const smtpPort = yield* mailIntake(config.mail)
    const http = yield* Server.address
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
  }).pipe(
    Effect.provide(Server.layer.pipe(Layer.provideMerge(coreLayer(config)), Layer.provide(settingsLayer(config))))
  )
}).pipe(
  Effect.scoped,
  Effect.tapCause((cause) =>
    Cause.hasInterruptsOnly(cause)
      ? Effect.void
      : Effect.sync(() => process.stderr.write(`agentos: ${explain(Cause.squash(cause))}\n`))
  )
)

/** What went wrong in one line, or in the lines of whoever found more than one thing wrong. */
const explain = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const log = Logger.layer([Logger.withConsoleError(Logger.formatJson)])

/** Being told to stop, and stopping, is no failure. */
const exitCode = (exit: Exit.Exit<unknown, unknown>): number =>
  Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause) ? 0 : 1

program.pipe(
  Effect.provide(log),
  NodeRuntime.runMain({ disableErrorReporting: true, teardown: (exit, onExit) => onExit(exitCode(exit)) })
)
