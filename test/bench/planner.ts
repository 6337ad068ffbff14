import { Database, layerPGlite, layerPostgres, Postgres } from "@agentos/postgres"
import { startPostgres } from "@agentos/postgres/testing"
import { Effect, Exit, Layer, ManagedRuntime, Redacted } from "effect"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Bench, table } from "./Bench.ts"
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

const heads = (names: ReadonlyArray<string>) => ["milliseconds, best", ...names]

const report = (names: ReadonlyArray<string>, times: ReadonlyArray<ReadonlyArray<number>>): string =>
  table(
    heads(names),
    MEASURES.map(({ name }, index) => [name, ...times[index]!.map((millis) => millis.toFixed(2))])
  )

const SECTIONS = {
  before: "with statistics of the first day",
  none: "without statistics",
  now: "with current statistics"
}

/** Measures with old statistics, without any, and with current ones. */
const measureDatabase = async (
  name: string,
  session: Session,
  bench: Parameters<Bench["run"]>[0],
  kept: (rounds: number) => Promise<void> = async () => {}
) => {
  const [rows, rounds] = [bench.option("rows"), bench.option("rounds")]
  const say = async (section: string) => {
    const times = await measureAll(session, rounds)
    bench.say(
      `\n${name}, ${section}\n\n${report(
        VARIANTS.map((variant) => variant.name),
        times
      )}`
    )
  }
  await session.runPromise(execute(["set statement_timeout = 0", ...pastRows(rows)]))
  await kept(rounds)
  await say(SECTIONS.before)
  await session.runPromise(execute(["set statement_timeout = 0", ...FORGET_STATISTICS]))
  await say(SECTIONS.none)
  await session.runPromise(execute(["set statement_timeout = 0", "vacuum analyze"]))
  await say(SECTIONS.now)
}

/** Each statement with and without the planner settings of `Database.ts`. */
export const planner: Bench = {
  summary: "each hot statement with and without the planner settings, on PostgreSQL and PGlite, by state of statistics",
  options: { rows: 200_000, rounds: 15 },
  run: async (bench) => {
    const postgres = await startPostgres({ settings: { autovacuum: "off", shared_buffers: "512MB" } })
    bench.atEnd(postgres.stop)
    const url = Redacted.make(postgres.url)
    const open = (layer: Layer.Layer<Database, unknown>): Session => {
      const session = openSession(layer)
      bench.atEnd(() => session.dispose())
      return session
    }
    const session = open(layerPostgres({ url, maxConnections: 1 }))
    await session.runPromise(execute(["set statement_timeout = 0", ...FIRST_ROWS, "analyze"]))

    // Connections that have executed every statement on the small tables, and may keep the plans that they made then.
    const keeping = VARIANTS.map((variant) => ({ variant, session: open(layerPostgres({ url, maxConnections: 1 })) }))
    for (const each of keeping) {
      await each.session.runPromise(
        Effect.andThen(
          execute(setting(each.variant)),
          Effect.forEach(MEASURES, (measure) => best(measure, 1), { discard: true })
        )
      )
    }
    await measureDatabase("PostgreSQL", session, bench, async (rounds) => {
      const times = MEASURES.map(() => keeping.map(() => Number.NaN))
      for (const [column, each] of keeping.entries()) {
        const own = await each.session.runPromise(Effect.forEach(MEASURES, (measure) => best(measure, rounds)))
        for (const [row, millis] of own.entries()) times[row]![column] = millis
      }
      const names = keeping.map(({ variant }) => variant.name)
      bench.say(`\nPostgreSQL, with plans of the first day where they are kept\n\n${report(names, times)}`)
    })

    const directory = await mkdtemp(join(tmpdir(), "agentos-planner-"))
    bench.atEnd(() => rm(directory, { recursive: true, force: true }))
    const embedded = open(layerPGlite({ directory }))
    await embedded.runPromise(execute([...FIRST_ROWS, "analyze"]))
    await measureDatabase("PGlite", embedded, bench)
  }
}
