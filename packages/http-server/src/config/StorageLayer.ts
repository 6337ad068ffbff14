import { countConnections, Database, durabilityRisks, layerPGlite, layerPostgres, Postgres } from "@agentos/postgres"
import { Duration, Effect, Layer } from "effect"
import { DatabaseConnections } from "../DatabaseConnections.ts"
import type { ServerConfig } from "./ServerConfig.ts"

const seconds = (count: number | undefined) => (count === undefined ? undefined : Duration.seconds(count))

/** Warns once about database settings that risk losing confirmed data. */
const warnOfRisks = Layer.effectDiscard(
  Effect.gen(function* () {
    const risks = yield* durabilityRisks
    if (risks.length === 0) return
    yield* Effect.logWarning(
      `The database runs with ${risks.join(", ")}: committed data, payments included, can be lost when its machine ` +
        "loses power. Turn these settings on in postgresql.conf, or for the role and database of this server."
    )
  })
)

/** Warns about the same risk with an embedded database, where no setting prevents it. */
const warnOfEmbedded = Layer.effectDiscard(
  Effect.logWarning(
    "The embedded database (AGENTOS_DATA_DIR) can lose committed data when the machine loses power, and serves one " +
      "server. Use a PostgreSQL server (DATABASE_URL) for real payments."
  )
)

/** The connection counts for operators. */
const connections = Layer.effect(
  DatabaseConnections,
  Effect.map(Database, (database) => Effect.provideService(countConnections, Database, database))
)

/** The storage ports on the configured database. */
export const storageLayer = ({ database, environment }: ServerConfig) => {
  if (!("url" in database)) {
    const storage = Layer.provide(Postgres.layer, layerPGlite({ directory: database.directory }))
    return environment === "production" ? Layer.merge(storage, warnOfEmbedded) : storage
  }
  return Layer.mergeAll(Postgres.layer, connections, warnOfRisks).pipe(
    Layer.provide(
      layerPostgres({
        url: database.url,
        maxConnections: database.maxConnections,
        statementTimeout: seconds(database.statementTimeout),
        idleInTransactionTimeout: seconds(database.idleTransactionTimeout)
      })
    )
  )
}
