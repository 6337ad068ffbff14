import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
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

// packages/node/test/file-lock tests the lock itself.
it("locks the data directory, and names the process that holds it", () => {
  const directory = mkdtempSync(join(tmpdir(), "agentos-lock-"))
  const file = join(directory, "supervisor.lock")
  const lock = lockData(file, directory)
  expect(() => lockData(file, directory)).toThrow(StartError)
  expect(() => lockData(file, directory)).toThrow(`process ${process.pid}`)
  lock.release()
  lockData(file, directory).release()
  rmSync(directory, { recursive: true })
})
