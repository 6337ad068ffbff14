import { serverProgram } from "@agentos/http-server/ServerProgram"
import { runShortLeaseServer } from "./ShortLeaseServer.ts"

/** Runs the production server with short leases, for tests that wait until a lease expires. */
runShortLeaseServer(serverProgram)
