import type { Manner } from "../PaidProxy.ts"

/** A line in a shell that runs agentctl, and what happens while it runs. */
export interface Scene {
  /** What is typed after `agentctl`. */
  readonly args: string
  readonly exit: number
  /** What is typed before it: variables for this run alone. */
  readonly env?: Readonly<Record<string, string>>
  /** A file that is its standard input, or `endless`, which does not end; otherwise the terminal, or nothing. */
  readonly stdin?: string
  /** What a person presses once they are asked so; keys by their names in tmux, secrets as any other text. */
  readonly answers?: ReadonlyArray<readonly [asked: string, ...keys: ReadonlyArray<string>]>
  /** When Ctrl-C is pressed: while server or chain is silent, a payment is not answered, or once this stands there. */
  readonly interrupt?: "server" | "chain" | "payment" | { readonly said: string }
  /** What becomes of requests meanwhile. */
  readonly manner?: Manner
  /** What it charges the wallet, in base units; nothing unless said. With exit 8, what it does once it is resumed. */
  readonly price?: bigint
  /** What is to be there before, and nobody looks at. */
  readonly before?: () => Promise<unknown>
}

/** The line as it is typed, with what a program adds to the command. */
export const lineOf = ({ args, env = {}, stdin }: Scene, more: string): string =>
  [
    ...(stdin === "endless" ? ["sh endless |"] : []),
    ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
    `agentctl ${args}${more}`,
    ...(stdin === undefined || stdin === "endless" ? [] : [`< ${stdin}`])
  ].join(" ")
