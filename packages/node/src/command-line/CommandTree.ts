import type { CommandSpec, FlagSpec, ParsedInput } from "./CommandSpec.ts"
import type { ExitCode } from "./Failure.ts"
import type { Host } from "./Host.ts"
import type { Output } from "./Output.ts"

/** The values of the flags that every command of a program has. */
export type Globals = Readonly<Record<string, string | number | boolean | ReadonlyArray<string> | undefined>>

/** The environment in which a handler runs. */
export interface CommandContext {
  readonly host: Host
  readonly output: Output
  readonly globals: Globals
}

/**
 * A command with its handler, which returns when the command is done and throws a Failure otherwise. It returns an exit
 * code other than 0 for a result that scripts distinguish.
 */
export interface Command extends CommandSpec {
  // A method, because its parameters are bivariant: handlers narrow the context and the input.
  run(this: void, context: CommandContext, input: ParsedInput, commands: CommandTree): Promise<ExitCode | void>
}

/** The flags that every program needs. A program adds its own between them. */
export const HELP_FLAG = {
  name: "help",
  short: "h",
  type: "boolean",
  summary: "Show help for the command."
} as const satisfies FlagSpec
export const JSON_FLAG = {
  name: "json",
  type: "boolean",
  summary: "Print one JSON document, also for errors."
} as const satisfies FlagSpec
export const OUTPUT_FLAGS = [
  { name: "quiet", short: "q", type: "boolean", summary: "Print only errors and warnings on standard error." },
  { name: "no-color", type: "boolean", summary: "Disable colors.", env: "NO_COLOR" },
  { name: "version", short: "V", type: "boolean", summary: "Show the version." }
] as const satisfies ReadonlyArray<FlagSpec>

/** A program, as its help and its errors name it. */
export interface ProgramSpec {
  readonly name: string
  readonly version: string
  /** A sentence. */
  readonly summary: string
  /** `HELP_FLAG`, `JSON_FLAG`, flags of the program's own, `OUTPUT_FLAGS`. */
  readonly globalFlags: ReadonlyArray<FlagSpec>
  /** The commands without a group that help lists first, and the titles of these and of the others. */
  readonly start: ReadonlyArray<string>
  readonly titles: { readonly start: string; readonly rest: string }
}

export class CommandTree {
  readonly program: ProgramSpec
  /** In the order of the table, which is the order of help. */
  readonly commands: ReadonlyArray<Command>
  readonly groups: Readonly<Record<string, string>>
  readonly #byName: ReadonlyMap<string, Command>

  constructor(program: ProgramSpec, commands: ReadonlyArray<Command>, groups: Readonly<Record<string, string>>) {
    this.program = program
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
