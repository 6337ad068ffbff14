import { basename } from "node:path"
import { isRunning, lookUpProcess } from "../shared/ProcessTable.ts"

const pollMillis = 500

/**
 * Resolves when the package runner that started this process has ended. `npx pnpm start` is a chain of processes, some of
 * which end at a signal without forwarding it. Never resolves for a process that was started in another way.
 */
export const launcherEnded = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const launchers = findLaunchers()
    if (launchers.length === 0) return
    const timer = setInterval(() => {
      if (launchers.every(isRunning)) return
      clearInterval(timer)
      resolve()
    }, pollMillis)
    timer.unref()
    signal.addEventListener("abort", () => clearInterval(timer))
  })

/** Returns the package runners above this process, and the shells through which they start programs. */
const findLaunchers = (): ReadonlyArray<number> => {
  const found: Array<{ readonly pid: number; readonly runner: boolean }> = []
  let pid = process.ppid
  for (let entry = lookUpProcess(pid); entry !== undefined; entry = lookUpProcess(pid)) {
    const runner = isRunner(entry.command)
    if (!runner && !isShellCommand(entry.command)) break
    found.push({ pid, runner })
    pid = entry.parent
  }
  // A shell above the topmost runner is the user's.
  return found.slice(0, found.findLastIndex(({ runner }) => runner) + 1).map(({ pid }) => pid)
}

const runnerName = /^(?:npm|npx|pnpm|pnpx|corepack)(?:-cli)?(?:\.[cm]?js)?$/

/** npm sets its process title (`npm exec pnpm start`). Other runners appear in the command line. */
const isRunner = (command: ReadonlyArray<string>): boolean => {
  const words = command.flatMap((part) => part.split(" ")).filter((word) => word !== "")
  const [program = "", script = ""] = words.map((word) => basename(word))
  return runnerName.test(program) || (program.startsWith("node") && runnerName.test(script))
}

const isShellCommand = (command: ReadonlyArray<string>): boolean =>
  /^(?:da|ba|z)?sh$/.test(basename(command[0] ?? "")) && command[1] === "-c"
