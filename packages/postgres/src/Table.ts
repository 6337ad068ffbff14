import type { PgTypes } from "@effect/sql-pg"
import type { Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import * as Parameter from "./Parameter.ts"
import * as Row from "./Row.ts"

/**
 * A field of a record and the columns that store it. Its row type, its place in column lists, its value in inserts and
 * updates, and its reading all follow from it.
 */
export interface Field<A, Stored extends object> {
  readonly columns: ReadonlyArray<string>
  readonly read: (row: Stored) => A
  /** Returns the parameter of each column. */
  readonly write: (value: A | null) => ReadonlyArray<PgTypes.Parameter>
  /** Returns the parameter of each column, an array with one element per value. */
  readonly writeAll: (values: ReadonlyArray<A | null>) => ReadonlyArray<PgTypes.Parameter>
}

interface AnyField {
  readonly columns: ReadonlyArray<string>
  readonly read: (row: never) => unknown
  readonly write: (value: never) => ReadonlyArray<PgTypes.Parameter>
  readonly writeAll: (values: never) => ReadonlyArray<PgTypes.Parameter>
}

export type Fields = Readonly<Record<string, AnyField>>

export type RecordOf<F extends Fields> = { readonly [Name in keyof F]: ReturnType<F[Name]["read"]> }

/** The row of a statement that selects the columns of these fields. */
export type RowOf<F extends Fields> = F[keyof F]["read"] extends (row: infer Stored) => unknown
  ? { readonly [Column in keyof Stored]: Stored[Column] }
  : never

/** How the driver represents the values of a column (`Stored`), and the core does (`A`). */
interface Codec<Stored, A> {
  readonly decode: (stored: Stored) => A
  readonly one: (value: A | null) => PgTypes.Parameter
  readonly many: (values: ReadonlyArray<A | null>) => PgTypes.Parameter
}

type Named<Name extends string, Stored> = { readonly [Column in Name]: Stored }

/** Returns the functions that declare a column of this kind, and one that may be null. */
const kind = <Stored, A>({ decode, many, one }: Codec<Stored, A>) => {
  const writing = {
    write: (value: A | null) => [one(value)],
    writeAll: (values: ReadonlyArray<A | null>) => [many(values)]
  }
  return {
    column: <Name extends string>(name: Name): Field<A, Named<Name, Stored>> => ({
      columns: [name],
      read: (row) => decode(row[name]),
      ...writing
    }),
    orNull: <Name extends string>(name: Name): Field<A | null, Named<Name, Stored | null>> => ({
      columns: [name],
      read: (row) => {
        const stored = row[name]
        return stored === null ? null : decode(stored)
      },
      ...writing
    })
  }
}

const same = <A>(value: A): A => value

export const { column: uuid, orNull: uuidOrNull } = kind<string, string>({
  decode: same,
  one: Parameter.uuid,
  many: Parameter.uuids
})

export const { column: text, orNull: textOrNull } = kind<string, string>({
  decode: same,
  one: Parameter.text,
  many: Parameter.texts
})

/** A column of the type `integer`. */
export const { column: integer, orNull: integerOrNull } = kind<number, number>({
  decode: same,
  one: Parameter.integer,
  many: Parameter.integers
})

/** A column of the type `bigint` with numbers that fit into a number of JavaScript. */
export const { column: long, orNull: longOrNull } = kind<bigint, number>({
  decode: Number,
  one: Parameter.integer,
  many: Parameter.integers
})

/** A column of the type `numeric` with the number of a block, or null. */
export const { orNull: blockOrNull } = kind<string, bigint>({
  decode: BigInt,
  one: Parameter.integer,
  many: Parameter.integers
})

export const { column: moment, orNull: momentOrNull } = kind({
  decode: Row.toMoment,
  one: Parameter.integer,
  many: Parameter.integers
})

export const { column: boolean } = kind<boolean, boolean>({
  decode: same,
  one: Parameter.boolean,
  many: Parameter.booleans
})

export const { column: textArray } = kind<ReadonlyArray<string>, ReadonlyArray<string>>({
  decode: same,
  one: (values) => Parameter.texts(values ?? []),
  many: () => {
    throw new Error("an array of arrays is not supported")
  }
})

/** A kind of column whose values are stored as text. */
export const asText = <A>(decode: (text: string) => A, encode: (value: A) => string) => {
  const toText = (value: A | null): string | null => (value === null ? null : encode(value))
  return kind<string, A>({
    decode,
    one: (value) => Parameter.text(toText(value)),
    many: (values) => Parameter.texts(values.map(toText))
  })
}

/** Text that is one of these, which is not checked. */
export const textOf = <A extends string>() => kind<A, A>({ decode: same, one: Parameter.text, many: Parameter.texts })

/** Text that is one of the literals. A row with another one can't be read. */
export const literal = <const A extends ReadonlyArray<string>>(schema: Schema.Literals<A>) =>
  asText<A[number]>(Row.literalOf(schema), same)

/** A number of the type `integer` that is one of these, which is not checked. */
export const integerOf = <A extends number>() =>
  kind<A, A>({ decode: same, one: Parameter.integer, many: Parameter.integers })

/** JSON, which is not checked. */
export const json = <A>() => asText<A>(JSON.parse, JSON.stringify)

/** A field that consists of other fields. */
export const group = <F extends Fields>(fields: F): Field<RecordOf<F>, RowOf<F>> => {
  const entries = Object.entries(fields)
  const at = (value: RecordOf<F> | null, name: string) => (value === null ? null : value[name]) as never
  return {
    columns: columnsOf(fields),
    read: reader(fields),
    write: (value) => entries.flatMap(([name, { write }]) => write(at(value, name))),
    writeAll: (values) =>
      entries.flatMap(([name, { writeAll }]) => writeAll(values.map((value) => at(value, name)) as never))
  }
}

/** A field that consists of other fields, and is null if one of their columns is. */
export const groupOrNull = <F extends Fields>(
  fields: F
): Field<RecordOf<F> | null, { readonly [Column in keyof RowOf<F>]: RowOf<F>[Column] | null }> => {
  const { columns, read, write, writeAll } = group(fields)
  const isWhole = (row: object): row is RowOf<F> => columns.every((column) => Reflect.get(row, column) !== null)
  return { columns, read: (row) => (isWhole(row) ? read(row) : null), write, writeAll }
}

/** A field that represents the values of another one in its own way. */
export const map = <A, B, Stored extends object>(
  { columns, read, write, writeAll }: Field<A, Stored>,
  to: (value: A) => B,
  from: (value: B) => A
): Field<B, Stored> => {
  const fromOrNull = (value: B | null) => (value === null ? null : from(value))
  return {
    columns,
    read: (row) => to(read(row)),
    write: (value) => write(fromOrNull(value)),
    writeAll: (values) => writeAll(values.map(fromOrNull))
  }
}

/** Returns a function that makes the record of a row. */
const reader = <F extends Fields>(fields: F): ((row: RowOf<F>) => RecordOf<F>) => {
  const names = Object.keys(fields)
  const reads = Object.values(fields).map(({ read }) => read as (row: RowOf<F>) => unknown)
  return (row) => {
    const record: Record<string, unknown> = {}
    for (let index = 0; index < names.length; index++) record[names[index]!] = reads[index]!(row)
    return record as RecordOf<F>
  }
}

/** A table whose columns are declared once, or the part of it that a store reads and writes together. */
export interface Table<F extends Fields> {
  readonly fields: F
  /** The columns, for lists of a statement. */
  readonly columns: string
  /** The columns with the table before each, for statements that join tables with equal column names. */
  readonly qualified: string
  readonly toRecord: (row: RowOf<F>) => RecordOf<F>
}

export type Stored<T extends { readonly fields: Fields }> = RowOf<T["fields"]>

export const table = <F extends Fields>(name: string, fields: F): Table<F> => {
  const columns = columnsOf(fields)
  return {
    fields,
    columns: columns.join(", "),
    qualified: columns.map((column) => `${name}.${column}`).join(", "),
    toRecord: reader(fields)
  }
}

const columnsOf = (fields: Fields): ReadonlyArray<string> => Object.values(fields).flatMap(({ columns }) => columns)

/** Values of columns by name: parameters, or expressions. */
export type Values = Readonly<Record<string, PgTypes.Parameter | Statement.Fragment>>

/** Returns the values of these fields of a record. */
export const valuesOf = <F extends Fields>(fields: F, record: RecordOf<F>): Values => changesOf(fields, record)

/** Returns the values of those of these fields that a change has. */
export const changesOf = <F extends Fields>(
  fields: F,
  change: { readonly [Name in keyof F]?: RecordOf<F>[Name] | undefined }
): Values => {
  const values: Record<string, PgTypes.Parameter> = {}
  for (const [name, { columns, write }] of Object.entries(fields)) {
    const value = change[name]
    if (value === undefined) continue
    const written = write(value as never)
    for (let index = 0; index < columns.length; index++) values[columns[index]!] = written[index]!
  }
  return values
}

/** Returns the values of these fields of several records, each an array. */
export const arraysOf = <F extends Fields>(fields: F, records: ReadonlyArray<RecordOf<F>>): Values => {
  const values: Record<string, PgTypes.Parameter> = {}
  for (const [name, { columns, writeAll }] of Object.entries(fields)) {
    const written = writeAll(records.map((record) => record[name]) as never)
    for (let index = 0; index < columns.length; index++) values[columns[index]!] = written[index]!
  }
  return values
}

/** One fragment is compiled faster than one for each value. */
const fragment = (sql: SqlClient.SqlClient, texts: ReadonlyArray<string>, values: Values): Statement.Fragment =>
  sql(Object.assign([...texts], { raw: texts }), ...Object.values(values))

const inserted = (sql: SqlClient.SqlClient, values: Values, before: string, after: string): Statement.Fragment => {
  const names = Object.keys(values)
  return fragment(sql, [`(${names.join(", ")}) ${before}`, ...names.slice(1).map(() => ", "), after], values)
}

/** `(name, …) values (value, …)` of an `insert`. */
export const insert = (sql: SqlClient.SqlClient, values: Values): Statement.Fragment =>
  inserted(sql, values, "values (", ")")

/** `(name, …) select value, …` of an `insert`, which a `from` follows. */
export const insertSelect = (sql: SqlClient.SqlClient, values: Values): Statement.Fragment =>
  inserted(sql, values, "select ", "")

/** `name = value, …` of an `update`. */
export const set = (sql: SqlClient.SqlClient, values: Values): Statement.Fragment => {
  const [first, ...others] = Object.keys(values)
  return fragment(sql, [`${first} = `, ...others.map((name) => `, ${name} = `), ""], values)
}

/** `name = excluded.name, …` of `on conflict do update`. */
export const replace = (fields: Fields): string =>
  columnsOf(fields)
    .map((column) => `${column} = excluded.${column}`)
    .join(", ")
