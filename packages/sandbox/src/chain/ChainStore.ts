import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { gunzip } from "node:zlib"
import type { Hex } from "viem"
import { readFileIfExists, replaceFile } from "../shared/AtomicFile.ts"

/** A block with its signed transactions in order, from which it can be mined again. */
export interface JournaledBlock {
  readonly number: number
  /** Seconds since the Unix epoch on the chain's clock. */
  readonly timestamp: number
  readonly transactions: ReadonlyArray<Hex>
}

/** The files of a chain: a snapshot of its state, and a journal of the later blocks. */
export interface ChainStore {
  /** Returns false for a new chain. */
  readonly hasSnapshot: () => boolean
  /** Provides the uncompressed snapshot as a temporary file for anvil; undefined if there is no snapshot. */
  readonly withStateFile: <A>(use: (stateFile: string | undefined) => Promise<A>) => Promise<A>
  /** Replaces the snapshot with the result of anvil_dumpState, which holds at least the blocks up to `number`. */
  readonly writeSnapshot: (state: Hex, number: number) => Promise<void>
  /** Returns the blocks since the snapshot, oldest first. The snapshot may already hold the first of them. */
  readonly journal: () => ReadonlyArray<JournaledBlock>
  /** Appends a block. After the return, the block is kept if processes are killed. */
  readonly append: (block: JournaledBlock) => void
}

/** Opens the files of a directory. One process per directory. */
export const openChainStore = (dataDir: string): ChainStore => {
  const snapshotFile = join(dataDir, "state.json.gz")
  const journalFile = join(dataDir, "journal.ndjson")
  let journal = existsSync(journalFile) ? parse(readFileSync(journalFile, "utf8")) : []
  return {
    hasSnapshot: () => existsSync(snapshotFile),
    withStateFile: async (use) => {
      const snapshot = await readFileIfExists(snapshotFile)
      if (snapshot === undefined) return use(undefined)
      const stateFile = join(dataDir, "state.loading.json")
      await writeFile(stateFile, await promisify(gunzip)(snapshot))
      try {
        return await use(stateFile)
      } finally {
        await rm(stateFile, { force: true })
      }
    },
    writeSnapshot: async (state, number) => {
      await replaceFile(snapshotFile, Buffer.from(state.slice(2), "hex"))
      journal = journal.filter((block) => block.number > number)
      // Synchronous, so that no block is appended in between.
      writeFileSync(`${journalFile}.next`, journal.map(line).join(""))
      renameSync(`${journalFile}.next`, journalFile)
    },
    journal: () => journal,
    append: (block) => {
      journal.push(block)
      appendFileSync(journalFile, line(block))
    }
  }
}

const line = (block: JournaledBlock): string => `${JSON.stringify(block)}\n`

/** Ignores a last line without a line feed: its write was interrupted. */
const parse = (text: string): Array<JournaledBlock> =>
  text
    .split("\n")
    .slice(0, -1)
    .map((json) => JSON.parse(json) as JournaledBlock)
