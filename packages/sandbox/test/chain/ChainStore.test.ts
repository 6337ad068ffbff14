import { appendFile, readFile } from "node:fs/promises"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { toHex } from "viem"
import { describe, expect, it } from "vitest"
import { openChainStore } from "../../src/chain/ChainStore.ts"
import { makeDataDir } from "./TestChain.ts"

const block = (number: number) => ({ number, timestamp: 1_800_000_000 + number, transactions: [toHex(number)] })
const snapshot = toHex(gzipSync('{"some":"state"}'))

describe("ChainStore", () => {
  it("returns the appended blocks in order after it is reopened", async () => {
    const dataDir = await makeDataDir()
    const store = openChainStore(dataDir)
    for (const number of [1, 2, 3]) store.append(block(number))
    expect(openChainStore(dataDir).journal()).toEqual([block(1), block(2), block(3)])
  })

  it("ignores an incomplete last line", async () => {
    const dataDir = await makeDataDir()
    openChainStore(dataDir).append(block(1))
    await appendFile(join(dataDir, "journal.ndjson"), '{"number":2,"times')
    expect(openChainStore(dataDir).journal()).toEqual([block(1)])
  })

  it("removes blocks from the journal that a snapshot holds", async () => {
    const dataDir = await makeDataDir()
    const store = openChainStore(dataDir)
    expect(store.hasSnapshot()).toBe(false)
    for (const number of [1, 2, 3]) store.append(block(number))
    await store.writeSnapshot(snapshot, 2)
    store.append(block(4))
    expect(store.hasSnapshot()).toBe(true)
    expect(openChainStore(dataDir).journal()).toEqual([block(3), block(4)])
  })

  it("provides the snapshot as a temporary JSON file", async () => {
    const store = openChainStore(await makeDataDir())
    expect(await store.withStateFile(async (file) => file)).toBeUndefined()
    await store.writeSnapshot(snapshot, 0)
    const lent = await store.withStateFile(async (file) => {
      expect(await readFile(String(file), "utf8")).toBe('{"some":"state"}')
      return file
    })
    await expect(readFile(String(lent))).rejects.toThrow("ENOENT")
  })
})
