import { CallWatch, JobRunner, Keyring, OperationCompletion, OperationStore, PaymentRail } from "@agentos/core"
import { Cause, Effect, Exit, Layer, Option } from "effect"
import { explain } from "./config/Explain.ts"
import { log } from "./config/Log.ts"
import { mailIntake } from "./config/MailLayer.ts"
import * as ServerConfig from "./config/ServerConfig.ts"
import { coreLayer, type Ports, settingsLayer } from "./config/ServerLayer.ts"
import { unknownVariables } from "./config/EnvironmentReader.ts"
import * as Server from "./Server.ts"

export type { Ports } from "./config/ServerLayer.ts"

/** Says, once, on which networks a debt to a customer can only be written down. */
const warnOfMissingWallets = (networks: ServerConfig.ServerConfig["networks"]) =>
  Effect.gen(function* () {
    const rail = yield* PaymentRail
    const without = networks.filter((network) => !rail.canRefund(network)).map(({ network }) => network)
    if (without.length === 0) return
    yield* Effect.logWarning(
      `No refund wallet on ${without.join(", ")}: what is owed back there is recorded as refund_due and not paid. ` +
        `Give each network a "refund" with the private key of a wallet that holds the token.`
    )
  })

/** Fails if an open operation was claimed under a key that is not configured: its refund could not be paid once. */
const requireKeysOfOpenOperations = Effect.gen(function* () {
  const operations = yield* OperationStore
  const keyring = yield* Keyring
  const needed = yield* operations.openKeyIds
  const missing = needed.filter((id) => keyring.mac(id, "refund-nonce", new Uint8Array()) === undefined)
  if (missing.length === 0) return
  const ids = missing.toSorted((a, b) => a - b).join(", ")
  return yield* new ServerConfig.ConfigurationInvalid({
    issues: [`AGENTOS_KEYS must hold the key with id ${ids}: operations that are not final were claimed under it`]
  })
})

/**
 * The server of production: everything comes from environment variables (see
 * `config/ServerConfig.ts`). When it listens it prints one line of JSON that
 * says where; its log goes to standard error. It serves until it is
 * interrupted, and then ends gracefully. Why it failed is said before it fails.
 */
export const serverProgram: Effect.Effect<never, unknown> = Effect.suspend(() => serverProgramAround((ports) => ports))

/** The same on ports that `around` changes: for a test that shows what becomes of a port that breaks its promise. */
export const serverProgramAround = (around: (ports: Ports) => Ports): Effect.Effect<never, unknown> =>
  Effect.gen(function* () {
    const config = yield* ServerConfig.read(process.env)
    for (const warning of unknownVariables(process.env)) yield* Effect.logWarning(warning)
    // What begins here ends in reverse: requests first, then who works besides them, and what all of them need last.
    const core = yield* Layer.build(Layer.provideMerge(coreLayer(config, around), settingsLayer(config)))
    return yield* Effect.gen(function* () {
      yield* requireKeysOfOpenOperations
      yield* warnOfMissingWallets(config.networks)
      yield* Effect.forkScoped(OperationCompletion.run)
      yield* Effect.forkScoped(CallWatch.run)
      yield* Effect.forkScoped((yield* JobRunner).run)
      const smtpPort = yield* mailIntake(config.mail)
      const http = yield* Effect.provide(Server.address, yield* Layer.build(Server.layer))
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
    }).pipe(Effect.provide(core))
  }).pipe(
    Effect.scoped,
    Effect.tapCause((cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.void
        : Effect.sync(() => process.stderr.write(`agentos: ${explain(Cause.squash(cause))}\n`))
    ),
    Effect.provide(log)
  )

/** The exit status of the program. Being told to stop, and stopping, is no failure. */
export const exitCode = (exit: Exit.Exit<unknown, unknown>): number =>
  Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause) ? 0 : 1
