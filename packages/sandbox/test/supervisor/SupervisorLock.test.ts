import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, it } from "vitest"
import { isRunning, lookUpProcess } from "../../src/supervisor/ProcessTable.ts"
import { lockData } from "../../src/supervisor/SupervisorLock.ts"
import { StartRefused } from "../../src/supervisor/Failure.ts"

const directory = mkdtempSync(join(tmpdir(), "agentos-lock-"))
afterAll(() => rmSync(directory, { recursive: true }))

it("is held by one at a time", () => {
  const file = join(directory, "held.lock")
  const unlock = lockData(file, directory)
  expect(() => lockData(file, directory)).toThrow(StartRefused)
  expect(() => lockData(file, directory)).toThrow(`process ${process.pid}`)
  unlock()
  lockData(file, directory)()
})

it("is taken over from a process that is gone", () => {
  const { pid } = spawnSync(process.execPath, ["-e", ""])
  expect(isRunning(pid)).toBe(false)
  const file = join(directory, "stale.lock")
  writeFileSync(file, JSON.stringify({ pid, startedAt: "then" }))
  lockData(file, directory)
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ pid: process.pid })
})

it("is taken over where another process has the number by now", () => {
  const file = join(directory, "reused.lock")
  writeFileSync(file, JSON.stringify({ pid: process.ppid, startedAt: "before that one" }))
  expect(lookUpProcess(process.ppid)).toBeDefined()
  lockData(file, directory)()
})

it("is taken over when its writer was killed over it", () => {
  const file = join(directory, "torn.lock")
  writeFileSync(file, '{"pid":')
  lockData(file, directory)()
})
