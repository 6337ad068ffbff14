import { Uuid } from "@agentos/core"
import { Effect, Option, Schema, type Scope } from "effect"
import { execFileSync } from "node:child_process"
import { linkSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"

/** Another process has the directory. */
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

/** Who holds a lock. `startedAt` tells a process from a later one of the same number; `token` one lock from another. */
const Holder = Schema.Struct({ pid: Schema.Int, startedAt: Schema.String, token: Schema.String })
type Holder = typeof Holder.Type

const decodeHolder = Schema.decodeUnknownOption(Schema.fromJsonString(Holder))

const NOBODY: Holder = { pid: 0, startedAt: "", token: "unreadable" }

/**
 * Keeps a directory to this process until the scope closes.
 *
 * The lock is a file that says who holds it. It appears whole, by a hard link,
 * which fails where there is one already. That of a process that is gone is
 * replaced by whoever holds, in the same way, a lock named after the very lock
 * to be replaced: of many that find it stale, one replaces it, and who comes too
 * late finds it replaced. Processes that can't see each other's numbers (two
 * containers on one volume) are not kept apart.
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

/** Takes the lock, or answers who has it. */
const acquire = (file: string, own: Holder): Holder | undefined => {
  for (;;) {
    if (create(file, own)) return undefined
    const holder = read(file)
    if (holder === undefined) continue
    if (isAlive(holder)) return holder
    const claim = `${file}.${holder.token}`
    const rival = acquire(claim, own)
    if (rival !== undefined) return rival
    // Nobody else replaces the stale lock now; somebody may have done so before.
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

/** Undefined when there is no lock. One that nobody can read was written by nobody alive. */
const read = (file: string): Holder | undefined => {
  try {
    return Option.getOrElse(decodeHolder(readFileSync(file, "utf8")), () => NOBODY)
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined
    throw error
  }
}

/** Claims of processes that went away while they replaced a lock. They bind nobody: no lock comes a second time. */
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

/** Whether there is a process of this number that tells us nothing of itself. */
const isHidden = (pid: number): boolean => signal(pid) === "EPERM"
const isRunning = (pid: number): boolean => signal(pid) !== "ESRCH"

/** What the system says to a signal that is none. */
const signal = (pid: number): unknown => {
  try {
    process.kill(pid, 0)
    return undefined
  } catch (error) {
    return codeOf(error)
  }
}

/** When a process started, in a form that no other process of that number has; undefined when there is none. */
const startOf = (pid: number): string | undefined => (process.platform === "linux" ? startOnLinux(pid) : startByPs(pid))

/** proc(5): the state is the third field of stat and the start, in ticks since boot, the 22nd; the second may hold anything. */
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
    // Where there is no ps, a number is all that is known of a process.
    return codeOf(error) === "ENOENT" && isRunning(pid) ? "running" : undefined
  }
}

const codeOf = (error: unknown): unknown =>
  typeof error === "object" && error !== null && "code" in error ? error.code : undefined
