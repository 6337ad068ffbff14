import { mountSmallDisk, NO_SMALL_DISK, type PostgresOptions, startPostgres } from "@agentos/postgres/testing"
import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { promisify } from "node:util"
import { postgresTools } from "../backup/PostgresTools.ts"
import type { TestbedOptions } from "../faults/server/Testbed.ts"
import { execute } from "../support/ClusterDatabase.ts"
import { startForwarder } from "../support/Forwarder.ts"
import { familyOf } from "../support/Processes.ts"

const run = promisify(execFile)

/** A database whose outage begins and ends on demand. */
export interface Outage {
  readonly testbed: TestbedOptions
  readonly begin: () => Promise<void> | void
  /** Whether the cause is over at once: what follows is the recovery. */
  readonly isMomentary?: boolean
  /** Resolves when the cause has ended. */
  readonly end: () => Promise<void> | void
  readonly stop: () => Promise<void>
}

/** Why an outage can't be caused on this machine. */
export type Missing = string

const nothing = () => undefined
const portOf = (url: string): number => Number(new URL(url).port)

const urlOf = (port: number): string => `postgres://postgres@127.0.0.1:${port}/postgres`

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  server.close()
  if (typeof address !== "object" || address === null) throw new Error("no free port")
  return address.port
}

const DURABLE: PostgresOptions = { settings: { synchronous_commit: "on", max_connections: "200" } }

const postmasterOf = async (url: string): Promise<number> => {
  const [row] = await execute(url, String.raw`select split_part(pg_read_file('postmaster.pid'), E'\n', 1)::int as pid`)
  return Number(row?.["pid"])
}

/** Bytes are dropped on the connections that are open, and new ones work. The cause ends as it begins. */
const silence = async (): Promise<Outage> => {
  const postgres = await startPostgres(DURABLE)
  const forwarder = await startForwarder(() => portOf(postgres.url))
  return {
    testbed: {
      database: "postgres",
      databaseServer: { url: postgres.url, servedUrl: urlOf(forwarder.port) }
    },
    begin: forwarder.silence,
    isMomentary: true,
    end: nothing,
    stop: async () => {
      await forwarder.stop()
      await postgres.stop()
    }
  }
}

const stopped = async (): Promise<Outage> => {
  const postgres = await startPostgres(DURABLE)
  let family: ReadonlyArray<number> = []
  return {
    testbed: { database: "postgres", databaseServer: { url: postgres.url, servedUrl: postgres.url } },
    begin: async () => {
      const postmaster = await postmasterOf(postgres.url)
      // It reaps no child while it is stopped, so that no process id is used again.
      process.kill(postmaster, "SIGSTOP")
      family = familyOf(postmaster)
      for (const pid of family) process.kill(pid, "SIGSTOP")
    },
    end: () => {
      for (const pid of family.toReversed()) process.kill(pid, "SIGCONT")
    },
    stop: postgres.stop
  }
}

const fullDisk = async (): Promise<Outage | Missing> => {
  const disk = mountSmallDisk(300)
  if (disk === undefined) return NO_SMALL_DISK
  const postgres = await startPostgres({ ...DURABLE, parent: disk.directory })
  return {
    testbed: { database: "postgres", databaseServer: { url: postgres.url, servedUrl: postgres.url } },
    begin: disk.fill,
    end: disk.clear,
    stop: async () => {
      await postgres.stop()
      disk.remove()
    }
  }
}

const fullDiskEmbedded = async (): Promise<Outage | Missing> => {
  const disk = mountSmallDisk(400)
  if (disk === undefined) return NO_SMALL_DISK
  const database = join(disk.directory, "database")
  return {
    testbed: {
      database: "pglite",
      placeDirectory: (directory) => {
        mkdirSync(database)
        rmSync(directory, { recursive: true, force: true })
        symlinkSync(database, directory)
        return database
      }
    },
    begin: disk.fill,
    end: disk.clear,
    stop: async () => disk.remove()
  }
}

/** Starts a command line as another account. */
const startAs = (account: string, command: string) =>
  spawn("su", [account, "-s", "/bin/sh", "-c", command], { stdio: ["ignore", "ignore", "pipe"] })

const ACCOUNT = "nobody"

const until = async (attempt: () => Promise<unknown>): Promise<void> => {
  for (let tries = 0; ; tries++) {
    try {
      await attempt()
      return
    } catch (error) {
      if (tries > 200) throw error
      await sleep(100)
    }
  }
}

const isRoot = (): boolean => process.getuid?.() === 0

/** The primary is killed, and its standby is promoted and takes its place behind one address. */
const failOver = async (): Promise<Outage | Missing> => {
  const tools = postgresTools
  if (tools === undefined || !existsSync(join(tools, "pg_basebackup"))) {
    return "needs Debian's PostgreSQL: apt-get install postgresql"
  }
  if (!isRoot()) return "needs root, to start servers as another account"
  const directory = mkdtempSync(join(tmpdir(), "agentos-failover-"))
  chmodSync(directory, 0o777)
  // A standby can't be migrated, which `execute` does.
  const query = async (url: string, statement: string) =>
    (await run(join(tools, "psql"), ["-Atc", statement, url])).stdout
  const postmaster = async (url: string) =>
    Number(await query(url, String.raw`select split_part(pg_read_file('postmaster.pid'), E'\n', 1)`))
  const as = (command: string) => run("su", [ACCOUNT, "-s", "/bin/sh", "-c", command])
  const start = async (name: string) => {
    const port = await freePort()
    const settings = "-c synchronous_commit=on -c max_connections=200"
    const address = `-h 127.0.0.1 -p ${port} -k ${directory}`
    const child = startAs(ACCOUNT, `exec ${join(tools, "postgres")} -D ${join(directory, name)} ${address} ${settings}`)
    child.stderr.resume()
    const url = urlOf(port)
    await until(() => query(url, "select 1"))
    return { port, url, child }
  }
  const data = join(directory, "primary")
  await as(`${join(tools, "initdb")} -D ${data} -U postgres --auth=trust --encoding=UTF8 --locale=C --no-sync`)
  const primary = await start("primary")
  await as(`${join(tools, "pg_basebackup")} -D ${join(directory, "standby")} -R -X stream -d ${primary.url}`)
  // A commit that was acknowledged is on both, as in any setup that may lose its primary.
  await query(primary.url, "alter system set synchronous_standby_names = '*'")
  await query(primary.url, "select pg_reload_conf()")
  const standby = await start("standby")
  let port = primary.port
  const forwarder = await startForwarder(() => port)
  return {
    testbed: { database: "postgres", databaseServer: { url: primary.url, servedUrl: urlOf(forwarder.port) } },
    begin: async () => {
      for (const pid of familyOf(await postmaster(primary.url))) process.kill(pid, "SIGKILL")
    },
    end: async () => {
      await query(standby.url, "select pg_promote()")
      port = standby.port
    },
    stop: async () => {
      await forwarder.stop()
      const ended = once(standby.child, "exit")
      process.kill(await postmaster(standby.url), "SIGQUIT")
      await ended
      rmSync(directory, { recursive: true, force: true })
    }
  }
}

const POOLER = "/usr/sbin/pgbouncer"

/** A pooler in session mode is killed, and starts again. */
const poolerRestarts = async (): Promise<Outage | Missing> => {
  if (!existsSync(POOLER)) return "needs Debian's PgBouncer: apt-get install pgbouncer"
  if (!isRoot()) return "needs root, to start the pooler as another account"
  const postgres = await startPostgres(DURABLE)
  const directory = mkdtempSync(join(tmpdir(), "agentos-pooler-"))
  chmodSync(directory, 0o777)
  const port = await freePort()
  const users = join(directory, "users.txt")
  const file = join(directory, "pgbouncer.ini")
  writeFileSync(users, '"postgres" ""\n')
  writeFileSync(
    file,
    [
      "[databases]",
      `* = host=127.0.0.1 port=${portOf(postgres.url)}`,
      "[pgbouncer]",
      "listen_addr = 127.0.0.1",
      `listen_port = ${port}`,
      "unix_socket_dir =",
      "auth_type = trust",
      `auth_file = ${users}`,
      "pool_mode = session",
      "default_pool_size = 50",
      "max_client_conn = 200",
      "ignore_startup_parameters = enable_seqscan,enable_bitmapscan,jit,statement_timeout,idle_in_transaction_session_timeout,plan_cache_mode,extra_float_digits"
    ].join("\n")
  )
  const start = async () => {
    const child = spawn(POOLER, ["--user", ACCOUNT, file], { stdio: ["ignore", "ignore", "pipe"] })
    child.stderr.resume()
    await until(() => execute(urlOf(port), "select 1"))
    return child
  }
  let child = await start()
  const kill = async () => {
    const ended = once(child, "exit")
    child.kill("SIGKILL")
    await ended
  }
  return {
    testbed: { database: "postgres", databaseServer: { url: postgres.url, servedUrl: urlOf(port) } },
    begin: kill,
    end: async () => {
      child = await start()
    },
    stop: async () => {
      await kill()
      rmSync(directory, { recursive: true, force: true })
      await postgres.stop()
    }
  }
}

/** Every outage by its name. */
export const OUTAGES = {
  "silent connections": silence,
  "PostgreSQL stopped": stopped,
  "primary killed, standby promoted": failOver,
  "PgBouncer restarted": poolerRestarts,
  "disk of PostgreSQL full": fullDisk,
  "disk of the embedded database full": fullDiskEmbedded
} as const satisfies Readonly<Record<string, () => Promise<Outage | Missing>>>

export type OutageName = keyof typeof OUTAGES
