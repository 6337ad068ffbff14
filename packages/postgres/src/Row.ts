import { type Backlog, Lookup, Timestamp } from "@agentos/core"
import { Array, Effect, Option, type Schema } from "effect"
import type { SqlError } from "effect/sql"
import { orDie } from "./DatabaseFailure.ts"

/** The nil UUID, which sorts before all others and is no row's id (RFC 9562, section 5.9). */
export const NIL = "00000000-0000-0000-0000-000000000000"

/** The greatest UUID, which sorts after all others and is no row's id (RFC 9562, section 5.10). */
export const MAX = "ffffffff-ffff-ffff-ffff-ffffffffffff"

export const toMoment = (millis: bigint): Timestamp.Timestamp => Timestamp.fromMillis(Number(millis))
export const toMomentOrNull = (millis: bigint | null): Timestamp.Timestamp | null =>
  millis === null ? null : toMoment(millis)

/** Returns a function that checks that a column has one of the literals, and dies otherwise. Faster than a decoder. */
export const literalOf = <const A extends ReadonlyArray<string>>({ literals }: Schema.Literals<A>) => {
  const known = new Set<string>(literals)
  return (text: string): A[number] => {
    if (known.has(text)) return text
    throw new Error(`the database has ${JSON.stringify(text)} in place of one of ${literals.join(", ")}`)
  }
}

type Query<Row> = Effect.Effect<ReadonlyArray<Row>, SqlError.SqlError>

/** Returns a function that runs a statement and maps its rows. */
export const all =
  <Row, A>(to: (row: Row) => A) =>
  (query: Query<Row>): Effect.Effect<ReadonlyArray<A>> =>
    Effect.map(orDie(query), (rows) => rows.map(to))

/** Returns a function that runs a statement and maps its first row. */
export const first =
  <Row, A>(to: (row: Row) => A) =>
  (query: Query<Row>): Effect.Effect<Option.Option<A>> =>
    Effect.map(orDie(query), (rows) => Option.map(Array.head(rows), to))

/** Returns a function that runs a search by an id, and maps its row to the tenant's own resource, or another tenant's. */
export const lookup =
  <Row extends { readonly tenant_id: string }, A>(tenantId: string, to: (row: Row) => A) =>
  (query: Query<Row>): Effect.Effect<Lookup.Lookup<A>> =>
    Effect.map(orDie(query), ([row]) => {
      if (row === undefined) return Lookup.missing
      return row.tenant_id === tenantId ? Lookup.owned(to(row)) : Lookup.foreign
    })

/** Runs a statement, and returns whether it returned a row. */
export const any = (query: Query<unknown>): Effect.Effect<boolean> =>
  Effect.map(orDie(query), (rows) => rows.length > 0)

/** Runs a statement, and returns how many rows it returned. */
export const count = (query: Query<unknown>): Effect.Effect<number> => Effect.map(orDie(query), (rows) => rows.length)

/** Runs a statement for its effect. */
export const run = (query: Query<unknown>): Effect.Effect<void> => Effect.asVoid(orDie(query))

export interface BacklogRow {
  readonly count: bigint
  readonly since: bigint | null
}

export const toBacklog = ([row]: ReadonlyArray<BacklogRow>): Backlog => ({
  count: Number(row!.count),
  since: toMomentOrNull(row!.since)
})
