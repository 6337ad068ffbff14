import { mkdtemp, open, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

/** From the end of one flush to the next, in milliseconds: seldom enough not to be a load. */
const EVERY_MILLIS = 50
/** What a database writes at once, in bytes. */
const PAGE = Buffer.alloc(8_192, 1)
/** How many pages the file has: they are written over, as those of a log that is used again. */
const PAGES = 2_048

/** How long the disk takes to keep a page: what everybody who waits for a commit waits for at least. */
export interface DiskProbe {
  /** How long each page took so far, in milliseconds, sorted. */
  readonly took: () => ReadonlyArray<number>
  readonly stop: () => Promise<void>
}

/** Writes pages beside a measurement, on the disk on which databases are tested, and waits for each to be on it. */
export const startDiskProbe = async (): Promise<DiskProbe> => {
  const directory = await mkdtemp(join(tmpdir(), "agentos-disk-"))
  const file = await open(join(directory, "pages"), "w")
  await file.writeFile(Buffer.alloc(PAGE.length * PAGES))
  await file.sync()
  const took: Array<number> = []
  let isStopped = false
  const probing = (async () => {
    for (let count = 0; !isStopped; count++) {
      const startedAt = performance.now()
      await file.write(PAGE, 0, PAGE.length, (count % PAGES) * PAGE.length)
      await file.datasync()
      took.push(performance.now() - startedAt)
      await sleep(EVERY_MILLIS)
    }
  })()
  return {
    took: () => took.toSorted((a, b) => a - b),
    stop: async () => {
      isStopped = true
      await probing
      await file.close()
      await rm(directory, { recursive: true, force: true })
    }
  }
}
