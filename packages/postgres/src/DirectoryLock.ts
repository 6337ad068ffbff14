import { Uuid } from "@agentos/core"
import { Effect, Option, Schema, type Scope } from "effect"
import { execFileSync } from "node:child_process"
import { linkSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"

/** Fails because another process uses the directory. */
export class DirectoryInUse extends Schema.TaggedError<DirectoryInUse>()("DirectoryInUse", {
  directory: Schema.String,
  pid: Schema.Int
}) {
  override get message(): string {
    return (
      `${this.directory} is in use by process ${this.pid}: stop it first, or choose another directory. ` +
      "Servers that are to share their data need a PostgreSQL server."
    )
  }
}

const LOCK_FILE = "agentos.lock"

/**
 * The holder of a lock. `startedAt` distinguishes a process from a later one with the same pid; `token`
 * identifies the lock.
 */
const Holder = Schema.Struct({ pid: Schema.Int, startedAt: Schema.String, token: Schema.String })
type Holder = typeof Holder.Type

const decodeHolder = Schema.decodeUnknownOption(Schema.fromJsonString(Holder))

const NOBODY: Holder = { pid: 0, startedAt: "", token: "unreadable" }

/**
 * Locks a directory for this process until the scope closes.
 *
 * The lock is a file that names its holder. It is created complete by a hard link, which fails if the file
 * exists. The lock of a dead process is replaced by the process that holds a second lock, named after the token
 * of the stale one and taken in the same way. So of many processes that find the lock stale, one replaces it,
 * and a late one finds it replaced. Processes that cannot see each other's pids (two containers on one volume)
 * are not excluded from each other.
 */
export const lockDirectory = (directory: string): Effect.Effect<void, DirectoryInUse, Scope.Scope> =>
  Effect.asVoid(
    Effect.acquireRelease(
      Effect.gen(function* () {
        const own: Holder = { pid: process.pid, startedAt: startOf(process.pid) ?? "", token: yield* Uuid.next }
        const file = join(directory, LOCK_FILE)
        const other = yield* Effect.sync(() => acquire(file, own))
        if (other !== undefined) return yield* new DirectoryInUse({ directory, pid: other.pid })
        yield* Effect.sync(() => removeLeftovers(file))
        return file
      }),
      (file) => Effect.sync(() => rmSync(file, { force: true }))
    )
  )

/** Takes the lock, or returns the process that holds it. */
const acquire = (file: string, own: Holder): Holder | undefined => {
  for (;;) {
    if (create(file, own)) return undefined
    const holder = read(file)
    if (holder === undefined) continue
    if (isAlive(holder)) return holder
    const claim = `${file}.${holder.token}`
    const rival = acquire(claim, own)
    if (rival !== undefined) return rival
    // No other process can replace the stale lock now, but one may have done so before.
    const isStale = read(file)?.token === holder.token
    if (isStale) replace(file, own)
    rmSync(claim, { force: true })
    if (isStale) return undefined
  }
}

const create = (file: string, own: Holder): boolean => {
  const draft = write(file, own)
  try {
    linkSync(draft, file)
    return true
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false
    throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

const replace = (file: string, own: Holder): void => renameSync(write(file, own), file)

const write = (file: string, own: Holder): string => {
  const draft = join(dirname(file), `.${own.token}.draft`)
  writeFileSync(draft, JSON.stringify(own))
  return draft
}

/** Reads the holder, undefined if there is no lock. An unreadable lock counts as one whose holder is dead. */
const read = (file: string): Holder | undefined => {
  try {
    return Option.getOrElse(decodeHolder(readFileSync(file, "utf8")), () => NOBODY)
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined
    throw error
  }
}

/**
 * Removes the claims of processes that died while they replaced a lock. They block no process, since no token
 * is used twice.
 */
const removeLeftovers = (file: string): void => {
  for (const name of readdirSync(dirname(file))) {
    if (!name.startsWith(`${basename(file)}.`)) continue
    const leftover = join(dirname(file), name)
    const holder = read(leftover)
    if (holder !== undefined && !isAlive(holder)) rmSync(leftover, { force: true })
  }
}

const isAlive = (holder: Holder): boolean =>
  holder.pid > 0 && (startOf(holder.pid) ?? (isHidden(holder.pid) ? holder.startedAt : undefined)) === holder.startedAt

/** Returns whether a process has this pid but the system hides its details from this process. */
const isHidden = (pid: number): boolean => signal(pid) === "EPERM"
const isRunning = (pid: number): boolean => signal(pid) !== "ESRCH"

/** Returns the error code of signal 0, which only checks the process; undefined if it can be signaled. */
const signal = (pid: number): unknown => {
  try {
    process.kill(pid, 0)
    return undefined
  } catch (error) {
    return codeOf(error)
  }
}

/**
 * Returns when a process started, in a form that is unique among processes with that pid; undefined if it is
 * not running.
 */
const startOf = (pid: number): string | undefined => (process.platform === "linux" ? startOnLinux(pid) : startByPs(pid))

/**
 * proc(5): in stat, the state is field 3 and the start, in ticks since boot, field 22; field 2 may contain any
 * character.
 */
const startOnLinux = (pid: number): string | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    if (fields[0] === "Z" || fields[0] === "X") return undefined
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${fields[19]}`
  } catch (error) {
    const code = codeOf(error)
    if (code === "ENOENT" || code === "ESRCH") return undefined
    throw error
  }
}

const startByPs = (pid: number): string | undefined => {
  try {
    return (
      execFileSync("ps", ["-o", "lstart=", "-p", `${pid}`], { encoding: "utf8", stdio: "pipe" }).trim() || undefined
    )
  } catch (error) {
    // Without ps, the pid is all that can be checked of a process.
    return codeOf(error) === "ENOENT" && isRunning(pid) ? "running" : undefined
  }
}

const codeOf = (error: unknown): unknown =>
  typeof error === "object" && error !== null && "code" in error ? error.code : undefined
