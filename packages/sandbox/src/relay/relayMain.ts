import * as Schema from "effect/Schema"
import { stopRequested } from "../process/StopRequest.ts"
import { startRelay } from "./Relay.ts"

/**
 * Runs the sandbox's mail relay as a process of its own.
 *
 * Configuration is JSON in AGENTOS_SANDBOX_RELAY: `{"outboxDir", "domain", "service": {"host", "port"}, "port",
 * "faultsPort"}` (a port of 0 or none takes a free one). Once it serves, one line of JSON on stdout says so.
 *
 * Ends on SIGTERM, on SIGINT, or when stdin closes.
 */
const Configuration = Schema.fromJsonString(
  Schema.Struct({
    outboxDir: Schema.NonEmptyString,
    domain: Schema.NonEmptyString,
    service: Schema.Struct({ host: Schema.NonEmptyString, port: Schema.Int }),
    port: Schema.optionalKey(Schema.Int),
    faultsPort: Schema.optionalKey(Schema.Int)
  })
)

const stop = stopRequested()
const relay = await startRelay(Schema.decodeUnknownSync(Configuration)(process.env["AGENTOS_SANDBOX_RELAY"]))
const { faultsUrl, port } = relay
console.log(JSON.stringify({ ready: "relay", pid: process.pid, port, faultsUrl }))

await stop
await relay.close()
process.exit(0)
