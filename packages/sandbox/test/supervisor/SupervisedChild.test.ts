import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, expect, it } from "vitest"
import { ChildFailed } from "../../src/supervisor/ChildProcess.ts"
import { openLog } from "../../src/supervisor/LogFile.ts"
import { isRunning } from "../../src/supervisor/ProcessTable.ts"
import { superviseChild } from "../../src/supervisor/SupervisedChild.ts"

const directory = mkdtempSync(join(tmpdir(), "agentos-child-"))
afterAll(() => rmSync(directory, { recursive: true }))

const module = fileURLToPath(new URL("childMain.ts", import.meta.url))
let count = 0

const supervise = (life: string, watchesStdin = true) => {
  const name = `child-${++count}`
  const deaths: Array<string> = []
  const stuck: Array<unknown> = []
  const served: Array<number> = []
  let wake = () => {}
  const starts = join(directory, `${name}.starts`)
  const child = superviseChild(
    {
      name,
      module,
      environment: { ...process.env, CHILD_LIFE: life, CHILD_STARTS: starts, CHILD_STDIN: String(watchesStdin) },
      watchesStdin
    },
    openLog(join(directory, `${name}.log`)),
    {
      onDied: (how) => void deaths.push(how),
      onStuck: (error) => void stuck.push(error),
      onServing: (pid) => {
        served.push(pid)
        wake()
      }
    }
  )
  const nextServing = () => new Promise<void>((resolve) => (wake = resolve))
  const startTimes = () => readFileSync(starts, "utf8").trim().split("\n").map(Number)
  return { child, deaths, stuck, served, nextServing, startTimes }
}

it("starts a program again that dies, once a second at most", async () => {
  const { child, deaths, nextServing, served, startTimes } = supervise("serve")
  const first = await child.start()
  for (const pid of [first, undefined]) {
    const serving = nextServing()
    process.kill(pid ?? served.at(-1)!, "SIGKILL")
    await serving
  }
  expect(deaths).toEqual(["was ended by SIGKILL", "was ended by SIGKILL"])
  const times = startTimes()
  expect(times).toHaveLength(3)
  // Starting the process itself takes longer at one time than at another.
  for (const [index, time] of times.entries()) if (index > 0) expect(time - times[index - 1]!).toBeGreaterThan(800)
  await child.stop(5_000)
  expect([first, ...served].some(isRunning)).toBe(false)
})

it("says once that a program does not come back, and goes on trying", async () => {
  const { child, nextServing, served, startTimes, stuck } = supervise("recover")
  const first = await child.start()
  const serving = nextServing()
  process.kill(first, "SIGKILL")
  await serving
  expect(stuck).toEqual([expect.any(ChildFailed)])
  expect(startTimes()).toHaveLength(4)
  expect(served).toHaveLength(1)
  await child.stop(5_000)
})

it.each([true, false])("ends a program that is asked to, and leaves it so (stdin: %s)", async (watchesStdin) => {
  const { child, deaths, startTimes } = supervise("serve", watchesStdin)
  const pid = await child.start()
  await child.stop(5_000)
  expect(isRunning(pid)).toBe(false)
  expect(deaths).toEqual([])
  expect(startTimes()).toHaveLength(1)
})

it("makes an end of a program that will not", async () => {
  const { child } = supervise("stubborn")
  const pid = await child.start()
  await child.stop(100)
  expect(isRunning(pid)).toBe(false)
})

it("tells of a program that never served, with what it said last", async () => {
  const failure = await supervise("die")
    .child.start()
    .catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(ChildFailed)
  const { log, message } = failure as ChildFailed
  expect(message).toMatch(/^The child-\d+ ended with exit code 7$/)
  expect(log.tail()).toContain("no life in me")
})

it("can be stopped before it serves", async () => {
  const { child } = supervise("mute")
  const started = child.start().catch((error: unknown) => error)
  await child.stop(5_000)
  expect(await started).toBeInstanceOf(ChildFailed)
})

it("stays stopped, even before it was started", async () => {
  const { child, startTimes } = supervise("serve")
  await child.stop(5_000)
  await expect(child.start()).rejects.toThrow("stopped")
  expect(startTimes).toThrow("ENOENT")
})
