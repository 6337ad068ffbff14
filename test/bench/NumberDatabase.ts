import {
  CallReports,
  Allowance,
  type Job,
  numberExpiry,
  numberNotices,
  ProviderError,
  TelephonyProvider,
  Timestamp,
  Transactor
} from "@agentos/core"
import { Database, layerPostgres, Postgres } from "@agentos/postgres"
import { Effect, Layer, Redacted } from "effect"
import { Statement } from "effect/sql"
import { execute } from "../support/ClusterDatabase.ts"

/** How many numbers there are, and for how many of them each notice, or the release, is due. */
export interface NumberCounts {
  readonly numbers: number
  readonly due: number
}

/** The cost of one run of a job. */
export interface Pass {
  /** The number of items that the job reports. */
  readonly done: number
  readonly millis: number
  readonly statements: number
  /** Rows of numbers that statements fetched, and changed. */
  readonly read: number
  readonly changed: number
  /** Rows that sequential scans of the numbers read. */
  readonly scanned: number
}

const NAME = "bench"

/** Inserts numbers, each of its own tenant. `n` counts them. */
const insertNumbers = (from: number, count: number, now: number, end: string, notice: readonly [string, string]) => `
  insert into phone_numbers (
    phone_number_id, tenant_id, agent_id, number, country, provider_number_id, agent_name, agent_webhook_url, state,
    started_at, expires_at, notice_days, notice_at, purchased_seconds, used_seconds, callback_key_id, callback_version,
    created_at
  )
  select
    gen_random_uuid(), tenant_id, gen_random_uuid(), '+1' || (2000000000 + n), 'US', 'PN' || n, 'Ada',
    'https://agents.example/ada', 'active', ends_at - ${Allowance.ENTITLEMENT}, ends_at, ${notice.join()}, 600, n % 600, 1, 1,
    ends_at - ${Allowance.ENTITLEMENT}
  from (
    select n, ${end} as ends_at, lpad(to_hex(n), 32, '0')::uuid as tenant_id, ${now}::bigint as now
    from generate_series(${from}::bigint, ${from + count - 1}) n
  ) numbers`

/** Fills an empty database. Idle numbers are spread over the 25 days before their first notice. */
export const fillNumbers = async (url: string, { due, numbers }: NumberCounts, now: number): Promise<void> => {
  const tellable = 25 * Timestamp.DAY
  const noticeAt = (days: number) => [`${days}`, `ends_at - ${days * Timestamp.DAY}`] as const
  const kinds = [
    ...Allowance.NOTICE_DAYS.map((days) => ({
      end: `${now + days * Timestamp.DAY} - 1000 - n`,
      notice: noticeAt(days)
    })),
    { end: `${now} - 1000 - n`, notice: ["null", "null"] as const }
  ]
  const idle = numbers - kinds.length * due
  await execute(
    url,
    "set statement_timeout = 0",
    `insert into tenants (tenant_id, wallet, token_version, created_at)
      select lpad(to_hex(n), 32, '0')::uuid, '0x' || lpad(to_hex(n), 40, '0'), 1, ${now}
      from generate_series(0, ${numbers - 1}) n`,
    insertNumbers(
      0,
      idle,
      now,
      `${now + Allowance.ENTITLEMENT} - n * ${tellable - Timestamp.DAY}::bigint / ${idle}`,
      noticeAt(5)
    ),
    ...kinds.map(({ end, notice }, kind) => insertNumbers(idle + kind * due, due, now, end, notice)),
    "insert into held_numbers (number) select number from phone_numbers",
    "vacuum analyze phone_numbers, held_numbers, tenants",
    "checkpoint"
  )
}

/** A carrier that confirms every release at once, and supports nothing else. */
const layerCarrier = Layer.suspend(() => {
  const cannot = () =>
    Effect.fail(
      new ProviderError({ provider: NAME, reason: "Rejected", message: "This carrier only releases numbers." })
    )
  return Layer.succeed(TelephonyProvider, {
    name: NAME,
    limitsKeptBy: "service",
    voices: [],
    search: cannot,
    buy: cannot,
    findNumber: cannot,
    release: () => Effect.void,
    listNumbers: cannot,
    place: cannot,
    findCalls: cannot,
    findCall: cannot,
    changeLimit: cannot,
    hangUp: cannot
  })
})

const JOBS = { "number-notices": numberNotices, "number-expiry": numberExpiry }
export type NumberJob = keyof typeof JOBS

const counters = `
  select coalesce(idx_tup_fetch, 0)::bigint as fetched, seq_tup_read::bigint as scanned, n_tup_upd::bigint as changed
  from pg_stat_user_tables where relname = 'phone_numbers'`

/** Reads the statistics of the database once every other connection has closed and reported its own. */
const readCounters = async (url: string): Promise<Readonly<Record<"fetched" | "scanned" | "changed", number>>> => {
  for (;;) {
    const [open] = await execute(
      url,
      `select count(*)::integer as count from pg_stat_activity where application_name = '${NAME}'`
    )
    if (open?.["count"] === 0) break
  }
  const [row] = await execute(url, counters)
  return { fetched: Number(row?.["fetched"]), scanned: Number(row?.["scanned"]), changed: Number(row?.["changed"]) }
}

/** Runs a job once, over its own connections, which are open before the measurement begins. */
export const runPass = async (url: string, name: NumberJob): Promise<Pass> => {
  const database = layerPostgres({ url: Redacted.make(url), applicationName: NAME })
  const stores = Layer.provideMerge(Postgres.layer, database)
  const services = CallReports.layer.pipe(Layer.provideMerge(layerCarrier), Layer.provideMerge(stores))
  const before = await readCounters(url)
  let statements = 0
  const count = (statement: Statement.Statement<unknown>) =>
    Effect.sync(() => {
      statements += 1
      return statement
    })
  const { done, millis } = await Effect.gen(function* () {
    const { transact } = yield* Transactor
    const { sql } = yield* Database
    const job: Job = yield* JOBS[name]
    yield* transact(sql`select 1`)
    const startedAt = performance.now()
    const done = yield* Effect.provideService(job.run, Statement.CurrentTransformer, count)
    return { done, millis: performance.now() - startedAt }
  }).pipe(Effect.provide(Layer.orDie(services)), Effect.runPromise)
  const after = await readCounters(url)
  return {
    done,
    millis,
    statements,
    read: after.fetched - before.fetched,
    changed: after.changed - before.changed,
    scanned: after.scanned - before.scanned
  }
}
