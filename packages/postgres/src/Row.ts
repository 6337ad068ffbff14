import { type Backlog, Lookup, Timestamp } from "@agentos/core"
import { Array, Option, type Schema } from "effect"

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

/** Returns a function that maps all rows. */
export const all =
  <Row, A>(to: (row: Row) => A) =>
  (rows: ReadonlyArray<Row>): ReadonlyArray<A> =>
    rows.map(to)

/** Returns a function that maps the first row. */
export const first =
  <Row, A>(to: (row: Row) => A) =>
  (rows: ReadonlyArray<Row>): Option.Option<A> =>
    Option.map(Array.head(rows), to)

/** Returns a function that maps the row found by an id to the tenant's own resource, or another tenant's. */
export const lookup =
  <Row extends { readonly tenant_id: string }, A>(tenantId: string, to: (row: Row) => A) =>
  ([row]: ReadonlyArray<Row>): Lookup.Lookup<A> => {
    if (row === undefined) return Lookup.missing
    return row.tenant_id === tenantId ? Lookup.owned(to(row)) : Lookup.foreign
  }

export interface BacklogRow {
  readonly count: bigint
  readonly since: bigint | null
}

export const toBacklog = ([row]: ReadonlyArray<BacklogRow>): Backlog => ({
  count: Number(row!.count),
  since: toMomentOrNull(row!.since)
})

/** Returns whether a statement with `returning` changed a row. */
export const any = (rows: ReadonlyArray<unknown>): boolean => rows.length > 0
