import { PgClient } from "@effect/sql-pg"
import { Effect, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlConnection, type SqlError } from "effect/sql"

/** Strongest lock that a statement takes on a table, in PostgreSQL's names (manual, "Explicit Locking"). */
export type TableLock = "ShareUpdateExclusiveLock" | "ShareRowExclusiveLock" | "AccessExclusiveLock"

export type TableLocks = Readonly<Record<string, TableLock>>

/** The statements of migrations that are allowed on existing tables, with the lock that each takes. The strongest is first. */
const LOCKS: ReadonlyArray<readonly [TableLock, RegExp]> = [
  ["AccessExclusiveLock", /^alter table (\w+)/g],
  ["ShareRowExclusiveLock", /\breferences (\w+)/g],
  ["ShareRowExclusiveLock", /^create (?:or replace )?trigger \w+ [^]*? on (\w+)/g],
  ["ShareUpdateExclusiveLock", /^create index concurrently \w+ on (\w+)/g]
]

/**
 * Returns the locks on tables that exist before these statements, which are held until the transaction ends. Tables that the
 * statements create are not in use.
 */
export const locksOf = (statements: ReadonlyArray<string>): TableLocks => {
  const created = new Set(statements.flatMap((text) => /^create (?:unlogged )?table (\w+)/.exec(text)?.[1] ?? []))
  const found = LOCKS.flatMap(([lock, pattern]) =>
    statements.flatMap((text) => [...text.matchAll(pattern)].map(([, table]) => [table!, lock] as const))
  )
  // The first one of a table remains.
  return Object.fromEntries(found.filter(([table]) => !created.has(table)).toReversed())
}

/** Returns the statements of a migration, without a database. */
export const statementsOf = (
  migration: Effect.Effect<unknown, SqlError.SqlError, SqlClient.SqlClient>
): Effect.Effect<ReadonlyArray<string>> =>
  Effect.gen(function* () {
    const statements: Array<string> = []
    const record = (text: string) =>
      Effect.sync(() => {
        statements.push(text.trim())
        return []
      })
    const connection: SqlConnection.Connection = {
      execute: record,
      executeRaw: record,
      executeStream: (text) => Stream.fromEffectDrain(record(text)),
      executeUnprepared: record,
      executeValues: record,
      executeValuesUnprepared: record
    }
    const client = yield* SqlClient.make({
      driver: "none",
      acquirer: Effect.succeed(connection),
      transactionAcquirer: Effect.succeed(connection),
      compiler: PgClient.makeCompiler(),
      spanAttributes: []
    })
    yield* Effect.orDie(Effect.provideService(migration, SqlClient.SqlClient, client))
    return statements
  }).pipe(Effect.provide(Reactivity.layer))
