import type { Host } from "../host/Host.ts"
import { plain, plainJson } from "./Plain.ts"
import { type Column, record, table } from "./Table.ts"

/** How a command is to say things. */
export interface OutputOptions {
  readonly json: boolean
  readonly quiet: boolean
  readonly color: boolean
}

type Field = readonly [label: string, value: string | number | boolean | null | undefined]

/** The one way to standard output and standard error: data to the first, everything else to the second. */
export class Output {
  readonly #host: Pick<Host, "stdout" | "stderr">
  readonly options: OutputOptions

  constructor(host: Pick<Host, "stdout" | "stderr">, options: OutputOptions) {
    this.#host = host
    this.options = options
  }

  /** What the command was asked for: as one JSON document for programs, else as the text for people. */
  data(document: unknown, text: () => string): void {
    this.#host.stdout.write(this.options.json ? `${plainJson(document, 2)}\n` : text())
  }

  /** Rows, or a line that says that there are none. */
  table<Row>(document: unknown, rows: ReadonlyArray<Row>, shape: ReadonlyArray<Column<Row>>, none: string): void {
    if (rows.length === 0 && !this.options.json) return this.note(none)
    const { columns, isTerminal } = this.#host.stdout
    this.data(document, () =>
      table(rows, shape, { columns: isTerminal ? columns : undefined, heading: (text) => this.bold(text) })
    )
  }

  /** One thing, field by field. */
  record(document: unknown, fields: ReadonlyArray<Field>): void {
    this.data(document, () => this.recordText(fields))
  }

  recordText(fields: ReadonlyArray<Field>): string {
    return record(fields, (text) => this.bold(text))
  }

  /** A text that is data by itself, with --json too: a completion script, a path. */
  text(text: string): void {
    this.#host.stdout.write(text)
  }

  /** Something to know besides; not with --quiet. Part of it may be the server's words. */
  note(text: string): void {
    if (!this.options.quiet) this.#host.stderr.write(`${plain(text)}\n`)
  }

  /** Fields to know besides; not with --quiet. */
  noteRecord(fields: ReadonlyArray<Field>): void {
    if (!this.options.quiet) this.#host.stderr.write(this.recordText(fields))
  }

  /** Something that must be known, --quiet or not. */
  warn(text: string): void {
    this.#host.stderr.write(`${this.options.color ? `\u001b[33m${plain(text)}\u001b[39m` : plain(text)}\n`)
  }

  /** How help is to look on standard output. */
  helpStyle(): { readonly bold: (text: string) => string; readonly columns: number | undefined } {
    return { bold: (text) => this.bold(text), columns: this.#host.stdout.columns }
  }

  bold(text: string): string {
    return this.options.color && this.#host.stdout.isTerminal ? `\u001b[1m${text}\u001b[22m` : text
  }
}

/** Whether colours are wanted: https://no-color.org, and no terminal wants none. */
export const wantsColor = (host: Host, noColor: boolean): boolean =>
  !noColor && (host.env["NO_COLOR"] ?? "") === "" && host.env["TERM"] !== "dumb" && host.stderr.isTerminal
