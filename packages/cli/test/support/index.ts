/** The published program and its command table, for tests of other packages. */
export type { AnyCommand, CommandName } from "../../src/command/Commands.ts"
export { COMMANDS } from "../../src/command/Commands.ts"
export { exitsOf } from "@agentos/node/command-line"
export type { Host } from "../../src/host/Host.ts"
export { run as runProgram } from "../../src/Program.ts"
export { BUILT_VARIABLE, builtProgram, compileCache } from "./BuiltProgram.ts"
export { runHere } from "./RunHere.ts"
