/** An output stream. */
export interface Sink {
  readonly write: (data: string | Uint8Array) => void
  readonly isTerminal: boolean
  /** Width of the terminal; undefined if it is not known, or if the stream is not a terminal. */
  readonly columns: number | undefined
  /** Resolves when the reader has caught up. */
  readonly drained: () => Promise<void>
}

/** The machine as commands see it, except for files and the network. */
export interface Host {
  /** The arguments after the name of the program. */
  readonly argv: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string | undefined>>
  readonly workingDirectory: string
  readonly homeDirectory: string
  readonly stdout: Sink
  readonly stderr: Sink
  readonly stdinIsTerminal: boolean
  /** Reads all of standard input, at most 4 MiB. Rejects if the command is interrupted. */
  readonly readStdin: () => Promise<string>
  /** Asks on the terminal through standard error. `hidden` turns off the echo. */
  readonly ask: (question: string, options: { readonly hidden: boolean }) => Promise<string>
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Rejects if the command is interrupted. */
  readonly sleep: (millis: number) => Promise<void>
  /** Aborted when the user interrupts the command. */
  readonly signal: AbortSignal
}
