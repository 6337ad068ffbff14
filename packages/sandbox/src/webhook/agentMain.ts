import * as Schema from "effect/Schema"
import { stopRequested } from "../process/StopRequest.ts"
import { startAgent } from "./Agent.ts"

/**
 * Runs the sandbox's talking agent as a process of its own.
 *
 * Configuration is JSON in AGENTOS_SANDBOX_AGENT: `{"dataDir", "port", "secret"}` (port 0 or none takes a free one;
 * without a secret no signature is looked at). Once it serves, one line of JSON on stdout says so.
 *
 * Ends on SIGTERM, on SIGINT, or when stdin closes.
 */
const Configuration = Schema.fromJsonString(
  Schema.Struct({
    dataDir: Schema.NonEmptyString,
    port: Schema.optionalKey(Schema.Int),
    secret: Schema.optionalKey(Schema.NonEmptyString)
  })
)

const stop = stopRequested()
const agent = await startAgent(Schema.decodeUnknownSync(Configuration)(process.env["AGENTOS_SANDBOX_AGENT"]))
const { caFile, port, url } = agent
console.log(JSON.stringify({ ready: "agent", pid: process.pid, port, url, caFile }))

await stop
await agent.close()
process.exit(0)
