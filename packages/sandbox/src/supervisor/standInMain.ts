import * as Schema from "effect/Schema"
import type { ProcessExit } from "../shared/GuardedProcess.ts"
import { stopRequested } from "../shared/GuardedProcess.ts"

/**
 * Runs one stand-in as a child process of the supervisor: `node standInMain.ts NAME`.
 *
 * Its options are JSON in the environment variable AGENTOS_SANDBOX_NAME, which keeps secrets off the command line. When
 * the stand-in is ready, it prints one line of JSON: `{"ready": NAME, "pid", "port", …}`. The pid is that of the process
 * that serves, which can be a child of this one.
 *
 * Stops on SIGTERM, on SIGINT, or when stdin closes. Exits with 1 if the serving process ends by itself.
 */
interface RunningStandIn {
  /** Printed in the ready line. */
  readonly ready: { readonly port: number; readonly pid?: number; readonly [field: string]: unknown }
  readonly close: () => Promise<void>
  /** Resolves when a serving child process has ended, with its pid. */
  readonly exited?: Promise<ProcessExit & { readonly pid: number }>
}

const define =
  <Options>(
    options: Schema.Codec<Options, unknown>,
    start: (options: Options, signal: AbortSignal) => Promise<RunningStandIn>
  ) =>
  (json: string | undefined, signal: AbortSignal): Promise<RunningStandIn> =>
    start(Schema.decodeUnknownSync(Schema.fromJsonString(options))(json), signal)

const Port = Schema.optionalKey(Schema.Int)
/** The token and the chain of a facilitator. */
const facilitated = {
  rpcUrl: Schema.NonEmptyString,
  chainId: Schema.Int,
  asset: Schema.NonEmptyString,
  transferMethod: Schema.optionalKey(Schema.Literals(["eip3009", "permit2"])),
  gasSponsoring: Schema.optionalKey(Schema.Literal("eip2612"))
}

// Modules are imported on demand: each process loads only its own stand-in.
const standIns = {
  chain: define(
    Schema.Struct({
      dataDir: Schema.NonEmptyString,
      clockFile: Schema.optionalKey(Schema.NonEmptyString),
      port: Port,
      tether: Schema.optionalKey(
        Schema.Struct({
          dataDir: Schema.NonEmptyString,
          usdcDir: Schema.optionalKey(Schema.NonEmptyString),
          port: Port
        })
      )
    }),
    async (options) => {
      const { startChains } = await import("../chain/Chains.ts")
      const { exited, first, stop, tether } = await startChains(options)
      const { pid, port, rpcUrl } = first
      return { ready: { pid, port, rpcUrl, ...(tether && { tetherPid: tether.pid }) }, close: stop, exited }
    }
  ),
  facilitator: define(
    Schema.Struct({
      ...facilitated,
      others: Schema.optionalKey(Schema.Array(Schema.Struct(facilitated))),
      privateKey: Schema.TemplateLiteral(["0x", Schema.String]),
      faucetKey: Schema.optionalKey(Schema.TemplateLiteral(["0x", Schema.String])),
      port: Port,
      clock: Schema.optionalKey(
        Schema.Struct({
          file: Schema.NonEmptyString,
          rpcUrls: Schema.Array(Schema.NonEmptyString),
          readyUrl: Schema.NonEmptyString
        })
      )
    }),
    async (options) => {
      const { startFacilitator } = await import("../facilitator/FacilitatorServer.ts")
      const { close, port, url } = await startFacilitator(options)
      return { ready: { port, url }, close }
    }
  ),
  relay: define(
    Schema.Struct({
      outboxDir: Schema.NonEmptyString,
      domain: Schema.NonEmptyString,
      service: Schema.Struct({ host: Schema.NonEmptyString, port: Schema.Int }),
      port: Port,
      faultsPort: Port
    }),
    async (options) => {
      const { startRelay } = await import("../relay/Relay.ts")
      const { close, faultsUrl, port } = await startRelay(options)
      return { ready: { port, faultsUrl }, close }
    }
  ),
  carrier: define(
    Schema.Struct({
      dataDir: Schema.NonEmptyString,
      accountSid: Schema.NonEmptyString,
      authToken: Schema.NonEmptyString,
      port: Port,
      speed: Schema.optionalKey(Schema.Number)
    }),
    async (options) => {
      const { startCarrier } = await import("../carrier/Carrier.ts")
      const { close, port, url } = await startCarrier(options)
      return { ready: { port, url }, close }
    }
  ),
  agent: define(
    Schema.Struct({
      dataDir: Schema.NonEmptyString,
      port: Port,
      secret: Schema.optionalKey(Schema.NonEmptyString)
    }),
    async (options) => {
      const { startAgent } = await import("../agent/Agent.ts")
      const { caFile, close, port, url } = await startAgent(options)
      return { ready: { port, url, caFile }, close }
    }
  ),
  postgres: define(
    Schema.Struct({
      root: Schema.NonEmptyString,
      home: Schema.NonEmptyString,
      port: Schema.Int,
      user: Schema.NonEmptyString,
      password: Schema.NonEmptyString
    }),
    async (options, signal) => {
      const { startPostgres } = await import("../postgres/Postgres.ts")
      const { exited, pid, stop } = await startPostgres(options, (text) => void process.stderr.write(text), signal)
      return { ready: { pid, port: options.port }, close: stop, exited: exited.then((exit) => ({ ...exit, pid })) }
    }
  )
}

export type StandInName = keyof typeof standIns

const isStandIn = (name: string): name is StandInName => Object.hasOwn(standIns, name)

const run = async (name: string): Promise<number> => {
  if (!isStandIn(name)) throw new Error(`Unknown stand-in ${name}. Use one of ${Object.keys(standIns).join(", ")}.`)
  const stopping = new AbortController()
  const stopped = stopRequested().then(() => stopping.abort())
  const running = await standIns[name](process.env[`AGENTOS_SANDBOX_${name.toUpperCase()}`], stopping.signal).catch(
    (error: unknown) => {
      if (!stopping.signal.aborted) throw error
    }
  )
  if (running === undefined) return 0
  console.log(JSON.stringify({ ready: name, pid: process.pid, ...running.ready }))
  const exit = await Promise.race([stopped, running.exited ?? stopped])
  if (exit === undefined) {
    await running.close()
    return 0
  }
  console.error(`${name}: process ${exit.pid} ended (exit code ${exit.code}, signal ${exit.signal})`)
  return 1
}

process.exit(await run(process.argv[2] ?? ""))
