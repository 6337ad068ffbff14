import { acquireFileLock, type FileLock, FileLockedError } from "@agentos/node/file-lock"
import { existsSync, readdirSync } from "node:fs"
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { StartError } from "./StartError.ts"

/** A database embedded in the server, a PostgreSQL that the sandbox runs, or an external PostgreSQL. */
export type Storage = "embedded" | "managed" | "external"

/** The paths in a sandbox's data directory. */
export type DataDirectory = ReturnType<typeof describeDataDirectory>

/**
 * The data of a database, a chain and a carrier belong together. A sandbox with a managed PostgreSQL therefore has its own
 * chain, wallets, numbers and keys, in a folder beside those of the sandbox with an embedded database.
 */
export const describeDataDirectory = (root: string, storage: Storage = "embedded") => {
  const parent = storage === "managed" ? join(root, "cluster") : root
  return {
    root,
    /** Describes the running sandbox to clients. */
    sandboxFile: join(root, "sandbox.json"),
    /** The ports of the parts that others reach by `sandbox.json`. */
    portsFile: join(root, "ports.json"),
    lockFile: join(root, "supervisor.lock"),
    tourFile: join(root, "tour.json"),
    tourLockFile: join(root, "tour.lock"),
    logs: join(root, "logs"),
    outbox: join(root, "outbox"),
    chain: join(parent, "chain"),
    /** The second chain, whose keys are those of the first. */
    tetherChain: join(parent, "tether-chain"),
    /** The deployment of the second chain's further token. */
    usdcToken: join(parent, "usdc-token"),
    /** How far the time of the sandbox was moved. */
    clockFile: join(parent, "clock.json"),
    /** The numbers and calls of the carrier. */
    carrier: join(parent, "carrier"),
    /** The certificate authority and the port of the test agent. */
    agent: join(parent, "agent"),
    /** The server's secrets, certificates and DNS zone. */
    server: join(parent, "server"),
    /** The database files, unless the database is external. */
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

/** Locks a data directory for this process. Throws `StartError` while another sandbox holds the lock. */
export const lockData = (lockFile: string, directory: string): FileLock => {
  try {
    return acquireFileLock(lockFile)
  } catch (error) {
    if (!(error instanceof FileLockedError)) throw error
    throw new StartError(
      `${directory} is in use by another sandbox (process ${error.pid}). Stop it, or choose another --data.`
    )
  }
}
