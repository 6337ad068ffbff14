import { runOnNode as runProgramOnNode } from "@agentos/command-line"
import { run } from "../Program.ts"
import type { Host } from "./Host.ts"

/** Runs agentctl on the command line of this process and sets the exit code. */
export const runOnNode = (more: Pick<Host, "atStep"> = {}): Promise<void> =>
  runProgramOnNode((host) => run({ ...more, ...host }))
