import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { readFileIfAny, replaceFile } from "../chain/AtomicFile.ts"
import { explain } from "./Failure.ts"
import { launcherGone } from "./Launchers.ts"
import { inherited } from "./Programs.ts"
import { shortPath } from "./ShortPath.ts"
import { readStartOptions, startHelp, type StartOptions } from "./StartOptions.ts"
import { startSandbox, type Supervisor } from "./Supervisor.ts"
import { describeRunning, nextSteps } from "./Wording.ts"

/**
 * The command `start`: starts the sandbox, says when it is ready, takes the tour unless it was taken before, and stays
 * until it is told to end. Answers the exit code: 0 after SIGINT or SIGTERM, 1 when the start or the tour fails, 2
 * when the command line is wrong.
 */
export const startCommand = async (args: ReadonlyArray<string>): Promise<number> => {
  // Whoever read the output may be gone before the sandbox is.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined)
  const commandLine = readStartOptions(args, process.env)
  switch (commandLine._tag) {
    case "Help":
      console.log(startHelp)
      return 0
    case "Misused":
      console.error(`${commandLine.message}\n\n${startHelp}`)
      return 2
    case "Run":
      return run(commandLine.options, listenForStop())
  }
}

const run = async (options: StartOptions, stopRequest: AbortSignal): Promise<number> => {
  console.log(`Starting the sandbox in ${shortPath(options.dataDir)}.`)
  const sandbox = await startSandbox(options, (line) => console.log(line), stopRequest).catch((error: unknown) => {
    if (!stopRequest.aborted) console.error(explain(error))
  })
  if (sandbox === undefined) return stopRequest.aborted ? 0 : 1
  try {
    console.log(describeRunning(sandbox))
    console.log(`ready ${sandbox.description.baseUrl}`)
    if (options.tour && !(await takeTourOnce(sandbox, stopRequest))) return 1
    if (!stopRequest.aborted) console.log(nextSteps(sandbox))
    await aborted(stopRequest)
    return 0
  } finally {
    console.log("Stopping.")
    await sandbox.stop()
  }
}

/** Answers whether all is well: the tour succeeded, now or before, or was cut short by a request to stop. */
const takeTourOnce = async ({ data }: Supervisor, stopRequest: AbortSignal): Promise<boolean> => {
  if ((await readFileIfAny(data.tourFile)) !== undefined) return true
  const program = fileURLToPath(new URL("../tourMain.ts", import.meta.url))
  const tour = spawn(process.execPath, [program, "--data", data.root], {
    stdio: ["ignore", "inherit", "inherit"],
    env: inherited(),
    // Ctrl-C in a terminal is for the supervisor to hear, and not a failure of the tour.
    detached: true
  })
  const stop = () => void tour.kill()
  stopRequest.addEventListener("abort", stop)
  const code = await new Promise((resolve) => tour.once("exit", resolve))
  stopRequest.removeEventListener("abort", stop)
  if (stopRequest.aborted) return true
  if (code !== 0) return false
  await replaceFile(data.tourFile, `${JSON.stringify({ takenAt: new Date().toISOString() })}\n`)
  return true
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener("abort", () => resolve())
  })

/** Aborts at the first signal to end, or when whoever ran the command is gone. Later signals change nothing. */
const listenForStop = (): AbortSignal => {
  const stop = new AbortController()
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => stop.abort())
  // Of whoever started it with a channel between them, as agentctl does.
  process.on("disconnect", () => stop.abort())
  void launcherGone(stop.signal).then(() => stop.abort())
  return stop.signal
}
