import { runOnNode as runProgramOnNode } from "@agentos/node/command-line"
import type { Host } from "./host/Host.ts"
import { run } from "./Program.ts"
import { RUNS_FROM_SOURCES } from "./Version.ts"

/** npx runs programs from its cache, or from the packages of a project: neither is in the PATH of the user. */
const OUTSIDE_PATH = /[\\/](?:_npx|node_modules[\\/]\.bin)[\\/]/

const startedAs = (): string => {
  if (RUNS_FROM_SOURCES) return "npx -y pnpm@12 agentctl"
  return OUTSIDE_PATH.test(process.argv[1] ?? "") ? "npx @agentos/cli" : "agentctl"
}

/** Runs agentctl on the command line of this process and sets the exit code. */
export const runOnNode = (more: Pick<Host, "atStep"> = {}): Promise<void> =>
  runProgramOnNode((host) => run({ ...more, ...host, startedAs: startedAs() }))
