import { Timestamp } from "@agentos/core"
import {
  type HarnessServices,
  StorageContract,
  StoreClock,
  type StoreHarness,
  withHarness
} from "@agentos/core/contract-tests"
import { ClockOffset, Database, layerPGlite, Postgres } from "@agentos/postgres"
import { GasTransactionStoreContract } from "@agentos/x402/contract-tests"
import { Effect, Layer } from "effect"
import { layerRestrictedPostgres } from "./TestPostgres.ts"

/** Provides every store on a database, and the clock that they use. */
const layerStores = <E>(database: Layer.Layer<Database, E>) => {
  let offset = 0
  const clock = Layer.effect(
    StoreClock,
    Effect.map(Database, ({ sql }) =>
      StoreClock.of({
        now: sql<{ readonly now: bigint }>`select epoch_millis() as now`.pipe(
          Effect.orDie,
          Effect.map((rows) => Timestamp.Timestamp.make(Number(rows[0]!.now) + offset))
        ),
        advance: (millis) =>
          Effect.sync(() => {
            offset += millis
          })
      })
    )
  )
  return Layer.provide(Layer.merge(Postgres.layer, clock), [database, Layer.succeed(ClockOffset, () => offset)])
}

type Stores = HarnessServices | Layer.Success<typeof Postgres.layer>

export const onPostgres: StoreHarness<Stores> = {
  name: "PostgreSQL",
  layer: layerStores(layerRestrictedPostgres),
  capabilities: { concurrentTransactions: true }
}

export const onPGlite: StoreHarness<Stores> = {
  name: "PGlite",
  layer: layerStores(layerPGlite()),
  capabilities: { concurrentTransactions: { unsupported: "an embedded database has one connection" } }
}

/** The suites of all ports that this package implements, on one database. */
export const storesContract = (harness: StoreHarness<Stores>): void =>
  withHarness(harness, (it, capabilities) => {
    StorageContract.register(it, capabilities)
    GasTransactionStoreContract.register(it, capabilities)
  })
