import * as Schema from "effect/Schema"
import { stopRequested } from "../process/StopRequest.ts"
import { startCarrier } from "./Carrier.ts"

/**
 * Runs the sandbox's telephone carrier as a process of its own.
 *
 * Configuration is JSON in AGENTOS_SANDBOX_CARRIER: `{"dataDir", "accountSid", "authToken", "port", "speed"}` (port 0 or
 * none takes a free one; the token is kept off the command line, which everybody can read). Once it serves, one line of
 * JSON on stdout says so.
 *
 * Ends on SIGTERM, on SIGINT, or when stdin closes.
 */
const Configuration = Schema.fromJsonString(
  Schema.Struct({
    dataDir: Schema.NonEmptyString,
    accountSid: Schema.NonEmptyString,
    authToken: Schema.NonEmptyString,
    port: Schema.optionalKey(Schema.Int),
    speed: Schema.optionalKey(Schema.Number)
  })
)

const stop = stopRequested()
const carrier = await startCarrier(Schema.decodeUnknownSync(Configuration)(process.env["AGENTOS_SANDBOX_CARRIER"]))
console.log(JSON.stringify({ ready: "carrier", pid: process.pid, port: carrier.port, url: carrier.url }))

await stop
await carrier.close()
process.exit(0)
