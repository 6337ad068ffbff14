import {
  CallWatch,
  JobRunner,
  Keyring,
  OperationCompletion,
  OperationStore,
  PaymentRail,
  WebhookWorker
} from "@agentos/core"
import { Cause, Effect, Exit, Layer, Option } from "effect"
import { mailIntake } from "./config/MailLayer.ts"
import { ingressLayer } from "./config/PhoneLayer.ts"
import { explain, log } from "./config/ProgramOutput.ts"
import * as ServerConfig from "./config/ServerConfig.ts"
import { coreLayer, type Ports, settingsLayer } from "./config/ServerLayer.ts"
import { unknownVariables } from "./config/EnvironmentReader.ts"
import * as Server from "./Server.ts"

export type { Ports } from "./config/ServerLayer.ts"

/** Warns once about networks without a refund wallet, where refunds can only be recorded. */
const warnOfMissingWallets = (networks: ServerConfig.ServerConfig["networks"]) =>
  Effect.gen(function* () {
    const rail = yield* PaymentRail
    const without = networks.filter((network) => !rail.canRefund(network)).map(({ network }) => network)
    if (without.length === 0) return
    yield* Effect.logWarning(
      `No refund wallet is configured on ${without.join(", ")}: refunds there are recorded as refund_due and not ` +
        'paid. Add "refund" to each network, with the private key of a wallet that holds the token.'
    )
  })

/**
 * Fails if an open operation was claimed under a key that is not configured, because its refund could not be paid
 * exactly once.
 */
const requireKeysOfOpenOperations = Effect.gen(function* () {
  const operations = yield* OperationStore
  const keyring = yield* Keyring
  const needed = yield* operations.openKeyIds
  const missing = needed.filter((id) => keyring.mac(id, "refund-nonce", new Uint8Array()) === undefined)
  if (missing.length === 0) return
  const ids = missing.toSorted((a, b) => a - b).join(", ")
  return yield* new ServerConfig.ConfigurationInvalid({
    issues: [`AGENTOS_KEYS must include the key with id ${ids}, because open operations were claimed under it`]
  })
})

/**
 * The production server, configured by environment variables (see `config/ServerConfig.ts`). Once it listens, it prints
 * one line of JSON with its addresses; its log goes to standard error. Runs until it is interrupted, then shuts down
 * gracefully. On failure it prints the reason before it fails.
 */
export const serverProgram: Effect.Effect<never, unknown> = Effect.suspend(() => serverProgramAround((ports) => ports))

/** The same with ports changed by `around`, for tests of how the server behaves when a port breaks its promise. */
export const serverProgramAround = (around: (ports: Ports) => Ports): Effect.Effect<never, unknown> =>
  Effect.gen(function* () {
    const config = yield* ServerConfig.read(process.env)
    for (const warning of unknownVariables(process.env)) yield* Effect.logWarning(warning)
    // Released in reverse order: first requests, then background work, last the services that both need.
    const core = yield* Layer.build(
      ingressLayer(config).pipe(
        Layer.provideMerge(coreLayer(config, around)),
        Layer.provideMerge(settingsLayer(config))
      )
    )
    return yield* Effect.gen(function* () {
      yield* requireKeysOfOpenOperations
      yield* warnOfMissingWallets(config.networks)
      yield* Effect.forkScoped(OperationCompletion.run)
      yield* Effect.forkScoped(CallWatch.run)
      yield* Effect.forkScoped(WebhookWorker.run)
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

/** Returns the exit status of the program. Stopping on an interrupt is a success. */
export const exitCode = (exit: Exit.Exit<unknown, unknown>): number =>
  Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause) ? 0 : 1
