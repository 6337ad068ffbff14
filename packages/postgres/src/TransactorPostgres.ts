import { Transactor } from "@agentos/core"
import { Effect, Layer } from "effect"
import { Database } from "./Database.ts"
import { orDie } from "./DatabaseFailure.ts"

/** Time limit for the database to answer the readiness check. */
const READY_WITHIN = "2 seconds"

export const layer: Layer.Layer<Transactor, never, Database> = Layer.effect(
  Transactor,
  Effect.map(Database, ({ sql, transact }) =>
    Transactor.of({
      transact,
      // The message, which nothing reads, makes the statement commit: a write to the log on disk, and to standbys.
      ready: orDie(sql<{ readonly ready: boolean }>`
        select current_setting('transaction_read_only') = 'off' and database_has_room() as ready,
          pg_logical_emit_message(true, 'agentos', 'ready')::text`).pipe(
        Effect.map((rows) => rows[0]?.ready === true),
        Effect.timeout(READY_WITHIN),
        Effect.catchCause((cause) => Effect.as(Effect.logWarning("the database is not ready", cause), false))
      )
    })
  )
)
