import { mkdir, mkdtemp, rename, rmdir, stat } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

/** Names the folder of what the files of one test run share. Outside of such a run there is none. */
export const PREPARED_VARIABLE = "AGENTOS_TEST_PREPARED"

const POLL_MILLIS = 50

/**
 * Gives the folder of this name, which `make` fills once in a test run, by the first who asks; it is to be copied, never
 * changed. Of those that ask at one time, one makes it, and the others wait until it has; or has failed, and try it
 * themselves. Outside a test run nothing is made, and there is none.
 */
export const prepared = (name: string, make: (draft: string) => Promise<unknown>): Promise<string | undefined> => {
  const known = asked.get(name)
  if (known !== undefined) return known
  const folder = process.env[PREPARED_VARIABLE]
  const asking = folder === undefined ? Promise.resolve(undefined) : prepare(folder, name, make)
  asked.set(name, asking)
  return asking
}

const asked = new Map<string, Promise<string | undefined>>()

const prepare = async (folder: string, name: string, make: (draft: string) => Promise<unknown>): Promise<string> => {
  const [path, lock] = [join(folder, name), join(folder, `${name}.lock`)]
  while (!(await exists(path))) {
    if (!(await isTaken(lock))) {
      await sleep(POLL_MILLIS)
      continue
    }
    try {
      if (!(await exists(path))) {
        const draft = await mkdtemp(join(folder, `${name}.draft-`))
        await make(draft)
        await rename(draft, path)
      }
    } finally {
      await rmdir(lock)
    }
  }
  return path
}

/** Whether the lock is ours now. */
const isTaken = (lock: string): Promise<boolean> =>
  mkdir(lock).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "EEXIST") return false
      throw error
    }
  )

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false
  )
