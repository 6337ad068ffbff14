import { basename } from "node:path"
import { isRunning, lookUpProcess } from "./ProcessTable.ts"

const pollMillis = 500

/**
 * Resolves when the package runner that started this process is gone. `npx pnpm start` is a chain of processes, of
 * which some end at a signal without handing it on, and would leave this one behind. Never resolves for a process
 * that was started in any other way.
 */
export const launcherGone = (signal: AbortSignal): Promise<void> =>
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

/** From this process's parent upwards: package runners, and the shells that they start things with. */
const findLaunchers = (): ReadonlyArray<number> => {
  const found: Array<{ readonly pid: number; readonly runner: boolean }> = []
  let pid = process.ppid
  for (let entry = lookUpProcess(pid); entry !== undefined; entry = lookUpProcess(pid)) {
    const runner = isRunner(entry.command)
    if (!runner && !isShellCommand(entry.command)) break
    found.push({ pid, runner })
    pid = entry.parent
  }
  // A shell above the last of them is somebody's own.
  return found.slice(0, found.findLastIndex(({ runner }) => runner) + 1).map(({ pid }) => pid)
}

const runnerName = /^(?:npm|npx|pnpm|pnpx|corepack)(?:-cli)?(?:\.[cm]?js)?$/

/** npm names its process after what it does (`npm exec pnpm start`); others stand in their command line as they are. */
const isRunner = (command: ReadonlyArray<string>): boolean => {
  const words = command.flatMap((part) => part.split(" ")).filter((word) => word !== "")
  const [program = "", script = ""] = words.map((word) => basename(word))
  return runnerName.test(program) || (program.startsWith("node") && runnerName.test(script))
}

const isShellCommand = (command: ReadonlyArray<string>): boolean =>
  /^(?:da|ba|z)?sh$/.test(basename(command[0] ?? "")) && command[1] === "-c"
