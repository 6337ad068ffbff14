import { serverProgram } from "@agentos/http-server/ServerProgram"
import { runShortLeaseServer } from "./ShortLeaseServer.ts"

/** The server of production with a short lease, for tests that wait until one is over. */
runShortLeaseServer(serverProgram)
