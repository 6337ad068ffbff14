import { chownSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { type GuardedProcess, spawnGuarded } from "../shared/GuardedProcess.ts"
import { isRunning, lookUpProcess } from "../shared/ProcessTable.ts"
import { openHome, type PostgresHome } from "./PostgresHome.ts"

export interface PostgresOptions {
  /** The sandbox's directory, and the home of the database in it, which is created if missing. Absolute paths. */
  readonly root: string
  readonly home: string
  readonly port: number
  /** The superuser that is created with the database. */
  readonly user: string
  readonly password: string
}

/** A PostgreSQL that accepts connections on 127.0.0.1. */
export interface RunningPostgres {
  /** The pid of the postmaster, the parent of all its processes. */
  readonly pid: number
  readonly exited: GuardedProcess["exited"]
  /** Shuts down and closes open connections. */
  readonly stop: () => Promise<void>
}

/**
 * Starts the database, also after a crash. `log` receives its output. The database shuts down when this process ends. If
 * `signal` is aborted during the start, the start rejects.
 */
export const startPostgres = async (
  options: PostgresOptions,
  log: (text: string) => void,
  signal: AbortSignal
): Promise<RunningPostgres> => {
  const home = await openHome(options.root, options.home)
  const data = join(home.directory, "data")
  await stopOrphan(data)
  if (!existsSync(data)) await createData(home, data, options, log, signal)
  const deadline = performance.now() + releaseMillisMax
  for (;;) {
    signal.throwIfAborted()
    const outcome = await launch(home, data, options.port, log, signal)
    if (typeof outcome !== "string") return outcome
    if (!isStillInUse(outcome) || performance.now() > deadline) throw new Error("PostgreSQL did not start")
    await sleep(200)
  }
}

/** How long the children of a killed postmaster may take to end. */
const releaseMillisMax = 10_000
const isStillInUse = (errorOutput: string): boolean => errorOutput.includes("is still in use")

/** How long the postmaster may take to end after one signal before the next is sent. */
const stopMillisMax = 3_000

/** Fast shutdown; immediate shutdown, after which the next start recovers from the log; kill. */
const stopSignals = ["SIGINT", "SIGQUIT", "SIGKILL"] as const

/** Stops a postmaster of these files that outlived the process that started it. */
const stopOrphan = async (data: string): Promise<void> => {
  const pid = orphanPid(data)
  if (pid === undefined) return
  for (const signal of stopSignals) {
    process.kill(pid, signal)
    const deadline = performance.now() + stopMillisMax
    while (isRunning(pid) && performance.now() < deadline) await sleep(20)
    if (!isRunning(pid)) return
  }
  throw new Error(`PostgreSQL (process ${pid}) still uses ${data} and could not be stopped`)
}

/** Reads the pid from the first line of `postmaster.pid`. Another process may have the pid by now, so checks its command. */
const orphanPid = (data: string): number | undefined => {
  const file = join(data, "postmaster.pid")
  const pid = existsSync(file) ? Number.parseInt(readFileSync(file, "utf8"), 10) : Number.NaN
  return pid > 0 && lookUpProcess(pid)?.command.includes(data) === true ? pid : undefined
}

/** Creates an empty database atomically. */
const createData = async (
  { account, binaries, directory }: PostgresHome,
  data: string,
  { password, user }: PostgresOptions,
  log: (text: string) => void,
  signal: AbortSignal
): Promise<void> => {
  const next = `${data}.next`
  // The bootstrap process of an aborted initdb may write for a moment longer.
  rmSync(next, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
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

/** Enough for eight servers, manual connections and tests. */
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
  const stop = () => stopPostmaster(postmaster)
  const abort = () => void stop()
  signal.addEventListener("abort", abort)
  postmaster.stdout.resume()
  let errorOutput = ""
  const accepts = new Promise<true>((resolve) => {
    postmaster.stderr.setEncoding("utf8").on("data", (text: string) => {
      log(text)
      errorOutput = `${errorOutput}${text}`.slice(-10_000)
      if (errorOutput.includes("ready to accept connections")) resolve(true)
    })
  })
  const outcome = await Promise.race([accepts, postmaster.exited])
  signal.removeEventListener("abort", abort)
  if (signal.aborted) await postmaster.exited
  signal.throwIfAborted()
  return outcome === true ? { pid: postmaster.pid, exited: postmaster.exited, stop } : errorOutput
}

const stopPostmaster = async (postmaster: GuardedProcess): Promise<void> => {
  for (const signal of stopSignals) {
    postmaster.kill(signal)
    const done = new AbortController()
    const timeout = sleep(stopMillisMax, undefined, { signal: done.signal }).catch(() => undefined)
    const hasExited = await Promise.race([postmaster.exited.then(() => true), timeout.then(() => false)])
    done.abort()
    if (hasExited) return
  }
  await postmaster.exited
}
