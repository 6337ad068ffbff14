import type { Host } from "../host/Host.ts"
import type { Output } from "../output/Output.ts"
import type { CommandSpec, InputOf } from "./Command.ts"
import type { GlobalValues } from "./GlobalFlags.ts"

/** What a handler works with. */
export interface Context {
  readonly host: Host
  readonly output: Output
  readonly globals: GlobalValues
}

/**
 * The module of a command's handler. It returns once the command is done and
 * throws a Failure where it could not be.
 */
export interface HandlerModule<Spec extends CommandSpec> {
  // A method, so that one signature calls any of them.
  run(context: Context, input: InputOf<Spec>): Promise<void>
}
