import { LedgerCheck } from "@agentos/core"
import { PaymentRailX402 } from "@agentos/x402"
import { Effect, Layer } from "effect"
import { log } from "./config/Log.ts"
import * as ServerConfig from "./config/ServerConfig.ts"
import { storageLayer } from "./config/StorageLayer.ts"

/** The report as JSON: amounts are decimal strings of base units, which no number of JSON holds. */
const toJson = (report: unknown): string =>
  JSON.stringify(report, (_key, value: unknown) => (typeof value === "bigint" ? value.toString() : value), 2)

/** What the operator reads: the report, and whether anything is wrong. */
export interface LedgerReport {
  readonly json: string
  readonly problems: number
  /** Transfers to us that no operation knows of. */
  readonly unclaimed: number
}

/**
 * Checks the ledger of the database that the environment names (the variables
 * are the server's own, see `config/ServerConfig.ts`): that it balances, that
 * it says the same as the operations, and that the chain says the same as both.
 * Writes nothing. An embedded database has one user at a time: stop its server first.
 */
export const ledgerProgram: Effect.Effect<LedgerReport, unknown> = Effect.gen(function* () {
  const config = yield* ServerConfig.read(process.env)
  const ports = Layer.provideMerge(PaymentRailX402.layerReading({ networks: config.networks }), storageLayer(config))
  return yield* Effect.gen(function* () {
    const ledger = yield* LedgerCheck
    const tokens = yield* ledger.check
    const chain = yield* ledger.compareWithChain
    const problems = [...tokens, ...chain].flatMap((part) => part.problems).length
    const unclaimed = chain.reduce((sum, part) => sum + part.unclaimed.length, 0)
    return { json: toJson({ ok: problems + unclaimed === 0, ledger: tokens, chain }), problems, unclaimed }
  }).pipe(Effect.provide(LedgerCheck.layer.pipe(Layer.provide(ports))))
}).pipe(Effect.scoped, Effect.provide(log))
