import { displayWidth, plainLine, truncate } from "./Plain.ts"

/** A column of a table: its heading and what stands in it. */
export interface Column<Row> {
  readonly heading: string
  readonly value: (row: Row) => string | number | boolean | null | undefined
  /** Columns of this kind are cut last, since half an id is of no use to anybody. */
  readonly whole?: boolean
  /** Of the last column alone: its sentences go on in the next line, where they are too long for the terminal. */
  readonly flows?: boolean
}

const GAP = "  "
const NARROWEST = 12

const cellText = (value: string | number | boolean | null | undefined): string =>
  value === null || value === undefined || value === "" ? "-" : plainLine(String(value))

/** Widths that fit: the widest column that may be cut gives way first. Undefined where nothing more can give way. */
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
      if (whole[index] !== true && width > NARROWEST && (widest < 0 || width > fitted[widest]!)) widest = index
    if (widest < 0) return undefined
    fitted[widest] = fitted[widest]! - 1
  }
  return fitted
}

/**
 * Rows under headings, in columns. `columns` is the width of the terminal, to
 * which lines are cut; undefined where the reader is a program, which gets them whole. On a terminal that is too
 * narrow even so, each row is written as a record, since half an id is what the terminal would break off.
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
  const fitted =
    options.columns === undefined
      ? widths
      : fit(
          widths,
          shape.map(({ whole }) => whole === true),
          options.columns
        )
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
        const cut = shape[index]!.flows === true ? text : truncate(text, fitted[index]!)
        return index === texts.length - 1 ? cut : cut + " ".repeat(fitted[index]! - displayWidth(cut))
      })
      .join(GAP)
      .trimEnd()
  const lines = [options.heading(line(shape.map(({ heading }) => heading))), ...cells.map(line)]
  return `${lines.join("\n")}\n`
}

/** Labels and values below each other; what is not set is left out. */
export const record = (
  fields: ReadonlyArray<readonly [label: string, value: string | number | boolean | null | undefined]>,
  label: (text: string) => string
): string => {
  const shown = fields.filter(([, value]) => value !== null && value !== undefined && value !== "")
  const width = Math.max(0, ...shown.map(([name]) => displayWidth(name)))
  return shown
    .map(([name, value]) => `${label(name)}${" ".repeat(width - displayWidth(name))}  ${plainLine(String(value))}\n`)
    .join("")
}
