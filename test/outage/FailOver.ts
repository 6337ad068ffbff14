import { createRoles, databasePage } from "@agentos/postgres/testing"
import { Effect } from "effect"
import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { appendFileSync, chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { postgresTools } from "../backup/PostgresTools.ts"
import { startForwarder } from "../support/Forwarder.ts"
import { familyOf } from "../support/Processes.ts"
import { ACCOUNT, freePort, isRoot, type Missing, type Outage, until, urlOf } from "./Outage.ts"

const run = promisify(execFile)

/** A primary and its standby on this machine, which commits wait for. */
interface Pair {
  readonly primary: Server
  readonly standby: Server
  readonly promote: () => Promise<unknown>
  readonly stop: () => Promise<void>
}

interface Server {
  readonly port: number
  /** For a superuser. */
  readonly url: string
  readonly killed: () => Promise<void>
}

/** Starts a command line as another account. */
const startAs = (command: string) =>
  spawn("su", [ACCOUNT, "-s", "/bin/sh", "-c", command], { stdio: ["ignore", "ignore", "pipe"] })

const as = (command: string) => run("su", [ACCOUNT, "-s", "/bin/sh", "-c", command])

/** Starts a pair. `configure` changes the files in the data directory of the primary, which the standby copies. */
const startPair = async (configure: (data: string) => Promise<unknown>): Promise<Pair | Missing> => {
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
  const start = async (name: string): Promise<Server & { readonly ended: Promise<unknown> }> => {
    const port = await freePort()
    const address = `-h localhost -p ${port} -k ${directory}`
    const child = startAs(
      `exec ${join(tools, "postgres")} -D ${join(directory, name)} ${address} -c max_connections=200`
    )
    child.stderr.resume()
    const url = urlOf(port)
    await until(() => query(url, "select 1"))
    const postmaster = Number(await query(url, String.raw`select split_part(pg_read_file('postmaster.pid'), E'\n', 1)`))
    return {
      port,
      url,
      ended: once(child, "exit"),
      killed: async () => {
        for (const pid of familyOf(postmaster)) process.kill(pid, "SIGKILL")
      }
    }
  }
  const data = join(directory, "primary")
  await as(`${join(tools, "initdb")} -D ${data} -U postgres --auth=trust --encoding=UTF8 --locale=C --no-sync`)
  // A commit that was acknowledged is on both.
  appendFileSync(join(data, "postgresql.conf"), databasePage("Standbys", "ini").join(""))
  await configure(data)
  const primary = await start("primary")
  await as(`${join(tools, "pg_basebackup")} -D ${join(directory, "standby")} -R -X stream -d ${primary.url}`)
  const standby = await start("standby")
  return {
    primary,
    standby,
    promote: async () => {
      const [statements = ""] = databasePage("Standbys", "sql")
      for (const statement of statements.trim().split("\n")) await query(standby.url, statement)
    },
    stop: async () => {
      await standby.killed()
      await standby.ended
      rmSync(directory, { recursive: true, force: true })
    }
  }
}

const outageOf = ({ primary, promote, stop }: Pair, testbed: Outage["testbed"]): Outage => ({
  testbed,
  begin: primary.killed,
  end: async () => void (await promote()),
  stop
})

/** The primary is killed, and its standby is promoted and takes its place behind one address. */
export const failOver = async (): Promise<Outage | Missing> => {
  const pair = await startPair(async () => undefined)
  if (typeof pair === "string") return pair
  const { primary, standby } = pair
  let { port } = primary
  const forwarder = await startForwarder(() => port)
  const databaseServer = { url: primary.url, servedUrl: urlOf(forwarder.port) }
  const outage = outageOf(pair, { database: "postgres", databaseServer })
  return {
    ...outage,
    end: async () => {
      await outage.end()
      port = standby.port
    },
    stop: async () => {
      await forwarder.stop()
      await outage.stop()
    }
  }
}

/** For this machine alone, beside the lines of the page. */
const OPERATOR_RULES = "host all postgres 127.0.0.1/32 trust\nhost replication postgres 127.0.0.1/32 trust\n"

/**
 * The primary is killed, and its standby is promoted. The server knows both, verifies their certificates, presents one of its
 * own, and has a role that owns no table, all with the settings of the page.
 */
export const securedFailOver = async (): Promise<Outage | Missing> => {
  const files = mkdtempSync(join(tmpdir(), "agentos-certificates-"))
  const removeFiles = () => rmSync(files, { recursive: true, force: true })
  const local = (text: string | undefined) => (text ?? "").replaceAll("database.example.com", "localhost")
  const [rules, url] = databasePage("TLS", "")
  const pair = await startPair(async (data) => {
    await run("bash", ["-ec", local(databasePage("TLS", "sh")[0])], { cwd: files })
    const names = ["authority.crt", "localhost.crt", "localhost.key"].map((name) => join(files, name))
    await run("install", ["-o", ACCOUNT, "-m", "600", ...names, data])
    appendFileSync(join(data, "postgresql.conf"), local(databasePage("TLS", "ini")[0]))
    writeFileSync(join(data, "pg_hba.conf"), `${rules}${OPERATOR_RULES}`)
  })
  if (typeof pair === "string") {
    removeFiles()
    return pair
  }
  const { primary, standby } = pair
  const owner = `postgres://agentos_owner:secret-1@localhost:${primary.port}/agentos`
  const ownerUrl = `${owner}?sslmode=verify-full&sslrootcert=${files}/authority.crt`
  const served = (url ?? "")
    .trim()
    .replace("DATABASE_URL=", "")
    .replace("database.example.com:5432", `localhost:${primary.port},localhost:${standby.port}`)
    .replaceAll("/etc/agentos", files)
  const outage = outageOf(pair, {
    database: "postgres",
    databaseServer: {
      url: primary.url,
      servedUrl: primary.url,
      create: () => Effect.runPromise(createRoles(primary.url, ownerUrl))
    },
    environment: { DATABASE_URL: `${served}&target_session_attrs=read-write` }
  })
  return {
    ...outage,
    stop: async () => {
      await outage.stop()
      removeFiles()
    }
  }
}
