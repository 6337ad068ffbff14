import type { ServerProgramOptions } from "@agentos/server"
import { fileURLToPath } from "node:url"
import type { ClusterOptions } from "../../support/Cluster.ts"
import type { DefectName } from "./Defects.ts"
import type { StepFiles } from "./StepGate.ts"

/** Names the variable with the options of a server that runs `testServerMain.ts`. */
export const OPTIONS_VARIABLE = "TEST_SERVER_OPTIONS"

/** Changes to the real server. */
export interface TestServerOptions {
  /** How long an event is leased. */
  readonly leaseMillis?: number
  /** Where operations are held; see `StepGate`. */
  readonly steps?: StepFiles
  readonly defect?: DefectName
  /** When the event loop counts as blocked. */
  readonly watchdog?: ServerProgramOptions["watchdog"]
  /** Whether every challenge is as long as it may be; see `longestChallenges`. */
  readonly longestChallenges?: boolean
}

/** Short enough for tests that wait until a lease has expired. */
export const SHORT_LEASE_MILLIS = 6_000

/** Options of a cluster whose servers run with these changes. */
export const testServer = (
  options: TestServerOptions
): Required<Pick<ClusterOptions, "serverModule" | "environment">> => ({
  serverModule: fileURLToPath(new URL("testServerMain.ts", import.meta.url)),
  environment: { [OPTIONS_VARIABLE]: JSON.stringify(options) }
})
