import * as Schema from "effect/Schema"
import { stopRequested } from "../process/StopRequest.ts"
import { startFacilitator } from "./FacilitatorServer.ts"

/**
 * Runs the sandbox's facilitator as a process of its own.
 *
 * Configuration is JSON in AGENTOS_SANDBOX_FACILITATOR: `{"rpcUrl", "chainId", "asset", "privateKey", "port"}` (port 0
 * or none takes a free one; privateKey is the gas wallet's, kept off the command line, which everybody can read). Once
 * it serves, one line of JSON on stdout says so.
 *
 * Ends on SIGTERM, on SIGINT, or when stdin closes.
 */
const Configuration = Schema.fromJsonString(
  Schema.Struct({
    rpcUrl: Schema.NonEmptyString,
    chainId: Schema.Int,
    asset: Schema.NonEmptyString,
    privateKey: Schema.TemplateLiteral(["0x", Schema.String]),
    port: Schema.optionalKey(Schema.Int)
  })
)

const stop = stopRequested()
const configuration = Schema.decodeUnknownSync(Configuration)(process.env["AGENTOS_SANDBOX_FACILITATOR"])
const facilitator = await startFacilitator(configuration)
console.log(JSON.stringify({ ready: "facilitator", pid: process.pid, port: facilitator.port, url: facilitator.url }))

await stop
await facilitator.close()
process.exit(0)
