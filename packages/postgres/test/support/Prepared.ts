import { mkdir, mkdtemp, rename, rmdir, stat } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

/** Environment variable with the folder that the test files of one run share; unset outside such a run. */
export const PREPARED_VARIABLE = "TEST_PREPARED_DATABASES"

const POLL_MILLIS = 50

/**
 * Returns the folder of this name, which the first caller in a test run fills with `make`; it is to be copied,
 * never changed. If several callers ask at the same time, one makes it, and the others wait until it has
 * succeeded, or has failed, and then try it themselves. Outside a test run nothing is made, and the result is
 * undefined.
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

/** Returns whether this process has just taken the lock. */
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
