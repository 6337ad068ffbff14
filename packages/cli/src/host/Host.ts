import type { PaymentStep } from "../payment/PaymentSteps.ts"

/** Where text goes. */
export interface Sink {
  readonly write: (text: string) => void
  readonly isTerminal: boolean
  /** Width of the terminal in columns; undefined where it is none. */
  readonly columns: number | undefined
  /** Resolves once little of what was written waits for its reader. */
  readonly drained: () => Promise<void>
}

/** The machine as a command sees it: everything it reads and writes, but files and the network. */
export interface Host {
  /** The arguments after the program's name. */
  readonly argv: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string | undefined>>
  readonly workingDirectory: string
  readonly homeDirectory: string
  readonly stdout: Sink
  readonly stderr: Sink
  readonly stdinIsTerminal: boolean
  /** All of standard input, up to a limit of 4 MiB. Ends early, with a rejection, when the command is interrupted. */
  readonly readStdin: () => Promise<string>
  /** Asks on the terminal, through standard error; what is typed is not shown where `hidden`. */
  readonly ask: (question: string, options: { readonly hidden: boolean }) => Promise<string>
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Ends early, with a rejection, when the command is interrupted. */
  readonly sleep: (millis: number) => Promise<void>
  /** Aborted when the user interrupts the command. */
  readonly signal: AbortSignal
  /** Told of each step of a payment before the next one is taken. A host that has nothing to do with it leaves this out. */
  readonly atStep?: (step: PaymentStep) => Promise<void>
}
