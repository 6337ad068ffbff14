import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"
import type { SqlClient } from "effect/sql"

/**
 * Parameters of statements with explicit types, so that a statement is prepared once whatever its values are,
 * null included.
 */
type Parameter = PgTypes.Parameter

const NUL = "\u0000"

/** PostgreSQL text cannot contain NUL, so it becomes U+FFFD both in stored values and in those searched for. */
export const storable = (value: string): string => (value.includes(NUL) ? value.replaceAll(NUL, "\uFFFD") : value)

const array = (values: ReadonlyArray<unknown>, elementOid: number): Parameter =>
  Result.getOrThrow(PgTypes.array(values, elementOid))

export const text = (value: string | null): Parameter => PgTypes.text(value === null ? null : storable(value))
export const texts = (values: ReadonlyArray<string | null>): Parameter =>
  array(
    values.map((value) => (value === null ? null : storable(value))),
    PgTypes.OID.text
  )

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** A UUID, or null for any other text, which then equals no id. */
export const uuid = (value: string | null): Parameter => PgTypes.uuid(value !== null && UUID.test(value) ? value : null)
export const uuids = (values: ReadonlyArray<string | null>): Parameter =>
  array(
    values.map((value) => (value !== null && UUID.test(value) ? value : null)),
    PgTypes.OID.uuid
  )

/** A whole number: milliseconds, a count or a block number. */
export const integer = (value: number | bigint | null): Parameter => PgTypes.int8(value === null ? null : BigInt(value))
export const integers = (values: ReadonlyArray<number | bigint | null>): Parameter =>
  array(
    values.map((value) => (value === null ? null : BigInt(value))),
    PgTypes.OID.int8
  )

export const numbers = (values: ReadonlyArray<number>): Parameter => array(values, PgTypes.OID.float8)

/** An amount in base units. */
export const amount = (value: bigint): Parameter => PgTypes.numeric(value.toString())
export const amounts = (values: ReadonlyArray<bigint>): Parameter =>
  array(
    values.map((value) => value.toString()),
    PgTypes.OID.numeric
  )

export const boolean = (value: boolean | null): Parameter => PgTypes.bool(value)
export const booleans = (values: ReadonlyArray<boolean | null>): Parameter => array(values, PgTypes.OID.bool)

export const bytes = (value: Uint8Array | null): Parameter => PgTypes.bytea(value)
export const byteStrings = (values: ReadonlyArray<Uint8Array | null>): Parameter => array(values, PgTypes.OID.bytea)

/**
 * Hides the value of a parameter, such as a limit or an array, from the planner. If PostgreSQL saw the value, it would expect
 * the plan for it to be cheaper than a plan that is kept for all values, and would plan the statement each time.
 */
export const unseen = (sql: SqlClient.SqlClient, parameter: Parameter) => sql`(select ${parameter})`
