import { Database, layerPGlite, layerPostgres, Postgres } from "@agentos/postgres"
import { startPostgres } from "@agentos/postgres/testing"
import { Effect, Exit, Layer, ManagedRuntime, Redacted } from "effect"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { databaseUrl, execute as executeOn } from "../support/ClusterDatabase.ts"
import { type Bench, type BenchRun, table } from "./Bench.ts"
import { execute, FIRST_ROWS, FORGET_STATISTICS, pastRows } from "./PlannerDatabase.ts"
import { type Measure, MEASURES, type Ports } from "./PlannerStatements.ts"

/** Settings of the planner. */
interface Variant {
  readonly name: string
  readonly planCache: "force_custom_plan" | "force_generic_plan" | "auto"
  readonly seqscan: "on" | "off"
  readonly bitmapscan: "on" | "off"
}

const VARIANTS: ReadonlyArray<Variant> = [
  { name: "custom, neither", planCache: "force_custom_plan", seqscan: "off", bitmapscan: "off" },
  { name: "custom, seqscan", planCache: "force_custom_plan", seqscan: "on", bitmapscan: "off" },
  { name: "custom, bitmapscan", planCache: "force_custom_plan", seqscan: "off", bitmapscan: "on" },
  { name: "custom, both", planCache: "force_custom_plan", seqscan: "on", bitmapscan: "on" },
  { name: "auto, neither", planCache: "auto", seqscan: "off", bitmapscan: "off" },
  { name: "auto, both", planCache: "auto", seqscan: "on", bitmapscan: "on" },
  { name: "generic, neither", planCache: "force_generic_plan", seqscan: "off", bitmapscan: "off" },
  { name: "generic, both", planCache: "force_generic_plan", seqscan: "on", bitmapscan: "on" }
]

/** After this many executions, `auto` may switch to a generic plan (PostgreSQL manual, "PREPARE"). */
const WARM_UP = 7
const TIMEOUT_MILLIS = 2_000
/** Time after which a slow statement is not repeated. */
const ENOUGH_MILLIS = 1_000

const setting = ({ bitmapscan, planCache, seqscan }: Variant): ReadonlyArray<string> => [
  `set plan_cache_mode = ${planCache}`,
  `set enable_seqscan = ${seqscan}`,
  `set enable_bitmapscan = ${bitmapscan}`,
  `set statement_timeout = ${TIMEOUT_MILLIS}`
]

/** One connection to a database, with the stores on it. */
type Session = ManagedRuntime.ManagedRuntime<Ports | Database, never>

const openSession = (database: Layer.Layer<Database, unknown>): Session =>
  ManagedRuntime.make(Layer.orDie(Layer.provideMerge(Postgres.layer, database)))

/** Returns the milliseconds of a statement, whose transaction is rolled back. */
const timed = ({ run }: Measure) =>
  Effect.gen(function* () {
    const { sql } = yield* Database
    let millis = Number.NaN
    const exit = yield* Effect.exit(
      sql.withTransaction(
        Effect.gen(function* () {
          const statement = yield* run
          const startedAt = performance.now()
          yield* statement
          millis = performance.now() - startedAt
          return yield* Effect.fail("rolled back" as const)
        })
      )
    )
    if (!Number.isNaN(millis)) return millis
    const isTimeout = Exit.isFailure(exit) && String(exit.cause).includes("57014")
    return isTimeout ? TIMEOUT_MILLIS : yield* Effect.die(exit)
  })

/** Returns the lowest milliseconds of a statement with the session's settings: other programs only add to them. */
const best = Effect.fnUntraced(function* (measure: Measure, rounds: number) {
  let lowest = Number.POSITIVE_INFINITY
  let spent = 0
  for (let round = 0; round < WARM_UP + rounds && (round < 2 || spent < ENOUGH_MILLIS); round++) {
    const millis = yield* timed(measure)
    spent += millis
    if (round >= WARM_UP || spent >= ENOUGH_MILLIS) lowest = Math.min(lowest, millis)
  }
  return lowest
})

/** Measures every statement with every variant on one connection, each with new plans. */
const measureAll = (session: Session, rounds: number) =>
  session.runPromise(
    Effect.forEach(MEASURES, (measure) =>
      Effect.forEach(VARIANTS, (variant) =>
        Effect.andThen(execute([...setting(variant), "discard plans"]), best(measure, rounds))
      )
    )
  )

const report = (variants: ReadonlyArray<Variant>, times: ReadonlyArray<ReadonlyArray<number>>): string =>
  table(
    ["milliseconds, best", ...variants.map(({ name }) => name)],
    MEASURES.map(({ name }, index) => [name, ...times[index]!.map((millis) => millis.toFixed(2))])
  )

/** Measures with old statistics, without any, and with current ones. */
const measureDatabase = async (name: string, session: Session, bench: BenchRun) => {
  const say = async (section: string) => {
    const times = await measureAll(session, bench.option("rounds"))
    bench.say(`\n${name}, ${section}\n\n${report(VARIANTS, times)}`)
  }
  const run = (statements: ReadonlyArray<string>) =>
    session.runPromise(execute(["set statement_timeout = 0", ...statements]))
  await run([...FIRST_ROWS, "analyze", ...pastRows(bench.option("rows"))])
  await say("with statistics of the first day")
  await run(FORGET_STATISTICS)
  await say("without statistics")
  await run(["vacuum analyze"])
  await say("with current statistics")
}

/** The variants that keep plans. */
const KEEPING = VARIANTS.filter(({ planCache }) => planCache !== "force_custom_plan")

/**
 * Measures on connections that executed every statement on the empty tables, and keep the plans that they made then.
 * Each fills a database of its own, since the pool closes a connection that is idle.
 */
const measureKept = async (openDatabase: (name: string) => Promise<Session>, bench: BenchRun) => {
  const columns: Array<ReadonlyArray<number>> = []
  for (const [index, variant] of KEEPING.entries()) {
    const session = await openDatabase(`kept_${index}`)
    const onEmpty = Effect.forEach(MEASURES, (measure) => Effect.exit(best(measure, 1)), { discard: true })
    const fill = execute(["set statement_timeout = 0", ...FIRST_ROWS, ...pastRows(bench.option("rows"))])
    const onFull = Effect.forEach(MEASURES, (measure) => best(measure, bench.option("rounds")))
    columns.push(
      await session.runPromise(
        execute(setting(variant)).pipe(
          Effect.andThen(onEmpty),
          Effect.andThen(fill),
          Effect.andThen(execute(setting(variant))),
          Effect.andThen(onFull)
        )
      )
    )
  }
  const times = MEASURES.map((_, row) => columns.map((column) => column[row]!))
  bench.say(`\nPostgreSQL, with plans of the empty tables\n\n${report(KEEPING, times)}`)
}

/** Each statement with and without the planner settings of `Database.ts`. */
export const planner: Bench = {
  summary: "each hot statement with and without the planner settings, on PostgreSQL and PGlite, by state of statistics",
  options: { rows: 200_000, rounds: 15 },
  run: async (bench) => {
    const postgres = await startPostgres({ settings: { autovacuum: "off", shared_buffers: "512MB" } })
    bench.atEnd(postgres.stop)
    const open = (layer: Layer.Layer<Database, unknown>): Session => {
      const session = openSession(layer)
      bench.atEnd(() => session.dispose())
      return session
    }
    const openPostgres = (url: string) => open(layerPostgres({ url: Redacted.make(url), maxConnections: 1 }))
    const openDatabase = async (name: string) => {
      await executeOn(postgres.url, `create database ${name}`)
      return openPostgres(databaseUrl(postgres.url, name))
    }
    await measureKept(openDatabase, bench)
    await measureDatabase("PostgreSQL", openPostgres(postgres.url), bench)

    const directory = await mkdtemp(join(tmpdir(), "agentos-planner-"))
    bench.atEnd(() => rm(directory, { recursive: true, force: true }))
    await measureDatabase("PGlite", open(layerPGlite({ directory })), bench)
  }
}
