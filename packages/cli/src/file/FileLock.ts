import { readdir, readFile, rm } from "node:fs/promises"
import { join } from "node:path"
import { errorCode, Failure } from "../failure/Failure.ts"
import type { Host } from "../host/Host.ts"
import { isRecord } from "./Json.ts"
import { privateFolder, readIfExists, writePrivate } from "./PrivateFile.ts"

/*
 * A lock is a file that can be made once, with the process that made it inside. One that a dead process left is never
 * removed, since two could find it dead at once and the later remove what the earlier made. The next generation is
 * made beside it instead: whoever looks at the same files wants the same number, and only one can make it. Dead
 * files stay, so a number that was passed over can't be made any more.
 */

/** How often the files are looked at while others come and go. */
const LOOKS = 100
/** How often a lock that is only held for a moment is tried, and how long is waited in between, in milliseconds. */
const ATTEMPTS = 50
const PAUSE_MILLIS = 100

interface Owner {
  readonly pid: number
  /** When the process began, as the kernel counts it: a pid is used again. Null where that can't be read. */
  readonly startedAt: string | null
}

const startOf = async (pid: number): Promise<string | null> => {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8")
    // The name, in parentheses, may hold spaces; start time is the twentieth field after it (proc(5)).
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null
  } catch {
    return null
  }
}

const isAlive = async ({ pid, startedAt }: Owner): Promise<boolean> => {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (errorCode(error) !== "EPERM") return false
  }
  return startedAt === null || (await startOf(pid)) === startedAt
}

const readOwner = async (path: string): Promise<Owner | undefined> => {
  const text = await readIfExists(path)
  if (text === undefined) return undefined
  try {
    const value: unknown = JSON.parse(text)
    if (isRecord(value) && typeof value["pid"] === "number" && Number.isSafeInteger(value["pid"]) && value["pid"] > 0) {
      const { startedAt } = value
      return { pid: value["pid"], startedAt: typeof startedAt === "string" ? startedAt : null }
    }
  } catch {
    // Not written by this program. Whose it is can't be told, so it counts as held.
  }
  return { pid: process.pid, startedAt: null }
}

interface Generation {
  readonly number: number
  readonly path: string
}

const generations = async (folder: string, name: string): Promise<ReadonlyArray<Generation>> =>
  (await readdir(folder)).flatMap((file) => {
    const match = file.startsWith(`${name}.lock.`) ? /^\d{1,9}$/.exec(file.slice(name.length + 6)) : null
    return match === null ? [] : [{ number: Number(match[0]), path: join(folder, file) }]
  })

const locked = (name: string, path: string): Failure =>
  new Failure({
    code: "LOCKED",
    message: `Another agentctl is working on ${name}. If none is running, remove ${path}.`,
    retryable: true
  })

/** The number that may be made next, out of one look at the files. Throws LOCKED where one of them is of a living process. */
const freeNumber = async (folder: string, name: string): Promise<number> => {
  for (let look = 1; look <= LOOKS; look++) {
    const existing = await generations(folder, name)
    const owners = await Promise.all(existing.map(({ path }) => readOwner(path)))
    // One was given back in between: what was seen is no longer so, and its number is free again.
    if (owners.includes(undefined)) continue
    for (const [index, owner] of owners.entries())
      if (owner !== undefined && (await isAlive(owner))) throw locked(name, existing[index]!.path)
    return Math.max(0, ...existing.map(({ number }) => number)) + 1
  }
  throw locked(name, join(folder, `${name}.lock.1`))
}

/** Takes the lock of this name, works, and gives it back. Throws LOCKED at once where another process has it. */
export const withLock = async <A>(folder: string, name: string, use: () => Promise<A>): Promise<A> => {
  await privateFolder(folder)
  const own = join(folder, `${name}.lock.${await freeNumber(folder, name)}`)
  const owner: Owner = { pid: process.pid, startedAt: await startOf(process.pid) }
  try {
    await writePrivate(own, `${JSON.stringify(owner)}\n`, { onlyNew: true })
  } catch (error) {
    throw errorCode(error) === "EEXIST" ? locked(name, own) : error
  }
  try {
    return await use()
  } finally {
    await rm(own, { force: true })
  }
}

/** The same for work of a moment: waits while another process has the lock, and throws LOCKED after 5 s of that. */
export const withFreeLock = async <A>(host: Host, folder: string, name: string, use: () => Promise<A>): Promise<A> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await withLock(folder, name, use)
    } catch (error) {
      if (!(error instanceof Failure) || error.parts.code !== "LOCKED" || attempt >= ATTEMPTS) throw error
      await host.sleep(PAUSE_MILLIS)
    }
  }
}
