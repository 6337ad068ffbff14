import { startPostgres } from "@agentos/postgres/testing"
import { Clock, Effect } from "effect"
import { databaseUrl, execute } from "../support/ClusterDatabase.ts"
import { type Bench, DURABLE, table } from "./Bench.ts"
import { fillNumbers, type NumberJob, runPass } from "./NumberDatabase.ts"

/** For a pass of each job. */
const TARGET_MILLIS = 5_000

/** A pass of each job with work to do, and then of each with nothing to do. */
const PASSES: ReadonlyArray<readonly [NumberJob, string]> = [
  ["number-notices", "each notice due"],
  ["number-expiry", "as many over"],
  ["number-notices", "nothing due"],
  ["number-expiry", "nothing over"]
]

export const numbers: Bench = {
  summary: "jobs that announce the end of numbers and release them, with many numbers of which few are due",
  options: { numbers: 100_000, due: 1_000 },
  run: async (bench) => {
    const counts = { numbers: bench.option("numbers"), due: bench.option("due") }
    const postgres = await startPostgres({ settings: { ...DURABLE, shared_buffers: "256MB" } })
    bench.atEnd(postgres.stop)
    await execute(postgres.url, "create database numbers")
    const url = databaseUrl(postgres.url, "numbers")
    await fillNumbers(url, counts, await Effect.runPromise(Clock.currentTimeMillis))
    const rows: Array<ReadonlyArray<string | number>> = []
    const slow: Array<string> = []
    for (const [job, about] of PASSES) {
      const pass = await runPass(url, job)
      if (pass.millis > TARGET_MILLIS) slow.push(`${job}, ${about}`)
      rows.push([
        `${job}, ${about}`,
        pass.done,
        (pass.millis / 1_000).toFixed(3),
        pass.statements,
        pass.read,
        pass.changed,
        pass.scanned
      ])
    }
    bench.say(table(["pass", "done", "seconds", "statements", "rows read", "rows changed", "rows scanned"], rows))
    bench.say(
      `${counts.numbers} numbers of as many tenants, ${counts.due} due for each of the three notices and ` +
        `${counts.due} to release; a carrier that answers at once; fsync on`
    )
    bench.say(
      slow.length === 0 ? `all within ${TARGET_MILLIS} ms` : `more than ${TARGET_MILLIS} ms: ${slow.join("; ")}`
    )
  }
}
