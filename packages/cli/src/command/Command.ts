import type { CommandSpec, CommandTree, InputOf, Output } from "@agentos/command-line"
import type { Host } from "../host/Host.ts"
import type { GlobalValues } from "./Flags.ts"

/** The environment in which a handler runs. */
export interface Context {
  readonly host: Host
  readonly output: Output
  readonly globals: GlobalValues
}

/**
 * Joins a description and its handler. The command table is loaded for every help text, so a handler loads the network,
 * files and wallets with a dynamic import.
 */
export const defineCommand = <const Spec extends CommandSpec>(
  spec: Spec,
  run: (context: Context, input: InputOf<Spec>, commands: CommandTree) => Promise<void>
): Spec & { readonly run: typeof run } => ({ ...spec, run })
