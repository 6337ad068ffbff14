import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { lookUpProcess } from "../shared/ProcessTable.ts"
import { StartError } from "./StartError.ts"

/** A database embedded in the server, a PostgreSQL that the sandbox runs, or an external PostgreSQL. */
export type Storage = "embedded" | "managed" | "external"

/** The paths in a sandbox's data directory. */
export interface DataDirectory {
  readonly root: string
  /** Describes the running sandbox to clients. */
  readonly sandboxFile: string
  readonly lockFile: string
  readonly tourFile: string
  readonly logs: string
  readonly outbox: string
  readonly chain: string
  /** The numbers and calls of the carrier. */
  readonly carrier: string
  /** The certificate authority and the port of the test agent. */
  readonly agent: string
  /** The server's secrets, certificates and DNS zone. */
  readonly server: string
  /** The database files, unless the database is external. */
  readonly database: string
}

/**
 * The data of a database, a chain and a carrier belong together. A sandbox with a managed PostgreSQL therefore has its own
 * chain, wallets, numbers and keys, in a folder beside those of the sandbox with an embedded database.
 */
export const describeDataDirectory = (root: string, storage: Storage = "embedded"): DataDirectory => {
  const parent = storage === "managed" ? join(root, "cluster") : root
  return {
    root,
    sandboxFile: join(root, "sandbox.json"),
    lockFile: join(root, "supervisor.lock"),
    tourFile: join(root, "tour.json"),
    logs: join(root, "logs"),
    outbox: join(root, "outbox"),
    chain: join(parent, "chain"),
    carrier: join(parent, "carrier"),
    agent: join(parent, "agent"),
    server: join(parent, "server"),
    database: join(parent, storage === "managed" ? "postgres" : "database")
  }
}

/** Creates the missing folders. Only their owner can read them, because they hold keys and mail. */
export const openDataDirectory = async (root: string, storage: Storage = "embedded"): Promise<DataDirectory> => {
  const directory = describeDataDirectory(root, storage)
  const { agent, carrier, chain, logs, outbox, server } = directory
  const folders = [root, logs, outbox, chain, carrier, agent, server]
  if (storage !== "managed") folders.push(directory.database)
  for (const path of folders) await mkdir(path, { recursive: true, mode: 0o700 })
  return directory
}

/** Returns a notice for each database in the directory that a run with this storage does not use. */
export const describeUnusedData = (root: string, storage: Storage): ReadonlyArray<string> => {
  const notices: Array<string> = []
  if (storage !== "embedded" && hasFiles(describeDataDirectory(root, "embedded").database)) {
    notices.push(
      `${root} also holds an embedded database, which this run does not use. To use it, start without --servers and ` +
        "without a PostgreSQL URL."
    )
  }
  if (storage !== "managed" && hasFiles(describeDataDirectory(root, "managed").database)) {
    notices.push(
      `${root} also holds a PostgreSQL with its own chain and wallets, which this run does not use. To use it, start ` +
        "with --servers 2 or more and without a PostgreSQL URL."
    )
  }
  return notices
}

const hasFiles = (path: string): boolean => existsSync(path) && readdirSync(path).length > 0

interface LockHolder {
  readonly pid: number
  readonly startedAt: string
}

const inUse = (directory: string, pid: number): StartError =>
  new StartError(`${directory} is in use by another sandbox (process ${pid}). Stop it, or choose another --data.`)

/**
 * Reserves a data directory for this process and returns a function that releases it. Throws `StartError` while another
 * sandbox holds it. The lock of a process that has ended is taken over. Two processes that take it over at the same moment
 * may both succeed; the database's lock separates them.
 */
export const lockData = (lockFile: string, directory: string): (() => void) => {
  const own: LockHolder = { pid: process.pid, startedAt: lookUpProcess(process.pid)?.startedAt ?? "" }
  if (!createLock(lockFile, own)) {
    const holder = readLock(lockFile)
    if (holder !== undefined && lookUpProcess(holder.pid)?.startedAt === holder.startedAt) {
      throw inUse(directory, holder.pid)
    }
    rmSync(lockFile, { force: true })
    if (!createLock(lockFile, own)) throw inUse(directory, readLock(lockFile)?.pid ?? 0)
  }
  return () => rmSync(lockFile, { force: true })
}

const createLock = (lockFile: string, own: LockHolder): boolean => {
  try {
    writeFileSync(lockFile, JSON.stringify(own), { flag: "wx" })
    return true
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false
    throw error
  }
}

/** Returns undefined for an incomplete lock, whose writer was killed. */
const readLock = (lockFile: string): LockHolder | undefined => {
  try {
    return JSON.parse(readFileSync(lockFile, "utf8")) as LockHolder
  } catch {
    return undefined
  }
}
