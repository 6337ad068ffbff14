import { type JobRecord, JobStore, Timestamp } from "@agentos/core"
import { Effect, Layer, Option } from "effect"
import { MemoryDatabase } from "./MemoryDatabase.ts"

/** Jobs in memory. A record's `runs` is its fence. */
export const layer = Layer.effect(
  JobStore,
  Effect.map(MemoryDatabase, ({ run, tables: { jobs } }) => {
    /** Changes the record of a run that has not ended and was not taken over. */
    const changeRun = (
      { fence, name }: { readonly fence: number; readonly name: string },
      change: (job: JobRecord, now: Timestamp.Timestamp) => Partial<JobRecord>
    ) =>
      run((now) => {
        const job = jobs.get(name)
        if (job === undefined || job.runs !== fence || job.leasedUntil === null) return false
        jobs.set(name, { ...job, ...change(job, now) })
        return true
      })

    return JobStore.of({
      take: (name, when, leaseMillis) =>
        run((now) => {
          const job = jobs.get(name) ?? neverRun(name, now)
          const isFree = job.leasedUntil === null || job.leasedUntil <= now
          if (!isFree || (when === "due" && job.dueAt > now)) return Option.none()
          const fence = job.runs + 1
          jobs.set(name, { ...job, runs: fence, leasedUntil: Timestamp.add(now, leaseMillis), startedAt: now })
          return Option.some({ name, fence })
        }),
      renew: (taken, leaseMillis) => changeRun(taken, (_, now) => ({ leasedUntil: Timestamp.add(now, leaseMillis) })),
      finish: (taken, outcome, nextMillis) =>
        changeRun(taken, (job, now) => ({
          leasedUntil: null,
          dueAt: Timestamp.add(now, nextMillis),
          ...(outcome._tag === "Succeeded"
            ? { succeededAt: now, failure: null, done: job.done + outcome.done }
            : { failedAt: now, failure: outcome.message, failures: job.failures + 1 })
        })),
      list: run(() => jobs.rows().toSorted((a, b) => (a.name < b.name ? -1 : 1)))
    })
  })
)

const neverRun = (name: string, now: Timestamp.Timestamp): JobRecord => ({
  name,
  dueAt: now,
  leasedUntil: null,
  startedAt: null,
  succeededAt: null,
  failedAt: null,
  failure: null,
  runs: 0,
  failures: 0,
  done: 0
})
