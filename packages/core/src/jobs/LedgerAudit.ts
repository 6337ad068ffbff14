import { Effect } from "effect"
import * as Timestamp from "../kernel/Timestamp.ts"
import { LedgerCheck } from "../payment/LedgerCheck.ts"
import type { Job } from "./Job.ts"

/** The ledger says something else than the operations do: a defect of this service, for people to look at. */
class LedgerWrong extends Error {
  override readonly name = "LedgerWrong"
}

/** The job that holds the ledger against the operations. It fails, for the operator to see, when they differ. */
export const make: Effect.Effect<Job, never, LedgerCheck> = Effect.map(LedgerCheck, ({ check }) => ({
  name: "ledger-audit",
  every: Timestamp.HOUR,
  run: Effect.flatMap(check, (tokens) => {
    const problems = tokens.flatMap(({ network, problems }) => problems.map((problem) => `${network}: ${problem}`))
    return problems.length === 0 ? Effect.succeed(tokens.length) : Effect.die(new LedgerWrong(problems.join("; ")))
  })
}))
