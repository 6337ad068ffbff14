import type { Host as CommandLineHost } from "@agentos/node/command-line"
import type { Readable } from "node:stream"

/** A point of a payment at which a process that dies leaves a different state behind. */
export type PaymentStep =
  /** Confirmed, not signed. */
  | "agreed"
  /** Signed and in the journal as prepared; nothing is sent. */
  | "written"
  /** In the journal as sent, about to be sent. */
  | "sending"
  /** Answered; the answer is only in memory. */
  | "answered"
  /** The access token of the answer is saved; the journal still says sent. */
  | "kept"
  /** In the journal as answered; nothing is printed. */
  | "closed"

/** The machine as commands see it, except for files and the network. */
export interface Host extends CommandLineHost {
  /** The command that started this program, as a user types it. By default `agentctl`. */
  readonly startedAs?: string
  /** Opens standard input as a stream. By default that of the process. */
  readonly openStdin?: () => Readable
  /** Called at each step of a payment, before the next one. For tests. */
  readonly atStep?: (step: PaymentStep) => Promise<void>
}

/** Returns a text whose commands begin as this program was started. */
export const asStarted = ({ startedAs = "agentctl" }: Host, text: string): string =>
  text.replaceAll(/\bagentctl(?= [a-z-])/g, () => startedAs)

/** Reads a secret from an environment variable, else from a hidden prompt or, without a terminal, standard input. */
export const readSecret = async (host: Host, variable: string, question: string): Promise<string> => {
  const given = (host.env[variable] ?? "").trim()
  if (given !== "") return given
  return (host.stdinIsTerminal ? await host.ask(question, { hidden: true }) : await host.readStdin()).trim()
}

const SECRETS: ReadonlySet<string> = new Set([
  "AGENTOS_PRIVATE_KEY",
  "AGENTOS_PASSWORD",
  "AGENTOS_TOKEN",
  "AGENTOS_OPERATOR_TOKEN",
  "AGENTOS_WEBHOOK_SECRET"
])

/**
 * Returns the environment for child processes: this environment without the key, the password, the tokens and the secret.
 * A command that handles events processes the input of strangers and must not hold these.
 */
export const childEnvironment = ({ env }: Host): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !SECRETS.has(name)))
