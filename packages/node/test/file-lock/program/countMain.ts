// Increments the number in a file under a lock, the given number of times, with a pause between reading and writing. Two
// holders at once would lose a count. With `dies`, is killed while it holds the lock.
import { readFileSync, writeFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { acquireFileLock, FileLockedError } from "../../../src/file-lock/FileLock.ts"

const [lockFile = "", counter = "", times = "1", mode] = process.argv.slice(2)
for (let done = 0; done < Number(times);) {
  try {
    const lock = acquireFileLock(lockFile)
    const count = Number(readFileSync(counter, "utf8"))
    await sleep(1)
    if (mode === "dies") process.kill(process.pid, "SIGKILL")
    writeFileSync(counter, String(count + 1))
    lock.release()
    done++
  } catch (error) {
    if (!(error instanceof FileLockedError)) throw error
    await sleep(1)
  }
}
