import type { HarnessServices, StoreHarness } from "@agentos/contract-tests"
import { StoreClock } from "@agentos/contract-tests"
import { Timestamp } from "@agentos/core"
import { ClockOffset, Database, layerPGlite, Postgres } from "@agentos/postgres"
import { Effect, Layer } from "effect"
import { layerTestPostgres } from "./TestPostgres.ts"

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
  layer: layerStores(layerTestPostgres()),
  capabilities: { concurrentTransactions: true }
}

export const onPGlite: StoreHarness<Stores> = {
  name: "PGlite",
  layer: layerStores(layerPGlite()),
  capabilities: { concurrentTransactions: { unsupported: "an embedded database has one connection" } }
}
