import type { ExitCode } from "./Failure.ts"

/** Values that the shell completes with ids from the server or with names from this machine. */
export type Completion =
  | "mailbox"
  | "message"
  | "number"
  | "call"
  | "event"
  | "service"
  | "payment"
  | "profile"
  | "command"
  | "file"

/** A flag. Names have no dashes. A `list` flag can be repeated. */
export interface FlagSpec {
  readonly name: string
  readonly short?: string
  readonly type: "boolean" | "text" | "integer" | "list"
  /** The placeholder of the value in help: `FILE`, `N`. */
  readonly value?: string
  readonly summary: string
  readonly choices?: ReadonlyArray<string>
  readonly default?: string | number
  /** Inclusive bounds of an integer. */
  readonly minimum?: number
  readonly maximum?: number
  /** The environment variable with the same meaning. */
  readonly env?: string
  readonly completes?: Completion
}

/** A positional argument. Only the last one can be optional or repeated. */
export interface ArgumentSpec {
  readonly name: string
  readonly summary: string
  readonly presence: "required" | "optional" | "several"
  readonly choices?: ReadonlyArray<string>
  readonly completes?: Completion
}

/** The description of a command, from which parser, help, completion, `schema` and the reference are derived. */
export interface CommandSpec {
  /** The words of the command: `mail read`. */
  readonly name: string
  /** One line in the imperative, without a period. */
  readonly summary: string
  /** Short paragraphs, one a line. */
  readonly description: string
  readonly arguments: ReadonlyArray<ArgumentSpec>
  readonly flags: ReadonlyArray<FlagSpec>
  readonly examples: ReadonlyArray<{ readonly line: string; readonly does: string }>
  /** The output: a table, one record, text that --json does not change, or nothing. */
  readonly output: "rows" | "record" | "text" | "nothing"
  /** The shape of the output with --json. */
  readonly json: string
  /** Exit codes beside 0, 1, 3 and 130, which every command has. */
  readonly exits: ReadonlyArray<ExitCode>
  /** The meaning of exit codes in this command, where it differs from that of every other. */
  readonly exitMeanings?: Readonly<Partial<Record<ExitCode, string>>>
}

type Lists = "arguments" | "flags" | "exits"

/** A command as it is declared. Lists without items are left out. */
export type CommandDraft = Omit<CommandSpec, Lists> & Partial<Pick<CommandSpec, Lists>>

/** The description of a declared command. */
export type SpecOf<Draft extends CommandDraft> = Draft & {
  readonly [List in Exclude<Lists, keyof Draft>]: readonly []
}

/** Returns the description of a declared command, in the order of `agentctl schema`. */
export const specOf = <Draft extends CommandDraft>(draft: Draft): SpecOf<Draft> => {
  const { arguments: positionals = [], description, exits = [], flags = [], name, summary, ...rest } = draft
  return { name, summary, description, arguments: positionals, flags, ...rest, exits } as unknown as SpecOf<Draft>
}

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

export type FlagValues<Flags extends ReadonlyArray<FlagSpec>> = {
  readonly [Flag in Flags[number] as Flag["name"]]: FlagValue<Flag>
}

/** The parsed flags and arguments of a command. */
export interface InputOf<Draft extends CommandDraft> {
  readonly flags: FlagValues<Draft extends { readonly flags: infer Flags extends CommandSpec["flags"] } ? Flags : []>
  readonly arguments: Draft extends { readonly arguments: infer Arguments extends CommandSpec["arguments"] }
    ? { readonly [Argument in Arguments[number] as Argument["name"]]: ArgumentValue<Argument> }
    : Readonly<Record<never, never>>
}

/** The parsed flags and arguments of any command. */
export interface ParsedInput {
  readonly flags: Readonly<Record<string, string | number | boolean | ReadonlyArray<string> | undefined>>
  readonly arguments: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
}
