import { DEFAULT_EVENT_POLICY, EventPolicy, OperationCompletion, OperationSteps } from "@agentos/core"
import { log, reportExit, serverProgram } from "@agentos/server"
import { Effect, Fiber } from "effect"
import { type Defect, DEFECTS, rewriting } from "./Defects.ts"
import { longestChallenges } from "./LongestChallenges.ts"
import { holdingSteps } from "./StepGate.ts"
import { OPTIONS_VARIABLE, type TestServerOptions } from "./TestServer.ts"

/** The real server with the changes that its environment names; see `TestServerOptions`. */
const options = JSON.parse(process.env[OPTIONS_VARIABLE] ?? "{}") as TestServerOptions
const { defect, leaseMillis, steps } = options
const { around = (ports) => ports, rewriting: rewritten }: Defect = defect === undefined ? {} : DEFECTS[defect]

/** Held operations wait in the completion job, once for each lease that expires. Others must still find room in it. */
const COMPLETIONS_AT_ONCE = 10_000

let program = serverProgram({
  around: options.longestChallenges === true ? longestChallenges : around,
  watchdog: options.watchdog
})
if (rewritten !== undefined) program = rewriting(program, rewritten)
if (leaseMillis !== undefined) {
  program = Effect.provideService(program, EventPolicy, { ...DEFAULT_EVENT_POLICY, leaseDuration: leaseMillis })
}
if (steps !== undefined) {
  program = program.pipe(
    Effect.provideService(OperationSteps, holdingSteps(steps)),
    Effect.provideService(OperationCompletion.Concurrency, COMPLETIONS_AT_ONCE)
  )
}
const serving = Effect.runFork(Effect.provide(program, log))
serving.addObserver((exit) => process.exit(reportExit(exit)))
for (const signal of ["SIGTERM", "SIGINT"] as const) {
  process.once(signal, () => Effect.runFork(Fiber.interrupt(serving)))
}
