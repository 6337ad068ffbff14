import { type CommandDraft, type CommandTree, type InputOf, type SpecOf, specOf } from "@agentos/node/command-line"
import type { Context } from "../context/Context.ts"

/**
 * Joins a description and its handler. The command table is loaded for every help text, so a handler loads the network,
 * files and wallets with a dynamic import.
 */
export const defineCommand = <const Draft extends CommandDraft>(
  draft: Draft,
  run: (context: Context, input: InputOf<Draft>, commands: CommandTree) => Promise<void>
): SpecOf<Draft> & { readonly run: typeof run } => ({ ...specOf(draft), run })
