import { chainClocksLayer, type Setup, StorageDiagnosis } from "@agentos/agentos"
import { LATE_SECONDS, readFigures, SalesStopStore } from "@agentos/core"
import { ChainClocks, clockLevel, clockOffset, DatabaseClock } from "@agentos/http-server"
import { type Check, checksDocument, failed, type Finding, passed, warned } from "@agentos/node/command-line"
import { Clock, Effect, Fiber, Layer } from "effect"
import type { ServerConfig } from "../config/ServerConfig.ts"
import { explain } from "../output/ProgramOutput.ts"
import { currentStorage } from "../program/Maintenance.ts"
import type { Environment } from "../variable/Variables.ts"
import { checkConfiguration } from "./ConfigurationCheck.ts"
import { checkDatabase, checkProviders, type DueRefunds, withoutPasswords } from "./ConnectionCheck.ts"
import { databaseChecks } from "./DatabaseChecks.ts"
import { checkConfiguredDns } from "./DnsCheck.ts"
import { workChecks } from "./WorkChecks.ts"

const NTP = "Synchronize the clocks of this machine and of the database (NTP)."

const clockFinding = Effect.gen(function* () {
  const database = yield* DatabaseClock
  const clocks = [...(database === undefined ? [] : [database]), ...(yield* ChainClocks)]
  const read = yield* Effect.forEach(
    clocks,
    (clock) => Effect.map(clockOffset(clock), (offset) => ({ source: clock.source, offset })),
    { concurrency: "unbounded" }
  )
  const answered = read.flatMap(({ offset, source }) => (offset === undefined ? [] : [{ source, offset }]))
  if (answered.length === 0) return passed("there is no other clock to compare with") satisfies Finding
  const detail = answered.map(({ offset, source }) => `${offset / 1_000} s ahead of ${source}`).join(", ")
  const levels = answered.map(({ offset }) => clockLevel(offset))
  if (levels.includes("wrong")) return failed(`${detail}: the server is not ready`, NTP)
  return levels.includes("warned") ? warned(detail, NTP) : passed(detail)
})

interface StoreReport {
  readonly checks: ReadonlyArray<Check>
  readonly refundsDue: DueRefunds
}

/** How long the checks of wallets wait for the refunds that are due. */
const DUE_WITHIN = "5 seconds"

/** Checks the database and the work in it. */
const storeChecks = (config: ServerConfig) =>
  Effect.gen(function* () {
    const diagnosis = yield* StorageDiagnosis
    const { list } = yield* SalesStopStore
    const [found, figures, stops, clock] = yield* Effect.all(
      [diagnosis ?? Effect.succeed(undefined), readFigures, list, clockFinding],
      { concurrency: "unbounded" }
    )
    const database = found === undefined ? [] : databaseChecks(found, "directory" in config.database)
    const now = yield* Clock.currentTimeMillis
    const work = workChecks(figures, stops, now)
    const refundsDue = figures.open
      .filter(({ state }) => state === "refund_due")
      .map((due) => ({ ...due, isLate: now - due.oldestAt > LATE_SECONDS.refund * 1_000 }))
    return { checks: [...database, ...work, { name: "clock", ...clock }], refundsDue } satisfies StoreReport
  })

/** The reason why the storage can't be opened, as one check. */
const unopened = (config: ServerConfig, error: unknown): Effect.Effect<StoreReport> =>
  Effect.map(checkDatabase(config, { tries: false }), (finding) => ({
    checks: [{ name: "database", ...(finding.status === "ok" ? failed(explain(error), null) : finding) }],
    refundsDue: []
  }))

const dnsChecks = (environment: Environment): Effect.Effect<ReadonlyArray<Check>> =>
  Effect.catchCause(checkConfiguredDns(environment, []), (cause) =>
    Effect.succeed([{ name: "DNS", ...failed(`could not be checked: ${String(cause)}`, null) }])
  )

const checkAll = <R>(
  environment: Environment,
  storeOf: (config: ServerConfig, setup: Setup) => Effect.Effect<StoreReport, never, R>
): Effect.Effect<ReadonlyArray<Check>, never, R> =>
  checkConfiguration(environment).pipe(
    Effect.matchEffect({
      onFailure: (error) =>
        Effect.succeed([{ name: "variables", ...failed(explain(error), "Correct them. agentos-server check-config") }]),
      onSuccess: Effect.fnUntraced(function* ({ checks, config, setup }) {
        const stored = Fiber.join(yield* Effect.forkChild(storeOf(config, setup)))
        const refundsDue = Effect.timeoutOrElse(stored, {
          duration: DUE_WITHIN,
          orElse: () => Effect.succeed({ refundsDue: [] })
        }).pipe(Effect.map((report): DueRefunds => report.refundsDue))
        const found = yield* Effect.all(
          [
            Effect.map(stored, (report) => report.checks),
            checkProviders(config, setup, refundsDue),
            dnsChecks(environment)
          ],
          { concurrency: "unbounded" }
        )
        return [...checks, ...found.flat()].map(withoutPasswords(config))
      })
    })
  )

/**
 * Checks the configuration, the database, the work in it, every connection and DNS. Changes nothing. Takes at most half a
 * minute.
 */
export const diagnose = (environment: Environment): Effect.Effect<ReadonlyArray<Check>> =>
  checkAll(environment, (config, setup) =>
    storeChecks(config).pipe(
      Effect.provide(Layer.merge(currentStorage(config), chainClocksLayer(setup))),
      Effect.catch((error) => unopened(config, error)),
      Effect.catchDefect((error) => unopened(config, error))
    )
  )

/** The same within a running server, on its own storage: the document of its route. */
export const diagnoseServer = Effect.gen(function* () {
  const services = yield* Effect.context<Effect.Services<ReturnType<typeof storeChecks>>>()
  const checks = yield* checkAll(process.env, (config) =>
    Effect.provideContext(storeChecks(config), services).pipe(Effect.catchDefect((error) => unopened(config, error)))
  )
  return checksDocument(checks)
})
