import type { Host } from "./Host.ts"
import { type Column, type Field, record, shortId, table, tabSeparated, tabSeparatedRecord } from "./Table.ts"
import { plain, plainJson, shellWord } from "./Text.ts"

/** The times of --since and --until, in ISO 8601. */
export interface TimeRange {
  readonly since?: string | undefined
  readonly until?: string | undefined
}

export interface OutputOptions {
  readonly json: boolean
  readonly quiet: boolean
  readonly color: boolean
}

/** Writes data to standard output and everything else to standard error. */
export class Output {
  readonly #host: Pick<Host, "stdout" | "stderr">
  readonly options: OutputOptions

  constructor(host: Pick<Host, "stdout" | "stderr">, options: OutputOptions) {
    this.#host = host
    this.options = options
  }

  /** Prints the result of a command: with --json the document, otherwise the text. */
  data(document: unknown, text: () => string): void {
    this.#host.stdout.write(this.options.json ? `${plainJson(document, 2)}\n` : text())
  }

  /** Prints rows, or a remark if the list is empty. */
  table<Row>(document: unknown, rows: ReadonlyArray<Row>, shape: ReadonlyArray<Column<Row>>, none: string): void {
    if (rows.length === 0 && !this.options.json) return this.note(none)
    const { columns, isTerminal } = this.#host.stdout
    this.data(document, () =>
      isTerminal ? table(rows, shape, { columns, heading: (text) => this.bold(text) }) : tabSeparated(rows, shape)
    )
  }

  /**
   * Prints the first items of a list, and how to get more. `noun` is the plural. A cursor belongs to its filters, so the
   * times in `range` are repeated: `--since 1h` would be another time.
   */
  page<Row>(
    page: { readonly items: ReadonlyArray<Row>; readonly nextCursor: string | null },
    noun: string,
    limit: number,
    shape: ReadonlyArray<Column<Row>>,
    range: TimeRange = {}
  ): void {
    this.table(page, page.items, shape, `No ${noun}.`)
    if (page.nextCursor === null) return
    const times = Object.entries(range).flatMap(([flag, time]) => (time === undefined ? [] : [`--${flag} ${time} `]))
    this.note(`More ${noun}: --limit ${limit * 2}, or ${times.join("")}--cursor ${shellWord(page.nextCursor)}`)
  }

  /** Prints one resource, field by field. */
  record(document: unknown, fields: ReadonlyArray<Field>): void {
    this.data(document, () => this.recordText(fields))
  }

  /** Formats fields for standard output: in columns on a terminal, else with tabs. */
  recordText(fields: ReadonlyArray<Field>): string {
    return this.#host.stdout.isTerminal ? record(fields, (text) => this.bold(text)) : tabSeparatedRecord(fields)
  }

  /** Returns the short form of an id where people read it, on standard error of a terminal. */
  shownId(id: string): string {
    return this.#host.stderr.isTerminal ? shortId(id) : id
  }

  /** Prints text as it is, also with --json: a completion script, a path. */
  text(text: string): void {
    this.#host.stdout.write(text)
  }

  /** Prints bytes as they are. A terminal shows them as text, without control and invisible characters. */
  bytes(bytes: Uint8Array): void {
    const { stdout } = this.#host
    stdout.write(stdout.isTerminal ? plain(new TextDecoder().decode(bytes)) : bytes)
  }

  /** Prints a remark on standard error, unless --quiet is given. It may contain text of the server. */
  note(text: string): void {
    if (!this.options.quiet) this.#host.stderr.write(`${plain(text)}\n`)
  }

  /** Prints fields on standard error, unless --quiet is given. */
  noteRecord(fields: ReadonlyArray<Field>): void {
    if (!this.options.quiet) this.errorRecord(fields)
  }

  /** Prints fields on standard error, also with --quiet. */
  errorRecord(fields: ReadonlyArray<Field>): void {
    this.#host.stderr.write(record(fields, (text) => this.bold(text)))
  }

  /** Prints a warning on standard error, also with --quiet. */
  warn(text: string): void {
    this.#host.stderr.write(`${this.options.color ? `\u001b[33m${plain(text)}\u001b[39m` : plain(text)}\n`)
  }

  /** The style of help on standard output. */
  helpStyle(): { readonly bold: (text: string) => string; readonly columns: number | undefined } {
    return { bold: (text) => this.bold(text), columns: this.#host.stdout.columns }
  }

  bold(text: string): string {
    return this.options.color && this.#host.stdout.isTerminal ? `\u001b[1m${text}\u001b[22m` : text
  }
}

/** Whether to use colors. See https://no-color.org. */
export const wantsColor = (host: Host, noColor: boolean): boolean =>
  !noColor && (host.env["NO_COLOR"] ?? "") === "" && host.env["TERM"] !== "dumb" && host.stderr.isTerminal
