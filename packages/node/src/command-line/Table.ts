import { displayWidth, plainLine, truncate } from "./Text.ts"

export type Cell = string | number | boolean | null | undefined

export interface Column<Row> {
  readonly heading: string
  readonly value: (row: Row) => Cell
  /** Never cut, because half an id is useless. */
  readonly whole?: boolean
  /** For the last column only: never cut; the terminal wraps it. */
  readonly wraps?: boolean
}

const GAP = "  "
const MIN_WIDTH = 12

const cellText = (value: Cell): string =>
  value === null || value === undefined || value === "" ? "-" : plainLine(String(value))

/** Shrinks the widest columns that may be cut until the table fits; undefined if it cannot fit. */
const fit = (
  widths: ReadonlyArray<number>,
  whole: ReadonlyArray<boolean>,
  columns: number
): ReadonlyArray<number> | undefined => {
  const fitted = [...widths]
  const total = () => fitted.reduce((sum, width) => sum + width, 0) + GAP.length * (fitted.length - 1)
  while (total() > columns) {
    let widest = -1
    for (const [index, width] of fitted.entries())
      if (whole[index] !== true && width > MIN_WIDTH && (widest < 0 || width > fitted[widest]!)) widest = index
    if (widest < 0) return undefined
    fitted[widest] = fitted[widest]! - 1
  }
  return fitted
}

/**
 * Formats rows under headings. Lines are cut to `columns`, the width of the terminal; undefined for programs, which get
 * whole lines. If the table cannot fit, each row is formatted as a record, so that no id is broken.
 */
export const table = <Row>(
  rows: ReadonlyArray<Row>,
  shape: ReadonlyArray<Column<Row>>,
  options: { readonly columns: number | undefined; readonly heading: (text: string) => string }
): string => {
  const cells = rows.map((row) => shape.map(({ value }) => cellText(value(row))))
  const widths = shape.map(({ heading }, index) =>
    Math.max(displayWidth(heading), ...cells.map((line) => displayWidth(line[index]!)))
  )
  const whole = shape.map((column) => column.whole === true)
  const fitted = options.columns === undefined ? widths : fit(widths, whole, options.columns)
  if (fitted === undefined)
    return rows
      .map((row) =>
        record(
          shape.map(({ heading, value }) => [heading, value(row)] as const),
          options.heading
        )
      )
      .join("\n")
  const line = (texts: ReadonlyArray<string>): string =>
    texts
      .map((text, index) => {
        const cut = shape[index]!.wraps === true ? text : truncate(text, fitted[index]!)
        return index === texts.length - 1 ? cut : cut + " ".repeat(fitted[index]! - displayWidth(cut))
      })
      .join(GAP)
      .trimEnd()
  const lines = [options.heading(line(shape.map(({ heading }) => heading))), ...cells.map(line)]
  return `${lines.join("\n")}\n`
}

export type Field = readonly [label: string, value: Cell]

/** Formats labels and values, one pair a line. Empty values are left out. */
export const record = (fields: ReadonlyArray<Field>, label: (text: string) => string): string => {
  const shown = fields.filter(([, value]) => value !== null && value !== undefined && value !== "")
  const width = Math.max(0, ...shown.map(([name]) => displayWidth(name)))
  return shown
    .map(([name, value]) => `${label(name)}${" ".repeat(width - displayWidth(name))}  ${plainLine(String(value))}\n`)
    .join("")
}
