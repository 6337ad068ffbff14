import type { ExitCode } from "../failure/ExitCode.ts"

/** Ids that a shell can complete by asking the server, or names that it finds on this machine. */
export type Completion =
  | "mailbox"
  | "message"
  | "number"
  | "event"
  | "service"
  | "payment"
  | "profile"
  | "command"
  | "file"

/** A flag, without its dashes. `list` may be given several times. */
export interface FlagSpec {
  readonly name: string
  readonly short?: string
  readonly type: "boolean" | "text" | "integer" | "list"
  /** What stands for the value in help: `FILE`, `N`. */
  readonly value?: string
  readonly summary: string
  readonly choices?: ReadonlyArray<string>
  readonly default?: string | number
  /** Bounds of an integer, both allowed. */
  readonly minimum?: number
  readonly maximum?: number
  /** The environment variable that says the same. */
  readonly env?: string
  readonly completes?: Completion
}

/** A positional argument. Only the last may be left out or take all that is left. */
export interface ArgumentSpec {
  readonly name: string
  readonly summary: string
  readonly presence: "required" | "optional" | "several"
  readonly choices?: ReadonlyArray<string>
  readonly completes?: Completion
}

/** A command as plain data: parsing, help, completions, schema and reference are made from it. */
export interface CommandSpec {
  /** Its words: `mail read`. */
  readonly name: string
  /** One line, beginning with a verb. */
  readonly summary: string
  /** What else is to be known, in short paragraphs. */
  readonly description: string
  readonly arguments: ReadonlyArray<ArgumentSpec>
  readonly flags: ReadonlyArray<FlagSpec>
  readonly examples: ReadonlyArray<{ readonly line: string; readonly does: string }>
  /** What comes on standard output: rows, one thing, a text that --json does not change, or nothing. */
  readonly output: "rows" | "record" | "text" | "nothing"
  /** The field of the API's data, or the shape, that --json prints. */
  readonly json: string
  /** Exit codes besides 0, 1, 3 and 130, which every command has. */
  readonly exits: ReadonlyArray<ExitCode>
}

/** Keeps the names and types of a command for its handler. */
export const defineCommand = <const Spec extends CommandSpec>(spec: Spec): Spec => spec

type FlagValue<Flag extends FlagSpec> = Flag["type"] extends "boolean"
  ? boolean
  : Flag["type"] extends "list"
    ? ReadonlyArray<string>
    :
        | (Flag["type"] extends "integer"
            ? number
            : Flag extends { choices: ReadonlyArray<infer Choice> }
              ? Choice
              : string)
        | (Flag extends { default: string | number } ? never : undefined)

type ArgumentValue<Argument extends ArgumentSpec> = Argument["presence"] extends "several"
  ? ReadonlyArray<string>
  :
      | (Argument extends { choices: ReadonlyArray<infer Choice> } ? Choice : string)
      | (Argument["presence"] extends "optional" ? undefined : never)

/** What a handler is given of the command line. */
export interface InputOf<Spec extends CommandSpec> {
  readonly flags: { readonly [Flag in Spec["flags"][number] as Flag["name"]]: FlagValue<Flag> }
  readonly arguments: {
    readonly [Argument in Spec["arguments"][number] as Argument["name"]]: ArgumentValue<Argument>
  }
}

/** The same, of any command. */
export interface ParsedInput {
  readonly flags: Readonly<Record<string, string | number | boolean | ReadonlyArray<string> | undefined>>
  readonly arguments: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
}
