import { layerPGlite, layerPostgres, Postgres } from "@agentos/postgres"
import { Layer } from "effect"
import type { ServerConfig } from "./ServerConfig.ts"

/** The storage ports on the configured database. */
export const storageLayer = ({ database }: ServerConfig) =>
  Layer.provide(
    Postgres.layer,
    "url" in database
      ? layerPostgres({ url: database.url, maxConnections: database.maxConnections })
      : layerPGlite({ directory: database.directory })
  )
