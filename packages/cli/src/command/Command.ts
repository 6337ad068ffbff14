import type { CommandSpec, CommandTree, InputOf } from "@agentos/node/command-line"
import type { Context } from "../context/Context.ts"

/**
 * Joins a description and its handler. The command table is loaded for every help text, so a handler loads the network,
 * files and wallets with a dynamic import.
 */
export const defineCommand = <const Spec extends CommandSpec>(
  spec: Spec,
  run: (context: Context, input: InputOf<Spec>, commands: CommandTree) => Promise<void>
): Spec & { readonly run: typeof run } => ({ ...spec, run })
