// Prints `ready`; after any input, takes the given lock, prints `held` and keeps the lock until it is killed, or prints
// why it cannot.
import { once } from "node:events"
import { acquireFileLock } from "../../../src/file-lock/FileLock.ts"

const [file = ""] = process.argv.slice(2)
console.log("ready")
await once(process.stdin, "data")
try {
  acquireFileLock(file)
  console.log("held")
  setInterval(() => {}, 60_000)
} catch (error) {
  console.log(error instanceof Error ? error.message : error)
  process.exit()
}
