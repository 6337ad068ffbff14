import type { CommandContext, CommandSpec, ExitCode, InputOf, ParsedInput } from "@agentos/command-line"
import { Failure } from "@agentos/command-line"
import type { Effect } from "effect"

/** Joins a description and its handler. Handlers load effect and the server with a dynamic import. */
export const defineCommand = <const Spec extends CommandSpec>(
  spec: Spec,
  run: (context: CommandContext, input: InputOf<Spec>) => Promise<ExitCode | void>
): Spec & {
  readonly run: (this: void, context: CommandContext, input: InputOf<Spec> & ParsedInput) => Promise<ExitCode | void>
} => ({ ...spec, run })

/**
 * Runs an effect until it ends or the command is interrupted. Its log goes to standard error; its failure becomes one of
 * the command.
 */
export const runEffect = async <A>({ host }: CommandContext, effect: Effect.Effect<A, unknown>): Promise<A> => {
  const { Cause, Effect, Exit } = await import("effect")
  const { explain, log } = await import("../ProgramOutput.ts")
  const exit = await Effect.runPromiseExit(Effect.provide(effect, log), { signal: host.signal })
  if (Exit.isSuccess(exit)) return exit.value
  if (Cause.hasInterruptsOnly(exit.cause)) throw new Failure({ code: "INTERRUPTED", message: "Interrupted." })
  throw new Failure({ code: "FAILED", message: explain(Cause.squash(exit.cause)) })
}
