import type { DatabaseDiagnosis } from "@agentos/agentos"
import { type Check, failed, type Finding, passed, skipped, warned } from "@agentos/node/command-line"
import { schemaFinding } from "./ConnectionCheck.ts"

/** No statement of this program waits so long for a lock, and no transaction of it is idle for as long. */
const LONG_SECONDS = 30
const MEBIBYTE = 1024 ** 2
const GIBIBYTE = 1024 ** 3
/** Shares of a disk. */
const LITTLE_FREE = 0.1
const ALMOST_NONE_FREE = 0.02

const seconds = (count: number): string => `${Math.round(count)} s`
const sizeOf = (bytes: number): string =>
  bytes < GIBIBYTE ? `${Math.ceil(bytes / MEBIBYTE)} MiB` : `${(bytes / GIBIBYTE).toFixed(1)} GiB`

const END = "End the session that the others wait for: select pg_terminate_backend(PID)."

const locksFinding = ({ waiting }: DatabaseDiagnosis): Finding => {
  const [longest] = waiting
  if (longest === undefined) return passed("no session waits for a lock")
  const listed = waiting.map(
    ({ application, blockedBy, processId, seconds: waited }) =>
      `${processId} (${application}) for ${seconds(waited)}, held by ${blockedBy.join(", ") || "others"}`
  )
  const detail = `sessions that wait: ${listed.join("; ")}`
  if (longest.seconds >= LONG_SECONDS) return failed(detail, END)
  return longest.seconds >= 1 ? warned(detail, `Check again. If it stays: ${END}`) : passed(detail)
}

const idleFinding = ({ idle }: DatabaseDiagnosis): Finding => {
  const long = idle.filter((session) => session.seconds >= LONG_SECONDS)
  if (long.length === 0) return passed("no transaction is idle")
  const listed = long.map((session) => `${session.processId} (${session.application}) for ${seconds(session.seconds)}`)
  return warned(
    `transactions without a statement: ${listed.join("; ")}. They keep locks, and dead rows from being removed`,
    "End the program, or its session: select pg_terminate_backend(PID)."
  )
}

const bloatFinding = ({ bloated }: DatabaseDiagnosis): Finding =>
  bloated.length === 0
    ? passed("no table has many dead rows")
    : warned(
        `tables with many dead rows: ${bloated.map(({ dead, live, table }) => `${table} (${dead} of ${dead + live})`).join(", ")}`,
        "Check that autovacuum is on, and end old transactions. Or run: vacuum (verbose) TABLE."
      )

const slowFinding = ({ slow }: DatabaseDiagnosis): Finding => {
  if (slow === undefined)
    return skipped(
      "pg_stat_statements is not installed",
      "Add it to shared_preload_libraries, restart PostgreSQL, and run: create extension pg_stat_statements."
    )
  if (slow.length === 0) return passed("no statement takes long on average")
  const listed = slow.map(
    ({ calls, meanMillis, statement }) => `${Math.round(meanMillis)} ms on average in ${calls} calls: ${statement}`
  )
  return warned(listed.join("; "), "Run: vacuum analyze. If it stays slow, report it with the plan (explain analyze).")
}

const diskFinding = ({ disk, sizeBytes }: DatabaseDiagnosis): Finding => {
  const size = `the database has ${sizeOf(sizeBytes)}`
  if (disk === undefined) return passed(`${size}; the free space of its disk is not visible from here`)
  const detail = `${size}; ${sizeOf(disk.freeBytes)} of ${sizeOf(disk.totalBytes)} are free at ${disk.path}`
  const share = disk.freeBytes / disk.totalBytes
  const fix = "Free some space, or enlarge the disk: a full one stops payments and mail."
  if (share < ALMOST_NONE_FREE) return failed(detail, fix)
  return share < LITTLE_FREE ? warned(detail, fix) : passed(detail)
}

/** Servers of one database that run different versions, as during an upgrade. */
const serversFinding = ({ servers }: DatabaseDiagnosis, isEmbedded: boolean): Finding => {
  if (isEmbedded) return skipped("an embedded database has one server")
  if (servers.length === 0) return warned("no server is connected", "Start one: agentos-server start.")
  const detail = servers.map(({ address, since, version }) => `${version} at ${address} since ${since}`).join("; ")
  return new Set(servers.map(({ version }) => version)).size === 1
    ? passed(detail)
    : warned(`different versions: ${detail}`, "Finish the upgrade: restart the servers of the older version.")
}

/** Judges the state of the database. */
export const databaseChecks = (found: DatabaseDiagnosis, isEmbedded: boolean): ReadonlyArray<Check> => [
  { name: "database", ...schemaFinding(found) },
  { name: "database locks", ...locksFinding(found) },
  { name: "idle transactions", ...idleFinding(found) },
  { name: "dead rows", ...bloatFinding(found) },
  { name: "slow statements", ...slowFinding(found) },
  { name: "disk", ...diskFinding(found) },
  { name: "servers", ...serversFinding(found, isEmbedded) }
]
