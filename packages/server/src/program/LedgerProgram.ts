import { LedgerCheck } from "@agentos/core"
import { PaymentRailX402 } from "@agentos/x402"
import { Effect, Layer } from "effect"
import * as ServerConfig from "../config/ServerConfig.ts"
import type { Environment } from "../variable/Variables.ts"
import { currentStorage } from "./Maintenance.ts"

/** Formats the report as JSON. Amounts are decimal strings of base units, because a JSON number cannot hold them. */
const toJson = (report: unknown): string =>
  JSON.stringify(report, (_key, value: unknown) => (typeof value === "bigint" ? value.toString() : value), 2)

const AMOUNTS = "in base units: one token has 10 to the power of its decimals, so 1000000 are 1 token with 6 decimals"

/** The report for the operator, and the number of problems found. */
export interface LedgerReport {
  readonly json: string
  readonly problems: number
  /** Transfers to us that belong to no known operation. */
  readonly unclaimed: number
}

/**
 * Checks the ledger of the database that the variables name: that it balances, that it matches the operations, and
 * that the chain matches both. Uses the server's own variables (see `ServerConfig.ts`). Writes nothing, and fails with
 * `SchemaOutdated` if the database has no tables or older ones. An embedded database has one user at a time: stop its
 * server first.
 */
export const ledgerProgram = Effect.fnUntraced(function* (environment: Environment) {
  const config = yield* ServerConfig.read(environment)
  const ports = Layer.provideMerge(PaymentRailX402.layerReading({ networks: config.networks }), currentStorage(config))
  return yield* Effect.gen(function* () {
    const ledger = yield* LedgerCheck
    const tokens = yield* ledger.check
    const chain = yield* ledger.compareWithChain
    const problems = [...tokens, ...chain].flatMap((part) => part.problems).length
    const unclaimed = chain.reduce((sum, part) => sum + part.unclaimed.length, 0)
    const report = { ok: problems + unclaimed === 0, amounts: AMOUNTS, ledger: tokens, chain }
    return { json: toJson(report), problems, unclaimed } satisfies LedgerReport
  }).pipe(Effect.provide(LedgerCheck.layer.pipe(Layer.provide(ports))))
}, Effect.scoped)
