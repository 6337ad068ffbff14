import { Effect, Metric } from "effect"
import * as Timestamp from "../kernel/Timestamp.ts"
import { LedgerCheck, type UnclaimedTransfers } from "../payment/LedgerCheck.ts"
import type { Job } from "./Job.ts"

/** The ledger differs from the operations: a defect of this service that people must investigate. */
class LedgerWrong extends Error {
  override readonly name = "LedgerWrong"
}

/** Reports the number of unclaimed transfers as a metric, and logs each: their payers received nothing for them. */
const report = Effect.fnUntraced(function* ({ asset, network, transfers }: UnclaimedTransfers) {
  const gauge = Metric.gauge("agentos_ledger_unclaimed_transfers", {
    description: "Transfers to us in the last day without an operation, as of this server's last run of ledger-audit.",
    attributes: { network, asset }
  })
  yield* Metric.update(gauge, transfers.length)
  if (transfers.length === 0) return
  const listed = transfers.map(({ amount, transaction, wallet }) => `${amount} from ${wallet} in ${transaction}`)
  yield* Effect.logError(`${transfers.length} transfers on ${network} belong to no operation: ${listed.join("; ")}`)
})

/**
 * The job that compares the ledger with the operations, and the last day of the chain with both. It fails, so that the
 * operator sees it, if ledger and operations differ; transfers without an operation are logged as an error.
 */
export const make: Effect.Effect<Job, never, LedgerCheck> = Effect.map(LedgerCheck, ({ check, findUnclaimed }) => ({
  name: "ledger-audit",
  every: Timestamp.HOUR,
  run: Effect.gen(function* () {
    const tokens = yield* check
    const problems = tokens.flatMap(({ network, problems }) => problems.map((problem) => `${network}: ${problem}`))
    if (problems.length > 0) return yield* Effect.die(new LedgerWrong(problems.join("; ")))
    yield* Effect.flatMap(findUnclaimed, (unclaimed) => Effect.forEach(unclaimed, report)).pipe(
      Effect.catch(({ message }) => Effect.logWarning(`searching for unclaimed transfers failed: ${message}`))
    )
    return tokens.length
  })
}))
