import { Cause, Effect, Exit } from "effect"
import { explain } from "./ProgramOutput.ts"
import { ledgerProgram } from "./LedgerProgram.ts"

/**
 * Prints the ledger's report. The exit status is 0 if everything matches, 2 if there are problems, 3 if there are none
 * but the chain shows transfers of no known operation, and 1 if the check itself failed.
 */
const exit = await Effect.runPromiseExit(ledgerProgram)
if (Exit.isSuccess(exit)) {
  process.stdout.write(`${exit.value.json}\n`)
  const { problems, unclaimed } = exit.value
  process.exitCode = problems > 0 ? 2 : unclaimed > 0 ? 3 : 0
} else {
  process.stderr.write(`agentos ledger: ${explain(Cause.squash(exit.cause))}\n`)
  process.exitCode = 1
}
