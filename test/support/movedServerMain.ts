import { ClockOffset } from "@agentos/postgres"
import { log, reportExit, serverProgram } from "@agentos/server"
import { Clock, Effect, Fiber } from "effect"
import { readFileSync } from "node:fs"
import { type Circumstances, CIRCUMSTANCES_VARIABLE } from "./MovedServer.ts"

/** Runs the production server in the circumstances of a `MovedServer`. */
const { aheadMillis, hasCarrier } = JSON.parse(
  readFileSync(process.env[CIRCUMSTANCES_VARIABLE] ?? "", "utf8")
) as Circumstances

if (!hasCarrier) {
  delete process.env["AGENTOS_TWILIO_ACCOUNT_SID"]
  delete process.env["AGENTOS_TWILIO_AUTH_TOKEN"]
}

/** Returns a clock that is ahead of another. */
const ahead = (clock: Clock.Clock): Clock.Clock => {
  const millis = () => clock.currentTimeMillisUnsafe() + aheadMillis
  const nanos = () => clock.currentTimeNanosUnsafe() + BigInt(aheadMillis) * 1_000_000n
  return {
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: clock.monotonicTimeNanos,
    sleep: (duration) => clock.sleep(duration)
  }
}

const serving = Effect.runFork(
  Effect.flatMap(Clock.Clock, (clock) => Effect.provideService(serverProgram(), Clock.Clock, ahead(clock))).pipe(
    Effect.provideService(ClockOffset, () => aheadMillis),
    Effect.provide(log)
  )
)
serving.addObserver((exit) => process.exit(reportExit(exit)))
process.once("SIGTERM", () => Effect.runFork(Fiber.interrupt(serving)))
