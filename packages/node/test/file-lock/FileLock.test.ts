import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { afterEach, assert, describe, it } from "vitest"
import { acquireFileLock, FileLockedError } from "../../src/file-lock/FileLock.ts"

const folders: Array<string> = []
const children: Array<ChildProcess> = []

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL")
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

const newLock = (): { readonly folder: string; readonly file: string } => {
  const folder = mkdtempSync(join(tmpdir(), "agentos-lock-"))
  folders.push(folder)
  return { folder, file: join(folder, "data.lock") }
}

const holderOf = (file: string): { readonly pid: number; readonly startedAt: string; readonly token: string } =>
  JSON.parse(readFileSync(file, "utf8"))

const refusalOf = (file: string): FileLockedError => {
  try {
    acquireFileLock(file)
  } catch (error) {
    if (error instanceof FileLockedError) return error
    throw error
  }
  throw new Error("The lock was taken.")
}

const start = (program: string, ...args: ReadonlyArray<string>): ChildProcess => {
  const path = fileURLToPath(new URL(`program/${program}.ts`, import.meta.url))
  const child = spawn(process.execPath, [path, ...args], { stdio: ["pipe", "pipe", "inherit"] })
  children.push(child)
  return child
}

/** A process that takes the lock on demand. */
const startHolder = async (file: string) => {
  const child = start("holdMain", file)
  const lines = createInterface(child.stdout!)[Symbol.asyncIterator]()
  const nextLine = async (): Promise<string> => String((await lines.next()).value)
  assert.strictEqual(await nextLine(), "ready")
  return {
    pid: child.pid!,
    /** Tries to take the lock and returns the outcome. */
    take: () => {
      child.stdin!.write("go\n")
      return nextLine()
    },
    kill: async () => {
      const exited = once(child, "exit")
      child.kill("SIGKILL")
      await exited
    }
  }
}

describe("acquireFileLock", () => {
  it("rejects takers in this and other processes until the release, and names the holder", async () => {
    const { file, folder } = newLock()
    const lock = acquireFileLock(file)
    assert.strictEqual(statSync(file).mode & 0o777, 0o600)
    const refusal = refusalOf(file)
    assert.deepStrictEqual([refusal.file, refusal.pid], [file, process.pid])
    assert.strictEqual(await (await startHolder(file)).take(), refusal.message)
    lock.release()
    assert.deepStrictEqual(readdirSync(folder), [])
    acquireFileLock(file)
  })

  it("stays with a live process and is taken over from a killed one", async () => {
    const { file, folder } = newLock()
    const holder = await startHolder(file)
    assert.strictEqual(await holder.take(), "held")
    assert.strictEqual(refusalOf(file).pid, holder.pid)
    await holder.kill()
    assert.isTrue(existsSync(file))
    acquireFileLock(file)
    assert.strictEqual(holderOf(file).pid, process.pid)
    assert.deepStrictEqual(readdirSync(folder), ["data.lock"])
  })

  it("is taken over if another process now has the pid", () => {
    const { file } = newLock()
    writeFileSync(file, JSON.stringify({ pid: process.ppid, startedAt: "at another time", token: "t" }))
    acquireFileLock(file)
    assert.strictEqual(holderOf(file).pid, process.pid)
  })

  it("recognizes a holder that wrote no token", () => {
    const { file } = newLock()
    const own = acquireFileLock(file)
    const { pid, startedAt } = holderOf(file)
    own.release()
    writeFileSync(file, JSON.stringify({ pid, startedAt }))
    assert.strictEqual(refusalOf(file).pid, pid)
    writeFileSync(file, JSON.stringify({ pid: spawnSync(process.execPath, ["-e", ""]).pid, startedAt }))
    acquireFileLock(file)
  })

  it.each(["", "{", "null", `{"pid":"1"}`, `{"pid":1,"startedAt":"x","token":"../x"}`])(
    "is taken over from an unreadable lock: %j",
    (text) => {
      const { file, folder } = newLock()
      writeFileSync(file, text)
      acquireFileLock(file)
      assert.strictEqual(holderOf(file).pid, process.pid)
      assert.deepStrictEqual(readdirSync(folder), ["data.lock"])
    }
  )

  it("is taken over although earlier processes were killed while they replaced it", () => {
    const { file, folder } = newLock()
    const dead = (token: string) => JSON.stringify({ pid: process.pid, startedAt: "long ago", token })
    writeFileSync(file, dead("first"))
    writeFileSync(`${file}.first`, dead("second"))
    writeFileSync(`${file}.first.second`, dead("third"))
    acquireFileLock(file)
    assert.deepStrictEqual(readdirSync(folder), ["data.lock"])
  })

  it("goes to exactly one of many processes that find it stale at once", async () => {
    const { file } = newLock()
    writeFileSync(file, JSON.stringify({ pid: process.pid, startedAt: "long ago", token: "stale" }))
    const racers = await Promise.all(Array.from({ length: 8 }, () => startHolder(file)))
    const outcomes = await Promise.all(racers.map((racer) => racer.take()))
    const winners = racers.filter((_, index) => outcomes[index] === "held")
    assert.lengthOf(winners, 1, outcomes.join("\n"))
    assert.strictEqual(holderOf(file).pid, winners[0]!.pid)
  })

  it("excludes processes from each other although some are killed", async () => {
    const { file, folder } = newLock()
    const counter = join(folder, "counter")
    writeFileSync(counter, "0")
    const count = async (...args: ReadonlyArray<string>): Promise<unknown> => {
      const [code] = (await once(start("countMain", file, counter, ...args), "exit")) as [number | null]
      return code
    }
    assert.deepStrictEqual(await Promise.all([count("1", "dies"), count("1", "dies")]), [null, null])
    const codes = await Promise.all([count("25"), count("25"), count("1", "dies"), count("25")])
    assert.deepStrictEqual(codes, [0, 0, null, 0])
    assert.strictEqual(readFileSync(counter, "utf8"), "75")
  })
})
