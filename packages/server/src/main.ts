import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { exitCode, serverProgram } from "./ServerProgram.ts"

/** Runs the production server. SIGTERM and SIGINT stop it gracefully. */
NodeRuntime.runMain(serverProgram, { disableErrorReporting: true, teardown: (exit, onExit) => onExit(exitCode(exit)) })
