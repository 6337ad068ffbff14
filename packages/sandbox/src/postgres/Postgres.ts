import { chownSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { type GuardedProcess, spawnGuarded } from "../process/GuardedProcess.ts"
import { isRunning, lookUpProcess } from "../supervisor/ProcessTable.ts"
import { openHome, type PostgresHome } from "./PostgresHome.ts"

export interface PostgresOptions {
  /** The sandbox's own directory, and the home of the database in it. Both absolute; the home need not be there. */
  readonly root: string
  readonly home: string
  readonly port: number
  /** The superuser, as it is made with the database. */
  readonly user: string
  readonly password: string
}

/** A PostgreSQL that accepts connections, on 127.0.0.1. */
export interface RunningPostgres {
  /** Of the postmaster, from which all its processes come. */
  readonly pid: number
  readonly exited: GuardedProcess["exited"]
  /** Ends it in order; what is connected is cut off. */
  readonly stop: () => Promise<void>
}

/**
 * Starts the database, with its files as they were left, however that was. `log` is given what it says. It ends, in
 * order, when this process does. An abort of `signal` ends a start that is under way, with a rejection.
 */
export const startPostgres = async (
  options: PostgresOptions,
  log: (text: string) => void,
  signal: AbortSignal
): Promise<RunningPostgres> => {
  const home = await openHome(options.root, options.home)
  const data = join(home.directory, "data")
  await endStale(data)
  if (!existsSync(data)) await makeData(home, data, options, log, signal)
  const deadline = performance.now() + remainsMillis
  for (;;) {
    signal.throwIfAborted()
    const outcome = await launch(home, data, options.port, log, signal)
    if (typeof outcome !== "string") return outcome
    if (!hasRemains(outcome) || performance.now() > deadline) throw new Error("PostgreSQL did not start")
    await sleep(200)
  }
}

/** How long the processes of a postmaster that was killed may take to notice. */
const remainsMillis = 10_000
const hasRemains = (complaint: string): boolean => complaint.includes("is still in use")

/** What one way of ending has, until the next is tried. */
const patienceMillis = 3_000

/** In order; then at once, which the next start mends from its log; then by force. */
const endings = ["SIGINT", "SIGQUIT", "SIGKILL"] as const

/** Ends a postmaster of these files that has outlived whoever started it. */
const endStale = async (data: string): Promise<void> => {
  const pid = stalePostmaster(data)
  if (pid === undefined) return
  for (const signal of endings) {
    process.kill(pid, signal)
    const deadline = performance.now() + patienceMillis
    while (isRunning(pid) && performance.now() < deadline) await sleep(20)
    if (!isRunning(pid)) return
  }
  throw new Error(`PostgreSQL (process ${pid}) still runs on ${data}, and can't be ended`)
}

/** Its first line is a process's number, which by now may be another's. */
const stalePostmaster = (data: string): number | undefined => {
  const file = join(data, "postmaster.pid")
  const pid = existsSync(file) ? Number.parseInt(readFileSync(file, "utf8"), 10) : Number.NaN
  return pid > 0 && lookUpProcess(pid)?.command.includes(data) === true ? pid : undefined
}

/** Makes an empty database, wholly or not at all. */
const makeData = async (
  { account, binaries, directory }: PostgresHome,
  data: string,
  { password, user }: PostgresOptions,
  log: (text: string) => void,
  signal: AbortSignal
): Promise<void> => {
  const next = `${data}.next`
  rmSync(next, { recursive: true, force: true })
  const passwordFile = join(directory, "password")
  writeFileSync(passwordFile, password, { mode: 0o600 })
  if (account.uid !== undefined && account.gid !== undefined) chownSync(passwordFile, account.uid, account.gid)
  const secured = ["-U", user, `--pwfile=${passwordFile}`, "--auth=scram-sha-256"]
  const initdb = await spawnGuarded(
    join(binaries, "initdb"),
    ["-D", next, ...secured, "--encoding=UTF8", "--locale=C", "--no-instructions"],
    { ...account, cwd: directory }
  )
  const abort = () => initdb.kill("SIGKILL")
  signal.addEventListener("abort", abort)
  for (const stream of [initdb.stdout, initdb.stderr]) stream.setEncoding("utf8").on("data", log)
  const { code } = await initdb.exited
  signal.removeEventListener("abort", abort)
  rmSync(passwordFile)
  signal.throwIfAborted()
  if (code !== 0) throw new Error("PostgreSQL's initdb failed")
  renameSync(next, data)
}

/** Connections of eight servers, and some for people and tests. */
const connectionsMax = 200

const launch = async (
  { account, binaries, directory }: PostgresHome,
  data: string,
  port: number,
  log: (text: string) => void,
  signal: AbortSignal
): Promise<RunningPostgres | string> => {
  const settings = [`max_connections=${connectionsMax}`, "log_destination=stderr", "logging_collector=off"]
  const postmaster = await spawnGuarded(
    join(binaries, "postgres"),
    ["-D", data, "-h", "127.0.0.1", "-p", String(port), "-k", "", ...settings.flatMap((setting) => ["-c", setting])],
    { ...account, cwd: directory, orphanSignal: "SIGINT" }
  )
  const stop = () => end(postmaster)
  const abort = () => void stop()
  signal.addEventListener("abort", abort)
  postmaster.stdout.resume()
  let complaint = ""
  const accepts = new Promise<true>((resolve) => {
    postmaster.stderr.setEncoding("utf8").on("data", (text: string) => {
      log(text)
      complaint = `${complaint}${text}`.slice(-10_000)
      if (complaint.includes("ready to accept connections")) resolve(true)
    })
  })
  const outcome = await Promise.race([accepts, postmaster.exited])
  signal.removeEventListener("abort", abort)
  if (signal.aborted) await postmaster.exited
  signal.throwIfAborted()
  return outcome === true ? { pid: postmaster.pid, exited: postmaster.exited, stop } : complaint
}

const end = async (postmaster: GuardedProcess): Promise<void> => {
  for (const signal of endings) {
    postmaster.kill(signal)
    const done = new AbortController()
    const patience = sleep(patienceMillis, undefined, { signal: done.signal }).catch(() => undefined)
    const isOver = await Promise.race([postmaster.exited.then(() => true), patience.then(() => false)])
    done.abort()
    if (isOver) return
  }
  await postmaster.exited
}
