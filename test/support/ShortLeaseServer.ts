import { DEFAULT_EVENT_POLICY, EventPolicy } from "@agentos/core"
import { exitCode } from "@agentos/http-server/ServerProgram"
import { Effect, Fiber } from "effect"
import { SHORT_LEASE_MILLIS } from "./ShortLease.ts"

/** Runs a server with short leases until SIGTERM. */
export const runShortLeaseServer = (program: Effect.Effect<never, unknown>): void => {
  const serving = Effect.runFork(
    Effect.provideService(program, EventPolicy, { ...DEFAULT_EVENT_POLICY, leaseDuration: SHORT_LEASE_MILLIS })
  )
  serving.addObserver((exit) => process.exit(exitCode(exit)))
  process.once("SIGTERM", () => Effect.runFork(Fiber.interrupt(serving)))
}
