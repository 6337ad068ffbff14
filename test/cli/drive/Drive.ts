import type { AnyCommand, CommandName } from "@agentos/cli/testing"
import type { Scene } from "./Scene.ts"
import type { Stage } from "./Stage.ts"

/** How a command is seen to succeed, fail and be interrupted, by a person in a terminal or a program with pipes. */
export interface Drive {
  readonly success: Scene
  readonly failure: Scene
  /** In the terminal. Or why nothing can be interrupted. */
  readonly interrupt: Scene | "it never waits"
  /** What a program adds to what a person types: consent, where a person is asked. */
  readonly forPrograms?: string
  /** What is typed instead, where a program does not do what a person does. */
  readonly asProgram?: { readonly success?: Scene | "the rig's own"; readonly failure?: Scene }
  /** Whatever else a person may meet. */
  readonly person?: ReadonlyArray<Scene>
  /** Whatever else a program may meet. */
  readonly program?: ReadonlyArray<Scene>
}

/** A command that pays, which is interrupted once more: when the server has the payment, and has not answered. */
export interface PaidDrive extends Drive {
  readonly sent: Scene
}

/** Its help says so by its exit code 8: the outcome of a payment can be open. */
type PayingName = { [Name in CommandName]: 8 extends ExitsOf<Name> ? Name : never }[CommandName]
type ExitsOf<Name extends CommandName> = Extract<AnyCommand, { readonly name: Name }>["exits"][number]

/** Some of the commands, in the order in which they are driven. All of them together are every command. */
export type Drives<Name extends CommandName> = {
  readonly [Each in Name]: (stage: Stage) => Awaitable<Each extends PayingName ? PaidDrive : Drive>
}
type Awaitable<A> = A | Promise<A>

/** What the sandbox sells, in base units. */
export const PRICES = {
  mailbox: 250_000n,
  change: 10_000n,
  message: 20_000n,
  number: 5_000_000n,
  minutes: 3_000_000n,
  call: 300_000n
}

const ASKED = "[y/N]"

/** A scene in which whoever is asked agrees, or presses something else. */
export const answering = (keys: ReadonlyArray<string>, exit: number, args: string, price?: bigint): Scene => ({
  args,
  exit,
  answers: [[ASKED, ...keys]],
  ...(price === undefined ? {} : { price })
})

/**
 * A command that pays: agreed to, refused by the server, interrupted at the question, and interrupted once the server
 * has the payment. Each buys what it is given; what is asked about is not bought.
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

/** Where nobody listens. */
export const NOBODY = "http://127.0.0.1:2"

/** A token that the server has never given. */
export const WRONG_TOKEN = { AGENTOS_TOKEN: "at_v1_0" }

/** A command that asks the server one thing: with another token, or of no server, it is refused. */
export const asking = (args: string, failure: Partial<Scene> = {}): Drive => ({
  success: { args, exit: 0 },
  failure: { args, exit: 4, env: WRONG_TOKEN, ...failure },
  interrupt: { args, exit: 130, interrupt: "server" }
})

/** The same, of a command that needs no token. */
export const openTo = (args: string): Drive => asking(args, { args: `${args} --base-url ${NOBODY}`, exit: 1, env: {} })

/** Ctrl-C while it reads standard input, which does not end. */
export const reading = (args: string): Scene => ({
  args,
  exit: 130,
  stdin: "endless",
  interrupt: { said: "It is being read." }
})

/** A command that looks at this machine alone. */
export const offline = (args: string, failure: Partial<Scene>): Drive => ({
  success: { args, exit: 0 },
  failure: { args, exit: 3, ...failure },
  interrupt: "it never waits"
})
