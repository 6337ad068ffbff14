import { mkdtemp, open, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

/** Between flushes, in milliseconds: too long to be a load. */
const EVERY_MILLIS = 50
/** The size of a database page, in bytes. */
const PAGE = Buffer.alloc(8_192, 1)
/** The file is overwritten in a circle, as a database does with its log. */
const PAGES = 2_048

/** How long the disk takes to flush a page: the lower limit of a commit. */
export interface DiskProbe {
  /** Of each page so far, in milliseconds, sorted. */
  readonly took: () => ReadonlyArray<number>
  readonly stop: () => Promise<void>
}

/** Writes and flushes pages on the disk of the test databases, at the same time as a measurement. */
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
