import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, it, onTestFinished } from "vitest"
import { isRunning, lookUpProcess } from "../../src/shared/ProcessTable.ts"
import { describeUnusedData, lockData, openDataDirectory, type Storage } from "../../src/supervisor/DataDirectory.ts"
import { StartError } from "../../src/supervisor/StartError.ts"

const fresh = (): string => {
  const root = mkdtempSync(join(tmpdir(), "agentos-data-"))
  onTestFinished(() => rmSync(root, { recursive: true }))
  return join(root, "data")
}

const storages: ReadonlyArray<Storage> = ["embedded", "managed", "external"]

it.each(storages)("is readable by its owner only (%s)", async (storage) => {
  const { agent, carrier, chain, logs, outbox, root, server } = await openDataDirectory(fresh(), storage)
  const folders = [root, agent, carrier, chain, logs, outbox, server]
  for (const path of folders) expect(statSync(path).mode & 0o777).toBe(0o700)
})

it("separates the chain and the carrier of each database, and shares the other files", async () => {
  const root = fresh()
  const embedded = await openDataDirectory(root, "embedded")
  const managed = await openDataDirectory(root, "managed")
  for (const part of ["chain", "carrier", "agent", "server", "database"] as const)
    expect(managed[part]).not.toBe(embedded[part])
  for (const part of ["sandboxFile", "lockFile", "logs"] as const) expect(managed[part]).toBe(embedded[part])
})

it("reports the databases that a run does not use", async () => {
  const root = fresh()
  for (const storage of storages) {
    await openDataDirectory(root, storage)
    expect(describeUnusedData(root, storage)).toEqual([])
  }
  writeFileSync(join((await openDataDirectory(root, "embedded")).database, "something"), "")
  expect(describeUnusedData(root, "embedded")).toEqual([])
  for (const storage of ["managed", "external"] as const) {
    expect(describeUnusedData(root, storage)).toEqual([expect.stringContaining("also holds an embedded database")])
  }
  mkdirSync(join((await openDataDirectory(root, "managed")).database, "data"), { recursive: true })
  expect(describeUnusedData(root, "managed")).toHaveLength(1)
  expect(describeUnusedData(root, "embedded")).toEqual([expect.stringContaining("also holds a PostgreSQL")])
  expect(describeUnusedData(root, "external")).toHaveLength(2)
})

describe("the lock", () => {
  const directory = mkdtempSync(join(tmpdir(), "agentos-lock-"))
  afterAll(() => rmSync(directory, { recursive: true }))

  it("is held by one process at a time", () => {
    const file = join(directory, "held.lock")
    const unlock = lockData(file, directory)
    expect(() => lockData(file, directory)).toThrow(StartError)
    expect(() => lockData(file, directory)).toThrow(`process ${process.pid}`)
    unlock()
    lockData(file, directory)()
  })

  it("is taken over from a process that has ended", () => {
    const { pid } = spawnSync(process.execPath, ["-e", ""])
    expect(isRunning(pid)).toBe(false)
    const file = join(directory, "stale.lock")
    writeFileSync(file, JSON.stringify({ pid, startedAt: "then" }))
    lockData(file, directory)
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ pid: process.pid })
  })

  it("is taken over if another process has the pid", () => {
    const file = join(directory, "reused.lock")
    writeFileSync(file, JSON.stringify({ pid: process.ppid, startedAt: "before that one" }))
    expect(lookUpProcess(process.ppid)).toBeDefined()
    lockData(file, directory)()
  })

  it("is taken over if it is incomplete", () => {
    const file = join(directory, "torn.lock")
    writeFileSync(file, '{"pid":')
    lockData(file, directory)()
  })
})
