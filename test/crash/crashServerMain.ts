import { serverProgram } from "@agentos/http-server/ServerProgram"
import { runCrashServer } from "./CrashServer.ts"

/** The real server, whose operations can be stopped at every step. */
runCrashServer(serverProgram)
