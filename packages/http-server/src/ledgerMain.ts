import { Cause, Effect, Exit } from "effect"
import { ledgerProgram } from "./LedgerProgram.ts"

/** Prints the ledger's report. The exit status is 0 when everything adds up, 2 when something does not, 1 when it can't be told. */
const exit = await Effect.runPromiseExit(ledgerProgram)
if (Exit.isSuccess(exit)) {
  process.stdout.write(`${exit.value.json}\n`)
  process.exitCode = exit.value.problems === 0 ? 0 : 2
} else {
  const error = Cause.squash(exit.cause)
  process.stderr.write(`agentos ledger: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
