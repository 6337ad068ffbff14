import { DEFAULT_EVENT_POLICY, EventPolicy } from "@agentos/core"
import { exitCode, serverProgram } from "@agentos/http-server/ServerProgram"
import { Effect, Fiber } from "effect"
import { SHORT_LEASE_MILLIS } from "./ShortLease.ts"

/** The server of production with a short lease, for tests that wait until one is over. */
const serving = Effect.runFork(
  Effect.provideService(serverProgram, EventPolicy, { ...DEFAULT_EVENT_POLICY, leaseDuration: SHORT_LEASE_MILLIS })
)
serving.addObserver((exit) => process.exit(exitCode(exit)))
process.once("SIGTERM", () => Effect.runFork(Fiber.interrupt(serving)))
