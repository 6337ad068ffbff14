import { runOnNode as runProgramOnNode } from "@agentos/node/command-line"
import type { Host } from "./host/Host.ts"
import { startedAs } from "./StartedAs.ts"
import { run } from "./Program.ts"
import { RUNS_FROM_SOURCES } from "./Version.ts"

/** Runs agentctl on the command line of this process and sets the exit code. */
export const runOnNode = (more: Pick<Host, "atStep"> = {}): Promise<void> =>
  runProgramOnNode((host) => {
    const command = RUNS_FROM_SOURCES ? "npx -y pnpm@12 agentctl" : startedAs(process.argv[1] ?? "")
    return run({ ...more, ...host, startedAs: command })
  })
