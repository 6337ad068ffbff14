import { runOnNode as runProgramOnNode, shellWord } from "@agentos/node/command-line"
import type { Host } from "./host/Host.ts"
import { run } from "./Program.ts"
import { RUNS_FROM_SOURCES } from "./Version.ts"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { isRecord, parseJson } from "./file/Json.ts"

/** Runs agentctl on the command line of this process and sets the exit code. */
export const runOnNode = (more: Pick<Host, "atStep"> = {}): Promise<void> =>
  runProgramOnNode((host) => {
    const command = RUNS_FROM_SOURCES ? "npx -y pnpm@12 agentctl" : startedAs(process.argv[1] ?? "")
    return run({ ...more, ...host, startedAs: command })
  })

/** The folder in the cache of npm from which npx runs a program. Neither it nor a project's is in the PATH of the user. */
const NPX_FOLDER = /^.*[\\/]_npx[\\/][^\\/]+(?=[\\/])/
const PROJECT_FOLDER = /[\\/]node_modules[\\/]\.bin[\\/]/

/** Returns the command that starts agentctl again as it was started, given the path of the running program. */
export const startedAs = (program: string): string => {
  const [folder] = NPX_FOLDER.exec(program) ?? []
  if (folder !== undefined) return `npx --package ${shellWord(packageIn(folder))} agentctl`
  return PROJECT_FOLDER.test(program) ? "npx agentctl" : "agentctl"
}

/** npx records the package that it was given, such as the address of a file (npm 7 and later). */
const packageIn = (folder: string): string => {
  const recorded = recordIn(folder)
  const npx = isRecord(recorded) && isRecord(recorded["_npx"]) ? recorded["_npx"]["packages"] : undefined
  const [given]: ReadonlyArray<unknown> = Array.isArray(npx) && npx.length === 1 ? npx : []
  return typeof given === "string" ? given : "@agentos/cli"
}

const recordIn = (folder: string): unknown => {
  const path = join(folder, "package.json")
  return existsSync(path) ? parseJson(readFileSync(path, "utf8")) : undefined
}
