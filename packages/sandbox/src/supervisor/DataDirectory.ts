import { mkdir } from "node:fs/promises"
import { join } from "node:path"

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
  /** The server's own: secrets, certificates, DNS zone. */
  readonly server: string
  readonly database: string
}

export const describeDataDirectory = (root: string): DataDirectory => ({
  root,
  sandboxFile: join(root, "sandbox.json"),
  lockFile: join(root, "supervisor.lock"),
  tourFile: join(root, "tour.json"),
  logs: join(root, "logs"),
  outbox: join(root, "outbox"),
  chain: join(root, "chain"),
  server: join(root, "server"),
  database: join(root, "database")
})

/** Makes the folders that are missing. Only their owner may look into them: there are keys and mail in there. */
export const openDataDirectory = async (root: string): Promise<DataDirectory> => {
  const directory = describeDataDirectory(root)
  for (const path of [root, directory.logs, directory.outbox, directory.chain, directory.server, directory.database]) {
    await mkdir(path, { recursive: true, mode: 0o700 })
  }
  return directory
}
