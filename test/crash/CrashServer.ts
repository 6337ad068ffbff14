import { OperationSteps } from "@agentos/core"
import { exitCode } from "@agentos/http-server/ServerProgram"
import { Effect, Fiber } from "effect"
import { ARMED_VARIABLE, PARKED_VARIABLE, parkingSteps } from "./Parking.ts"

const required = (name: string): string => {
  const value = process.env[name]
  if (value === undefined || value === "") throw new Error(`${name} is missing: a crash server is told its files`)
  return value
}

/**
 * Runs a server whose operations can be stopped at every step (see `Parking`), until it is told to end. The files come
 * from the environment, which a supervisor hands on whenever it starts the server again.
 */
export const runCrashServer = (program: Effect.Effect<never, unknown>): void => {
  const steps = parkingSteps(required(ARMED_VARIABLE), required(PARKED_VARIABLE))
  const running = Effect.runFork(Effect.provideService(program, OperationSteps, steps))
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => running.interruptUnsafe())
  void Effect.runPromise(Fiber.await(running)).then((exit) => process.exit(exitCode(exit)))
}
