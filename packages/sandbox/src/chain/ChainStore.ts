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
export type ChainStore = ReturnType<typeof openChainStore>

/** Opens the files of a directory. One process per directory. */
export const openChainStore = (dataDir: string) => {
  const snapshotFile = join(dataDir, "state.json.gz")
  const journalFile = join(dataDir, "journal.ndjson")
  let journal = existsSync(journalFile) ? parse(readFileSync(journalFile, "utf8")) : []
  return {
    /** Returns false for a new chain. */
    hasSnapshot: () => existsSync(snapshotFile),
    /** Provides the uncompressed snapshot as a temporary file for anvil; undefined if there is no snapshot. */
    withStateFile: async <A>(use: (stateFile: string | undefined) => Promise<A>): Promise<A> => {
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
    /** Replaces the snapshot with the result of anvil_dumpState, which holds at least the blocks up to `number`. */
    writeSnapshot: async (state: Hex, number: number): Promise<void> => {
      await replaceFile(snapshotFile, Buffer.from(state.slice(2), "hex"))
      journal = journal.filter((block) => block.number > number)
      // Synchronous, so that no block is appended in between.
      writeFileSync(`${journalFile}.next`, journal.map(line).join(""))
      renameSync(`${journalFile}.next`, journalFile)
    },
    /** Returns the blocks since the snapshot, oldest first. The snapshot may already hold the first of them. */
    journal: (): ReadonlyArray<JournaledBlock> => journal,
    /** Appends a block. After the return, the block is kept if processes are killed. */
    append: (block: JournaledBlock): void => {
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
