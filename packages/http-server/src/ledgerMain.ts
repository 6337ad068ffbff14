import { Cause, Effect, Exit } from "effect"
import { explain } from "./config/Explain.ts"
import { ledgerProgram } from "./LedgerProgram.ts"

/**
 * Prints the ledger's report. The exit status is 0 when everything adds up, 2 when something does not, 3 when it does and
 * the chain shows transfers that no operation knows of, 1 when it can't be told.
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
