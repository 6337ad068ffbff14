import { mountSmallDisk, NO_SMALL_DISK, type PostgresOptions, startPostgres } from "@agentos/postgres/testing"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { execute } from "../support/ClusterDatabase.ts"
import { startForwarder } from "../support/Forwarder.ts"
import { familyOf } from "../support/Processes.ts"
import { failOver, securedFailOver } from "./FailOver.ts"
import { ACCOUNT, freePort, isRoot, type Missing, type Outage, until, urlOf } from "./Outage.ts"

const nothing = () => undefined
const portOf = (url: string): number => Number(new URL(url).port)

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
  "primary with TLS and roles killed, standby promoted": securedFailOver,
  "PgBouncer restarted": poolerRestarts,
  "disk of PostgreSQL full": fullDisk,
  "disk of the embedded database full": fullDiskEmbedded
} as const satisfies Readonly<Record<string, () => Promise<Outage | Missing>>>

export type OutageName = keyof typeof OUTAGES
