import {
  type CommandContext,
  type CommandDraft,
  EXIT,
  type ExitCode,
  Failure,
  type FlagSpec,
  type InputOf,
  messageOf,
  type ParsedInput,
  type SpecOf,
  specOf
} from "@agentos/node/command-line"
import type { Effect, Schema } from "effect"
import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import type { ServerConfig } from "../config/ServerConfig.ts"
import type { Administration, CommandMutation } from "../program/Maintenance.ts"
import type { Environment } from "../variable/Variables.ts"
import { parseEnvironment } from "./EnvironmentFile.ts"

type StorageConfig = Pick<ServerConfig, "database">

/** The flag of every command. */
export const ENV_FILE_FLAG = {
  name: "env-file",
  type: "text",
  value: "FILE",
  summary: "Read variables from this file, for example of agentos-server init. Variables that are set take precedence.",
  completes: "file"
} as const satisfies FlagSpec

/** What commands need that use the database alone, for their descriptions. */
export const NEEDS = "Works on the database, beside servers on PostgreSQL; an embedded database has one user at a time."

/** The flag of every command that changes something. */
export const REASON_FLAG = {
  name: "reason",
  type: "text",
  value: "TEXT",
  summary: "Reason, for the audit: up to 500 characters."
} as const satisfies FlagSpec

export const reasonOf = async (given: string | undefined): Promise<string | null> => {
  if (given === undefined) return null
  const [{ Schema }, { AUDIT_REASON_LIMIT, AuditReason }] = await Promise.all([
    import("effect"),
    import("@agentos/core")
  ])
  if (Schema.is(AuditReason)(given)) return given
  throw new Failure({ code: "USAGE", message: `--reason must be text of at most ${AUDIT_REASON_LIMIT} characters.` })
}

/** The flags of a list. */
export const PAGE_FLAGS = [
  {
    name: "limit",
    type: "integer",
    value: "N",
    summary: "Maximum number of items.",
    default: 20,
    minimum: 1,
    maximum: 100
  },
  { name: "cursor", type: "text", value: "CURSOR", summary: "Continue after this item." }
] as const satisfies ReadonlyArray<FlagSpec>

/** Reads flags as the input that the route for operators takes. */
export const readFlags = async <A>(codec: Schema.Codec<A, unknown>, flags: object): Promise<A> => {
  const { Schema } = await import("effect")
  const given = Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined))
  return Schema.decodeUnknownPromise(codec)(given).catch((error: unknown) => {
    throw new Failure({ code: "USAGE", message: `The flags are invalid: ${messageOf(error)}` })
  })
}

export interface ServerCommandContext extends CommandContext {
  /** The names of the variables that came from a file. */
  readonly fileVariables: ReadonlyArray<string>
}

/** Returns the variables of the file of `--env-file`; none without it. */
const variablesOfFile = ({ globals, host }: CommandContext): ReadonlyMap<string, string> => {
  const file = globals[ENV_FILE_FLAG.name]
  if (typeof file !== "string") return new Map()
  const text = readVariables(resolve(host.workingDirectory, file))
  const { unreadable, variables } = parseEnvironment(text)
  if (unreadable.length > 0) {
    const lines = unreadable.slice(0, LINES_SHOWN).join(", ")
    throw new Failure({ code: "CONFIGURATION", message: `--env-file has lines that are not NAME=VALUE: ${lines}` })
  }
  return variables
}

/** Adds the variables of a file to the environment of this process, and returns the names of those that it added. */
const loadEnvironment = (context: CommandContext): ReadonlyArray<string> => {
  const added = [...variablesOfFile(context)].filter(([name]) => process.env[name] === undefined)
  for (const [name, value] of added) process.env[name] = value
  return added.map(([name]) => name)
}

/** Returns the environment as it would be if the process started now: with the variables of the file as they are. */
export const environmentNow = (context: ServerCommandContext): Environment => {
  const own = Object.entries(process.env).filter(([name]) => !context.fileVariables.includes(name))
  return { ...Object.fromEntries(variablesOfFile(context)), ...Object.fromEntries(own) }
}

const LINES_SHOWN = 5

const readVariables = (path: string): string => {
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    throw new Failure({ code: "CONFIGURATION", message: `--env-file cannot be read: ${messageOf(error)}` })
  }
}

/** Joins a description and its handler. Handlers load effect and the server with a dynamic import. */
export const defineCommand = <const Draft extends CommandDraft>(
  draft: Draft,
  run: (context: ServerCommandContext, input: InputOf<Draft>) => Promise<ExitCode | void>
): SpecOf<Draft> & {
  readonly run: (this: void, context: CommandContext, input: InputOf<Draft> & ParsedInput) => Promise<ExitCode | void>
} => ({
  ...specOf(draft),
  run: (context, input) => run({ ...context, fileVariables: loadEnvironment(context) }, input)
})

/** Asks on the terminal before something that cannot be undone, unless `yes` is given. Throws unless confirmed. */
export const confirm = async (
  { host }: CommandContext,
  yes: boolean,
  question: string,
  cancelled: string
): Promise<void> => {
  if (yes) return
  if (!host.stdinIsTerminal) throw new Failure({ code: "USAGE", message: "Add --yes to go on without confirmation." })
  if (!/^y(es)?$/i.test(await host.ask(question, { hidden: false }))) {
    throw new Failure({ code: "CANCELLED", message: cancelled })
  }
}

/**
 * Runs an effect until it ends or the command is interrupted. Its log goes to standard error. Its error becomes the failure
 * that `describe` returns, or one with its message.
 */
export const runEffect = async <A>(
  { host }: CommandContext,
  effect: Effect.Effect<A, unknown>,
  describe: (error: unknown) => Failure | undefined = () => undefined
): Promise<A> => {
  const { Cause, Effect, Exit } = await import("effect")
  const { explain, log, logWritten } = await import("../output/ProgramOutput.ts")
  const { SettingName } = await import("@agentos/core")
  const { variableOf } = await import("../variable/Variables.ts")
  const named = Effect.provideService(effect, SettingName, variableOf)
  const exit = await Effect.runPromiseExit(Effect.provide(named, log), { signal: host.signal })
  await logWritten()
  if (Exit.isSuccess(exit)) return exit.value
  if (Cause.hasInterruptsOnly(exit.cause)) throw new Failure({ code: "INTERRUPTED", message: "Interrupted." })
  const error = Cause.squash(exit.cause)
  throw describe(error) ?? new Failure({ code: "FAILED", message: explain(error) })
}

/**
 * Runs an effect on the configured storage. The lines that a server would log about it are left out, because the output of the
 * command reports its result.
 */
export const runOnStorage = async <A>(
  context: ServerCommandContext,
  use: (config: StorageConfig) => Effect.Effect<A, unknown>,
  describe?: (error: unknown) => Failure | undefined
): Promise<A> => {
  const { Effect, References } = await import("effect")
  const { readStorage } = await import("../config/ServerConfig.ts")
  const used = Effect.flatMap(readStorage(context.host.env), use)
  return runEffect(context, Effect.provideService(used, References.MinimumLogLevel, "Error"), describe)
}

/** Runs an effect on the configured database. With a mutation, it leaves a record in the audit. */
export const onDatabase = async <A>(
  context: ServerCommandContext,
  effect: (services: typeof import("@agentos/core")) => Effect.Effect<A, unknown, Administration>,
  mutation?: CommandMutation
): Promise<A> => {
  const core = await import("@agentos/core")
  const { administer } = await import("../program/Maintenance.ts")
  return runOnStorage(context, (config) => administer(config, effect(core), mutation), describeWith(core))
}

const describeWith =
  ({ Conflict, ResourceNotFound }: typeof import("@agentos/core")) =>
  (error: unknown): Failure | undefined => {
    if (error instanceof Conflict) {
      return new Failure({ code: "CONFLICT", exit: EXIT.conflict, message: error.message })
    }
    if (!(error instanceof ResourceNotFound)) return undefined
    const [named, list] = RESOURCES[error.kind] ?? ["known"]
    return new Failure({
      code: "NOT_FOUND",
      message: `${error.id} is not ${named}.`,
      ...(list === undefined ? {} : { next: [`agentos-server ${list}`] })
    })
  }

/** Runs an effect on the configured storage. Its errors are those of `onDatabase`. */
export const onStorage = async <A>(
  context: ServerCommandContext,
  use: (config: StorageConfig) => Effect.Effect<A, unknown>
): Promise<A> => runOnStorage(context, use, describeWith(await import("@agentos/core")))

/** Runs a change with the whole configuration. Its errors are those of `onDatabase`. */
export const withConfiguration = async <A>(
  context: ServerCommandContext,
  change: (config: ServerConfig) => Effect.Effect<A, unknown>
): Promise<A> => {
  const [{ Effect, References }, core, { read }] = await Promise.all([
    import("effect"),
    import("@agentos/core"),
    import("../config/ServerConfig.ts")
  ])
  const changed = Effect.flatMap(read(context.host.env), change)
  return runEffect(context, Effect.provideService(changed, References.MinimumLogLevel, "Error"), describeWith(core))
}

/** How kinds of resources are named, and the commands that list them. */
const RESOURCES: Readonly<Record<string, readonly [named: string, list?: string]>> = {
  operation: ["the id of an operation", "operations list"],
  operator: ["the name of an operator", "operators list"],
  tenant: ["the wallet or the id of a tenant", "tenants list"],
  "waiting mail": ["the id of a mail that waits", "mail inbound list"],
  "waiting message": ["the id of a message that waits", "mail outbound list"],
  "event webhook": ["the id of an event webhook", "webhooks deliveries"]
}

/** Formats a time in ISO 8601 for people, without milliseconds. */
export const shownTime = (iso: string): string => iso.replace("T", " ").replace(/\.\d+Z$/, "Z")
