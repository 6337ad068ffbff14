// The thread of the watchdog. It shares nothing with the thread that it watches, not even its writer of the log.
import { readFileSync, writeSync } from "node:fs"
import { type Debugger, Session } from "node:inspector"
import { workerData } from "node:worker_threads"
import type { WatchdogData } from "./Watchdog.ts"

const { beats, limits, worker } = workerData as WatchdogData

const STACK_WITHIN = 2_000
/** On Linux, for every architecture that Node supports. */
const TICKS_PER_SECOND = 100

/** Returns the processor time of the main thread in seconds, 0 where it is not known. */
const processorTime = (): number => {
  try {
    const stat = readFileSync(`/proc/self/task/${process.pid}/stat`, "utf8")
    // The name of the program, in parentheses, may contain spaces.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
  } catch {
    return 0
  }
}

const frameText = ({ functionName, location, url }: Debugger.CallFrame): string =>
  `    at ${functionName === "" ? "(anonymous)" : functionName} (${url}:${location.lineNumber + 1})`

/** Returns the stack of the main thread; undefined if it does not reach a statement of JavaScript in time. */
const mainStack = (): Promise<string | undefined> =>
  new Promise((resolve) => {
    setTimeout(resolve, STACK_WITHIN, undefined)
    const session = new Session()
    session.connectToMainThread()
    session.on("Debugger.paused", ({ params }) => resolve(params.callFrames.map(frameText).join("\n")))
    session.post("Debugger.enable")
    session.post("Debugger.pause")
  })

const endProcess = async (checks: number, processorSeconds: number): Promise<void> => {
  const stack = (await mainStack()) ?? "unknown: no statement of JavaScript ended"
  const seconds = (checks * limits.checkEveryMillis) / 1_000
  const message = `the event loop made no turn for ${seconds} s, of which it used the processor for ${Math.round(processorSeconds)} s. Ending the process`
  const line = {
    ...(worker !== undefined && { worker }),
    message,
    level: "ERROR",
    // oxlint-disable-next-line agentos/no-ambient-clock -- no fiber runs in this thread
    timestamp: new Date().toISOString(),
    annotations: { stack },
    spans: {},
    fiberId: "#0"
  }
  try {
    writeSync(2, `${JSON.stringify(line)}\n`)
  } finally {
    // `process.exit` would end this thread alone.
    process.kill(process.pid, "SIGKILL")
  }
}

let seen = Atomics.load(beats, 0)
let usedBefore = processorTime()
let checks = 0

const timer = setInterval(() => {
  const now = Atomics.load(beats, 0)
  if (now !== seen) {
    seen = now
    checks = 0
    usedBefore = processorTime()
    return
  }
  checks++
  const used = processorTime() - usedBefore
  if (checks < limits.checks && used < limits.processorSeconds) return
  clearInterval(timer)
  void endProcess(checks, used)
}, limits.checkEveryMillis)
