import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, expect, it } from "vitest"
import { ChildFailed, openLog } from "../../src/supervisor/ChildProcess.ts"
import { isRunning } from "../../src/shared/ProcessTable.ts"
import { superviseChild } from "../../src/supervisor/SupervisedChild.ts"

const directory = mkdtempSync(join(tmpdir(), "agentos-child-"))
afterAll(() => rmSync(directory, { recursive: true }))

const module = fileURLToPath(new URL("childMain.ts", import.meta.url))
let count = 0

const supervise = (mode: string, watchesStdin = true) => {
  const name = `child-${++count}`
  const exits: Array<string> = []
  const failures: Array<unknown> = []
  const readyPids: Array<number> = []
  let wake = () => {}
  const starts = join(directory, `${name}.starts`)
  const child = superviseChild(
    {
      name,
      module,
      environment: { ...process.env, CHILD_MODE: mode, CHILD_STARTS: starts, CHILD_STDIN: String(watchesStdin) },
      watchesStdin
    },
    openLog(join(directory, `${name}.log`)),
    {
      onExit: (description) => void exits.push(description),
      onRestartFailed: (error) => void failures.push(error),
      onReady: (pid) => {
        readyPids.push(pid)
        wake()
      }
    }
  )
  const nextReady = () => new Promise<void>((resolve) => (wake = resolve))
  const startTimes = () => readFileSync(starts, "utf8").trim().split("\n").map(Number)
  return { child, exits, failures, readyPids, nextReady, startTimes }
}

it.concurrent("restarts a program that ends, at most once a second", async () => {
  const { child, exits, nextReady, readyPids, startTimes } = supervise("serve")
  const first = await child.start()
  for (const pid of [first, undefined]) {
    const ready = nextReady()
    process.kill(pid ?? readyPids.at(-1)!, "SIGKILL")
    await ready
  }
  expect(exits).toEqual(["was ended by SIGKILL", "was ended by SIGKILL"])
  const times = startTimes()
  expect(times).toHaveLength(3)
  // The duration of a process start varies.
  for (const [index, time] of times.entries()) if (index > 0) expect(time - times[index - 1]!).toBeGreaterThan(800)
  await child.stop(5_000)
  expect([first, ...readyPids].some(isRunning)).toBe(false)
})

it.concurrent("reports a failed restart once, and retries", async () => {
  const { child, nextReady, readyPids, startTimes, failures } = supervise("recover")
  const first = await child.start()
  const ready = nextReady()
  process.kill(first, "SIGKILL")
  await ready
  expect(failures).toEqual([expect.any(ChildFailed)])
  expect(startTimes()).toHaveLength(4)
  expect(readyPids).toHaveLength(1)
  await child.stop(5_000)
})

it.concurrent.each([true, false])("stops a program without a restart (stdin: %s)", async (watchesStdin) => {
  const { child, exits, startTimes } = supervise("serve", watchesStdin)
  const pid = await child.start()
  await child.stop(5_000)
  expect(isRunning(pid)).toBe(false)
  expect(exits).toEqual([])
  expect(startTimes()).toHaveLength(1)
})

it.concurrent("kills a program that does not stop", async () => {
  const { child } = supervise("stubborn")
  const pid = await child.start()
  await child.stop(100)
  expect(isRunning(pid)).toBe(false)
})

it.concurrent("reports a program that was never ready, with its last output", async () => {
  const failure = await supervise("fail")
    .child.start()
    .catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(ChildFailed)
  const { log, message } = failure as ChildFailed
  expect(message).toMatch(/^The child-\d+ ended with exit code 7$/)
  expect(log.tail()).toContain("planned failure")
})

it.concurrent("can be stopped before it is ready", async () => {
  const { child } = supervise("silent")
  const started = child.start().catch((error: unknown) => error)
  await child.stop(5_000)
  expect(await started).toBeInstanceOf(ChildFailed)
})

it.concurrent("cannot be started after a stop", async () => {
  const { child, startTimes } = supervise("serve")
  await child.stop(5_000)
  await expect(child.start()).rejects.toThrow("stopped")
  expect(startTimes).toThrow("ENOENT")
})
