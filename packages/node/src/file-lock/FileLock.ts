import { execFileSync } from "node:child_process"
import { randomUUID } from "node:crypto"
import { linkSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"

/*
 * Locks between the processes of one machine: agentctl locks its files, the sandbox its data folder, and PGlite its
 * database.
 *
 * Hand-written, because no library fits. proper-lockfile calls a lock stale by its age, so a holder that is suspended or
 * busy loses it. fs-ext and os-lock are native add-ons, which need a compiler at installation and cannot be part of the
 * single file of agentctl. Node has no file locks of its own.
 */

/** The lock is held by a live process. */
export class FileLockedError extends Error {
  override readonly name = "FileLockedError"
  readonly file: string
  readonly pid: number

  constructor(file: string, pid: number) {
    super(`${file} is locked by process ${pid}.`)
    this.file = file
    this.pid = pid
  }
}

export interface FileLock {
  readonly release: () => void
}

/**
 * The holder of a lock. `startedAt` distinguishes a process from a later one with the same pid; `token` identifies the
 * lock.
 */
interface Holder {
  readonly pid: number
  readonly startedAt: string
  readonly token: string
}

/**
 * Takes a lock, or throws FileLockedError if a live process holds it, this process included.
 *
 * The lock is a file that names its holder. It is created complete by a hard link, which fails if the file exists. The
 * lock of a dead process is replaced by the process that holds a second lock, named after the token of the stale one and
 * taken in the same way. So of many processes that find the lock stale, one replaces it, and a late one finds it
 * replaced. Processes that cannot see each other's pids (two containers on one volume) are not excluded from each other.
 */
export const acquireFileLock = (file: string): FileLock => {
  const own: Holder = { pid: process.pid, startedAt: startOf(process.pid) ?? "", token: randomUUID() }
  acquire(file, own)
  return { release: () => rmSync(file, { force: true }) }
}

const acquire = (file: string, own: Holder): void => {
  for (;;) {
    if (create(file, own)) return
    const holder = read(file)
    if (holder === undefined) continue
    if (isAlive(holder)) throw new FileLockedError(file, holder.pid)
    const claim = `${file}.${holder.token}`
    acquire(claim, own)
    // No other process can replace the stale lock now, but one may have done so before.
    const isStale = read(file)?.token === holder.token
    if (isStale) replace(file, own)
    rmSync(claim, { force: true })
    if (isStale) return removeDeadClaims(file)
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
  writeFileSync(draft, JSON.stringify(own), { mode: 0o600 })
  return draft
}

/** Reads the holder, undefined if there is no lock. An unreadable lock counts as one whose holder is dead. */
const read = (file: string): Holder | undefined => {
  try {
    return decode(readFileSync(file, "utf8"))
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined
    throw error
  }
}

const decode = (text: string): Holder => {
  try {
    const { pid, startedAt, token = "none" } = JSON.parse(text) as Partial<Holder>
    const isToken = typeof token === "string" && /^[\w-]{1,64}$/.test(token)
    if (Number.isSafeInteger(pid) && typeof startedAt === "string" && isToken) return { pid: pid!, startedAt, token }
  } catch {
    // Not JSON, or not an object.
  }
  return { pid: 0, startedAt: "", token: "unreadable" }
}

/** Removes the claims of processes that died while they replaced the lock. They block no process, as tokens are unique. */
const removeDeadClaims = (file: string): void => {
  for (const name of readdirSync(dirname(file))) {
    if (!name.startsWith(`${basename(file)}.`)) continue
    const claim = join(dirname(file), name)
    const holder = read(claim)
    if (holder !== undefined && !isAlive(holder)) rmSync(claim, { force: true })
  }
}

const isAlive = ({ pid, startedAt }: Holder): boolean =>
  pid > 0 && (startOf(pid) ?? (isHidden(pid) ? startedAt : undefined)) === startedAt

/** Whether a process has this pid, but the system hides its details from this process. */
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

/** Returns when a process started, unique among processes with that pid; undefined if it is not running. */
const startOf = (pid: number): string | undefined => (process.platform === "linux" ? startOnLinux(pid) : startByPs(pid))

/** proc(5): in stat, the state is field 3 and the start in ticks since boot field 22. Field 2 may contain any character. */
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
    // Without ps, only the pid can be checked.
    return codeOf(error) === "ENOENT" && isRunning(pid) ? "running" : undefined
  }
}

const codeOf = (error: unknown): unknown =>
  typeof error === "object" && error !== null && "code" in error ? error.code : undefined
