import type { AnyCommand, CommandName } from "@agentos/cli/testing"
import type { Scene, Stage } from "./Stage.ts"

/** The scenes of a command, for a person in a terminal and a program with pipes. */
export interface Drive {
  readonly success: Scene
  readonly failure: Scene
  /** In the terminal. The text says why there is nothing to interrupt. */
  readonly interrupt: Scene | "it never waits"
  /** Flags that programs add, such as --yes where a person is asked. */
  readonly forPrograms?: string
  /** Other scenes for programs. */
  readonly asProgram?: { readonly success?: Scene | "the rig's own"; readonly failure?: Scene }
  /** More scenes for persons. */
  readonly person?: ReadonlyArray<Scene>
  /** More scenes for programs. */
  readonly program?: ReadonlyArray<Scene>
}

/** A paying command, which is also interrupted after the server received the payment. */
export interface PaidDrive extends Drive {
  readonly sent: Scene
}

/** Paying commands have the exit code 8. */
type PayingName = { [Name in CommandName]: 8 extends ExitsOf<Name> ? Name : never }[CommandName]
type ExitsOf<Name extends CommandName> = Extract<AnyCommand, { readonly name: Name }>["exits"][number]

/** The drives of some commands, in order. The compiler checks that the union covers all commands. */
export type Drives<Name extends CommandName> = {
  readonly [Each in Name]: (stage: Stage) => Awaitable<Each extends PayingName ? PaidDrive : Drive>
}
type Awaitable<A> = A | Promise<A>

/** The prices of the sandbox in base units. */
export const PRICES = {
  mailbox: 250_000n,
  change: 10_000n,
  message: 20_000n,
  number: 5_000_000n,
  minutes: 3_000_000n,
  call: 300_000n
}

const ASKED = "[y/N]"

/** A scene with keys that answer the question. */
export const answering = (keys: ReadonlyArray<string>, exit: number, args: string, price?: bigint): Scene => ({
  args,
  exit,
  answers: [[ASKED, ...keys]],
  ...(price === undefined ? {} : { price })
})

/**
 * A paying command: confirmed, rejected by the server, interrupted at the question, and interrupted after the server
 * received the payment. The first and the last one buy.
 */
export const paying = (
  buys: string,
  price: bigint,
  more: { readonly failure: Scene; readonly sent?: string }
): PaidDrive => ({
  success: answering(["y", "Enter"], 0, buys, price),
  failure: more.failure,
  interrupt: answering(["C-c"], 130, buys),
  sent: { ...answering(["y", "Enter"], 8, more.sent ?? buys, price), interrupt: "payment" },
  forPrograms: "--yes --max-amount 5"
})

/** A URL without a server. */
export const NOBODY = "http://127.0.0.1:2"

/** A token that the server did not issue. */
export const WRONG_TOKEN = { AGENTOS_TOKEN: "at_v1_0" }

/** A command with one request, which fails with an invalid token. */
export const asking = (args: string, failure: Partial<Scene> = {}): Drive => ({
  success: { args, exit: 0 },
  failure: { args, exit: 4, env: WRONG_TOKEN, ...failure },
  interrupt: { args, exit: 130, interrupt: "server" }
})

/** The same for a command that needs no token, which fails without a server. */
export const openTo = (args: string): Drive => asking(args, { args: `${args} --base-url ${NOBODY}`, exit: 1, env: {} })

/** Ctrl-C while the command reads an endless standard input. */
export const reading = (args: string): Scene => ({
  args,
  exit: 130,
  stdin: "endless",
  interrupt: { said: "Reading started." }
})

/** A command that sends no request. */
export const offline = (args: string, failure: Partial<Scene>): Drive => ({
  success: { args, exit: 0 },
  failure: { args, exit: 3, ...failure },
  interrupt: "it never waits"
})
