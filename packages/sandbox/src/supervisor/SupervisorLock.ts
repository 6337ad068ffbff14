import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { StartRefused } from "./Failure.ts"
import { lookUpProcess } from "./ProcessTable.ts"

interface Holder {
  readonly pid: number
  readonly startedAt: string
}

const inUse = (directory: string, pid: number): StartRefused =>
  new StartRefused(
    `${directory} is in use by a sandbox that runs already (process ${pid}). Stop it, or choose another --data.`
  )

/**
 * Keeps a data directory to this process; answers how to give it up. Throws `StartRefused` while another sandbox has
 * it. The lock of a process that is gone is taken over. (Two that find it stale in the same moment may both get it:
 * the database's own lock keeps them apart then.)
 */
export const lockData = (lockFile: string, directory: string): (() => void) => {
  const own: Holder = { pid: process.pid, startedAt: lookUpProcess(process.pid)?.startedAt ?? "" }
  if (!create(lockFile, own)) {
    const holder = read(lockFile)
    if (holder !== undefined && lookUpProcess(holder.pid)?.startedAt === holder.startedAt) {
      throw inUse(directory, holder.pid)
    }
    rmSync(lockFile, { force: true })
    if (!create(lockFile, own)) throw inUse(directory, read(lockFile)?.pid ?? 0)
  }
  return () => rmSync(lockFile, { force: true })
}

const create = (lockFile: string, own: Holder): boolean => {
  try {
    writeFileSync(lockFile, JSON.stringify(own), { flag: "wx" })
    return true
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false
    throw error
  }
}

/** A lock that can't be read was written by a process that was killed over it. */
const read = (lockFile: string): Holder | undefined => {
  try {
    return JSON.parse(readFileSync(lockFile, "utf8")) as Holder
  } catch {
    return undefined
  }
}
