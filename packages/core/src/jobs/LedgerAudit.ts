import { Effect, Metric } from "effect"
import * as Timestamp from "../kernel/Timestamp.ts"
import { LedgerCheck, type UnclaimedTransfers } from "../payment/LedgerCheck.ts"
import type { Job } from "./Job.ts"

/** The ledger, the operations and the refund wallet differ: a defect or a stolen key, which people must investigate. */
class LedgerWrong extends Error {
  override readonly name = "LedgerWrong"
}

const requireNone = (problems: ReadonlyArray<string>) =>
  problems.length === 0 ? Effect.void : Effect.die(new LedgerWrong(problems.join("; ")))

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
 * operator sees it, if ledger and operations differ, or if money left the refund wallet without an operation. Transfers to us
 * without an operation are logged as an error.
 */
export const make: Effect.Effect<Job, never, LedgerCheck> = Effect.map(LedgerCheck, ({ check, findUnclaimed }) => ({
  name: "ledger-audit",
  every: Timestamp.HOUR,
  // A run reads a day of the chain.
  retryAfter: 10 * Timestamp.MINUTE,
  run: Effect.gen(function* () {
    const tokens = yield* check
    const problemsOf = (network: string, problems: ReadonlyArray<string>) =>
      problems.map((problem) => `${network}: ${problem}`)
    yield* requireNone(tokens.flatMap(({ network, problems }) => problemsOf(network, problems)))
    const found = yield* Effect.catch(findUnclaimed, ({ message }) =>
      Effect.as(Effect.logWarning(`searching for unclaimed transfers failed: ${message}`), [])
    )
    yield* Effect.forEach(found, report)
    yield* requireNone(found.flatMap(({ network, outflows }) => problemsOf(network, outflows)))
    return tokens.length
  })
}))
