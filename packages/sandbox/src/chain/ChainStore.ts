import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { gunzip } from "node:zlib"
import type { Hex } from "viem"
import { readFileIfAny, replaceFile } from "./AtomicFile.ts"

/** What it takes to mine a block again: its transactions as they were signed, in order. */
export interface JournaledBlock {
  readonly number: number
  /** Seconds since the Unix epoch, by the chain's clock. */
  readonly timestamp: number
  readonly transactions: ReadonlyArray<Hex>
}

/** The files that hold a chain: a snapshot of all its state, and a journal of the blocks since. */
export interface ChainStore {
  /** Whether there is a chain at all. */
  readonly hasSnapshot: () => boolean
  /** Lends the snapshot as a file that anvil loads, which is many times its size; undefined before the first. */
  readonly withStateFile: <A>(use: (stateFile: string | undefined) => Promise<A>) => Promise<A>
  /** Replaces the snapshot by the bytes that anvil_dumpState answers. It holds every block up to `number`, or more. */
  readonly writeSnapshot: (state: Hex, number: number) => Promise<void>
  /** The blocks since the snapshot, oldest first. The snapshot may hold the first of them already. */
  readonly journal: () => ReadonlyArray<JournaledBlock>
  /** Puts a block behind the others. Once this returns, it outlives every process of this machine. */
  readonly append: (block: JournaledBlock) => void
}

/** Opens the files of a directory. One user at a time. */
export const openChainStore = (dataDir: string): ChainStore => {
  const snapshotFile = join(dataDir, "state.json.gz")
  const journalFile = join(dataDir, "journal.ndjson")
  let journal = existsSync(journalFile) ? parse(readFileSync(journalFile, "utf8")) : []
  return {
    hasSnapshot: () => existsSync(snapshotFile),
    withStateFile: async (use) => {
      const snapshot = await readFileIfAny(snapshotFile)
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
      // In one go, so that no block can be appended in between.
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

/** What follows the last end of a line was never written to its end. */
const parse = (text: string): Array<JournaledBlock> =>
  text
    .split("\n")
    .slice(0, -1)
    .map((json) => JSON.parse(json) as JournaledBlock)
