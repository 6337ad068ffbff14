import { displayWidth, plainLine, truncate } from "./Text.ts"

export type Cell = string | number | boolean | null | undefined

export interface Column<Row> {
  readonly heading: string
  readonly value: (row: Row) => Cell
  /** The text that a terminal shows instead of the value, which programs get: a time without seconds, a short address. */
  readonly shown?: (row: Row) => Cell
  /** Never cut, because half a value is useless. */
  readonly whole?: boolean
  /** An id, which a terminal shows in its short form. Never cut. */
  readonly id?: boolean
  /** For the last column only: never cut; the terminal wraps it. */
  readonly wraps?: boolean
  /** Left out of a terminal that is too narrow, the highest number first. Columns without a number are always shown. */
  readonly drop?: number
}

const GAP = "  "
/** The narrowest column that is cut, and the narrowest while another column can be left out instead. */
const MIN_WIDTH = 12
const COMFORTABLE_WIDTH = 20
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/
const SHORT_ID = 8

/**
 * Returns the end of a UUID, eight characters, for people. The ids begin with their time (UUIDv7), so those of one minute
 * begin with the same eight characters. Returns other text as it is.
 */
export const shortId = (text: string): string => (UUID.test(text) ? text.slice(-SHORT_ID) : text)

const isEmpty = (value: Cell): value is null | undefined | "" => value === null || value === undefined || value === ""

const cellText = (value: Cell): string => (isEmpty(value) ? "-" : plainLine(String(value)))

/** Shrinks the widest columns that may be cut until the table fits; undefined if it cannot fit. */
const fit = (
  widths: ReadonlyArray<number>,
  whole: ReadonlyArray<boolean>,
  columns: number,
  minimum: number
): ReadonlyArray<number> | undefined => {
  const fitted = [...widths]
  const total = () => fitted.reduce((sum, width) => sum + width, 0) + GAP.length * (fitted.length - 1)
  while (total() > columns) {
    let widest = -1
    for (const [index, width] of fitted.entries())
      if (whole[index] !== true && width > minimum && (widest < 0 || width > fitted[widest]!)) widest = index
    if (widest < 0) return undefined
    fitted[widest] = fitted[widest]! - 1
  }
  return fitted
}

/** Formats rows for programs: one line each, without headings, with whole values between tabs. */
export const tabSeparated = <Row>(rows: ReadonlyArray<Row>, shape: ReadonlyArray<Column<Row>>): string =>
  rows
    .map((row) => {
      const cells = shape.map(({ value }) => value(row))
      return `${cells.map((cell) => (isEmpty(cell) ? "" : plainLine(String(cell)))).join("\t")}\n`
    })
    .join("")

/** Returns the shape without the column that a narrow terminal can do without first; undefined if it needs all. */
const withoutOne = <Row>(shape: ReadonlyArray<Column<Row>>): ReadonlyArray<Column<Row>> | undefined => {
  const highest = Math.max(...shape.map(({ drop = -1 }) => drop))
  return highest < 0 ? undefined : shape.filter(({ drop }) => drop !== highest)
}

/**
 * Formats rows under headings for a terminal. Ids are short. Lines are cut to `columns`, the width of the terminal if it is
 * known. If the table cannot fit, columns are left out; if that is not enough, each row is formatted as a record.
 */
export const table = <Row>(
  rows: ReadonlyArray<Row>,
  shape: ReadonlyArray<Column<Row>>,
  options: { readonly columns: number | undefined; readonly heading: (text: string) => string }
): string => {
  const textOf = ({ id, shown, value }: Column<Row>, row: Row): string => {
    const text = cellText((shown ?? value)(row))
    return id === true ? shortId(text) : text
  }
  const widths = shape.map((column) =>
    Math.max(displayWidth(column.heading), ...rows.map((row) => displayWidth(textOf(column, row))))
  )
  const whole = shape.map((column) => column.whole === true || column.id === true)
  const narrower = withoutOne(shape)
  const minimum = narrower === undefined ? MIN_WIDTH : COMFORTABLE_WIDTH
  const fitted = options.columns === undefined ? widths : fit(widths, whole, options.columns, minimum)
  if (fitted === undefined) {
    if (narrower !== undefined) return table(rows, narrower, options)
    return rows
      .map((row) =>
        record(
          shape.map((column) => [column.heading, isEmpty(column.value(row)) ? null : textOf(column, row)] as const),
          options.heading
        )
      )
      .join("\n")
  }
  const line = (texts: ReadonlyArray<string>): string =>
    texts
      .map((text, index) => {
        const cut = shape[index]!.wraps === true ? text : truncate(text, fitted[index]!)
        return index === texts.length - 1 ? cut : cut + " ".repeat(fitted[index]! - displayWidth(cut))
      })
      .join(GAP)
      .trimEnd()
  const lines = [
    options.heading(line(shape.map(({ heading }) => heading))),
    ...rows.map((row) => line(shape.map((column) => textOf(column, row))))
  ]
  return `${lines.join("\n")}\n`
}

export type Field = readonly [label: string, value: Cell]

/** Formats labels and values, one pair a line. Empty values are left out. */
export const record = (fields: ReadonlyArray<Field>, label: (text: string) => string): string => {
  const shown = fields.filter(([, value]) => !isEmpty(value))
  const width = Math.max(0, ...shown.map(([name]) => displayWidth(name)))
  return shown
    .map(([name, value]) => `${label(name)}${" ".repeat(width - displayWidth(name))}  ${plainLine(String(value))}\n`)
    .join("")
}

/**
 * Formats labels and values for programs: one pair a line, with a tab between them. Empty values are left out. An empty label
 * is that of the field before.
 */
export const tabSeparatedRecord = (fields: ReadonlyArray<Field>): string => {
  let label = ""
  return fields
    .flatMap(([name, value]) => {
      label = name === "" ? label : name
      return isEmpty(value) ? [] : [`${label}\t${plainLine(String(value))}\n`]
    })
    .join("")
}
