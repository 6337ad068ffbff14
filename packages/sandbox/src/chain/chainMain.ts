import * as Schema from "effect/Schema"
import { stopRequested } from "../process/StopRequest.ts"
import { startChain } from "./Chain.ts"

/**
 * Runs the sandbox chain as a process of its own.
 *
 * Configuration is JSON in AGENTOS_SANDBOX_CHAIN: `{"dataDir": path, "port": number}` (port 0 or none takes a free
 * one). Once the chain can be used, one line of JSON on stdout says so; `pid` is anvil's, which is what serves. What
 * is deployed, and the keys, are then in the data directory: see readChainDescription.
 *
 * Ends, and the chain with it, on SIGTERM, on SIGINT, or when stdin closes; with exit code 1 when anvil dies.
 */
const Configuration = Schema.fromJsonString(
  Schema.Struct({ dataDir: Schema.NonEmptyString, port: Schema.optionalKey(Schema.Int) })
)

const stop = stopRequested()
const chain = await startChain(Schema.decodeUnknownSync(Configuration)(process.env["AGENTOS_SANDBOX_CHAIN"]))
console.log(JSON.stringify({ ready: "chain", pid: chain.pid, port: chain.port, rpcUrl: chain.rpcUrl }))

const ended = await Promise.race([stop.then(() => undefined), chain.exited])
if (ended === undefined) await chain.stop()
else console.error(`anvil has died (exit code ${ended.code}, signal ${ended.signal})`)
process.exit(ended === undefined ? 0 : 1)
