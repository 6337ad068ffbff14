import { OperationCompletion, OperationSteps } from "@agentos/core"
import { exitCode } from "@agentos/http-server/ServerProgram"
import { Effect, Fiber } from "effect"
import { ARMED_VARIABLE, PARKED_VARIABLE, parkingSteps } from "./Parking.ts"

const required = (name: string): string => {
  const value = process.env[name]
  if (value === undefined || value === "") throw new Error(`${name} is missing: a crash server is told its files`)
  return value
}

/**
 * A stopped operation is taken up and stopped again whenever its lease ends, which on a slow machine happens several
 * times before the kill. All of them wait in the completion job, and must leave room for those that come next.
 */
const JOB_CONCURRENCY = 10_000

/**
 * Runs a server whose operations can be stopped at every step (see `Parking`), until it is told to end. The files come
 * from the environment, which a supervisor hands on whenever it starts the server again.
 */
export const runCrashServer = (program: Effect.Effect<never, unknown>): void => {
  const steps = parkingSteps(required(ARMED_VARIABLE), required(PARKED_VARIABLE))
  const running = Effect.runFork(
    program.pipe(
      Effect.provideService(OperationSteps, steps),
      Effect.provideService(OperationCompletion.Concurrency, JOB_CONCURRENCY)
    )
  )
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => running.interruptUnsafe())
  void Effect.runPromise(Fiber.await(running)).then((exit) => process.exit(exitCode(exit)))
}
