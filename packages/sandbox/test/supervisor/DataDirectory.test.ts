import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { describeUnseen, openDataDirectory, type Storage } from "../../src/supervisor/DataDirectory.ts"

const fresh = (): string => {
  const root = mkdtempSync(join(tmpdir(), "agentos-data-"))
  onTestFinished(() => rmSync(root, { recursive: true }))
  return join(root, "data")
}

const storages: ReadonlyArray<Storage> = ["embedded", "own", "given"]

it.each(storages)("is for its owner alone (%s)", async (storage) => {
  const { agent, carrier, chain, logs, outbox, root, server } = await openDataDirectory(fresh(), storage)
  const folders = [root, agent, carrier, chain, logs, outbox, server]
  for (const path of folders) expect(statSync(path).mode & 0o777).toBe(0o700)
})

it("keeps the chain and the carrier of one database apart from those of another, and shares what is neither's", async () => {
  const root = fresh()
  const embedded = await openDataDirectory(root, "embedded")
  const own = await openDataDirectory(root, "own")
  for (const part of ["chain", "carrier", "agent", "server", "database"] as const)
    expect(own[part]).not.toBe(embedded[part])
  for (const part of ["sandboxFile", "lockFile", "logs"] as const) expect(own[part]).toBe(embedded[part])
})

it("says what else there is, whichever way it is used", async () => {
  const root = fresh()
  for (const storage of storages) {
    await openDataDirectory(root, storage)
    expect(describeUnseen(root, storage)).toEqual([])
  }
  writeFileSync(join((await openDataDirectory(root, "embedded")).database, "something"), "")
  expect(describeUnseen(root, "embedded")).toEqual([])
  for (const storage of ["own", "given"] as const) {
    expect(describeUnseen(root, storage)).toEqual([expect.stringContaining("also holds an embedded database")])
  }
  mkdirSync(join((await openDataDirectory(root, "own")).database, "data"), { recursive: true })
  expect(describeUnseen(root, "own")).toHaveLength(1)
  expect(describeUnseen(root, "embedded")).toEqual([expect.stringContaining("also holds a PostgreSQL")])
  expect(describeUnseen(root, "given")).toHaveLength(2)
})
