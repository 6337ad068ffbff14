import type { Host } from "../host/Host.ts"
import type { Output } from "../output/Output.ts"
import type { CommandSpec, InputOf, ParsedInput } from "./CommandSpec.ts"
import type { GlobalValues } from "./Flags.ts"

/** The environment in which a handler runs. */
export interface Context {
  readonly host: Host
  readonly output: Output
  readonly globals: GlobalValues
}

/** A command with its handler, which returns when the command is done and throws a Failure otherwise. */
export interface Command extends CommandSpec {
  // A method, because its parameters are bivariant: handlers narrow the input.
  run(this: void, context: Context, input: ParsedInput, commands: CommandTree): Promise<void>
}

/**
 * Joins a description and its handler. The command table is loaded for every help text, so a handler loads the network,
 * files and wallets with a dynamic import.
 */
export const defineCommand = <const Spec extends CommandSpec>(
  spec: Spec,
  run: (context: Context, input: InputOf<Spec>, commands: CommandTree) => Promise<void>
): Spec & { readonly run: typeof run } => ({ ...spec, run })

/** The commands by their words. */
export class CommandTree {
  /** In the order of the table, which is the order of help. */
  readonly commands: ReadonlyArray<Command>
  /** The title of each group. */
  readonly groups: Readonly<Record<string, string>>
  readonly #byName: ReadonlyMap<string, Command>

  constructor(commands: ReadonlyArray<Command>, groups: Readonly<Record<string, string>>) {
    this.commands = commands
    this.groups = groups
    this.#byName = new Map(commands.map((command) => [command.name, command]))
  }

  find(name: string): Command | undefined {
    return this.#byName.get(name)
  }

  /** The command of these words, or the commands of this group. */
  below(words: ReadonlyArray<string>): ReadonlyArray<Command> {
    const name = words.join(" ")
    return name === ""
      ? this.commands
      : this.commands.filter((command) => command.name === name || command.name.startsWith(`${name} `))
  }

  /** The words that can follow these words. */
  wordsAfter(words: ReadonlyArray<string>): ReadonlyArray<string> {
    return [...new Set(this.below(words).flatMap(({ name }) => name.split(" ")[words.length] ?? []))]
  }
}
