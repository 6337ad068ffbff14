import { existsSync, readdirSync } from "node:fs"
import { mkdir } from "node:fs/promises"
import { join } from "node:path"

/**
 * Where a sandbox keeps its data: in a database embedded in its server, in a PostgreSQL that it runs itself, or in one
 * of somebody's.
 */
export type Storage = "embedded" | "own" | "given"

/** Where everything lies in a sandbox's data directory. */
export interface DataDirectory {
  readonly root: string
  /** What a client needs to know, written while the sandbox runs. */
  readonly sandboxFile: string
  readonly lockFile: string
  readonly tourFile: string
  readonly logs: string
  readonly outbox: string
  readonly chain: string
  /** What the carrier has sold, and the calls that it remembers. */
  readonly carrier: string
  /** The talking agent's certificate authority, and its port. */
  readonly agent: string
  /** The server's own: secrets, certificates, DNS zone. */
  readonly server: string
  /** The files of a database that is not given. */
  readonly database: string
}

/**
 * What a database says belongs together with what the chain and the carrier say: the sandbox with a PostgreSQL of its
 * own has a chain, wallets, numbers and keys of its own too, in a folder beside those of the sandbox with an embedded
 * database.
 */
export const describeDataDirectory = (root: string, storage: Storage = "embedded"): DataDirectory => {
  const place = storage === "own" ? join(root, "cluster") : root
  return {
    root,
    sandboxFile: join(root, "sandbox.json"),
    lockFile: join(root, "supervisor.lock"),
    tourFile: join(root, "tour.json"),
    logs: join(root, "logs"),
    outbox: join(root, "outbox"),
    chain: join(place, "chain"),
    carrier: join(place, "carrier"),
    agent: join(place, "agent"),
    server: join(place, "server"),
    database: join(place, storage === "own" ? "postgres" : "database")
  }
}

/** Makes the folders that are missing. Only their owner may look into them: there are keys and mail in there. */
export const openDataDirectory = async (root: string, storage: Storage = "embedded"): Promise<DataDirectory> => {
  const directory = describeDataDirectory(root, storage)
  const { agent, carrier, chain, logs, outbox, server } = directory
  const folders = [root, logs, outbox, chain, carrier, agent, server]
  if (storage !== "own") folders.push(directory.database)
  for (const path of folders) await mkdir(path, { recursive: true, mode: 0o700 })
  return directory
}

/** What a run with this storage does not show of what others left in the same directory, a sentence each. */
export const describeUnseen = (root: string, storage: Storage): ReadonlyArray<string> => {
  const sentences: Array<string> = []
  if (storage !== "embedded" && hasFiles(describeDataDirectory(root, "embedded").database)) {
    sentences.push(
      `${root} also holds an embedded database, of which nothing is seen now. It is used when start is given neither ` +
        "--servers nor the address of a PostgreSQL."
    )
  }
  if (storage !== "own" && hasFiles(describeDataDirectory(root, "own").database)) {
    sentences.push(
      `${root} also holds a PostgreSQL with a chain and wallets of its own, of which nothing is seen now. It is used ` +
        "when start is given --servers 2 or more, and no address of a PostgreSQL."
    )
  }
  return sentences
}

const hasFiles = (path: string): boolean => existsSync(path) && readdirSync(path).length > 0
