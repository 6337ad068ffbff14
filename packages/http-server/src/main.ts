import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { exitCode, serverProgram } from "./ServerProgram.ts"

/** The server of production. SIGTERM and SIGINT end it gracefully. */
NodeRuntime.runMain(serverProgram, { disableErrorReporting: true, teardown: (exit, onExit) => onExit(exitCode(exit)) })
