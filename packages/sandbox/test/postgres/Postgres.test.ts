import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { afterAll, describe, expect, it, onTestFinished, vi } from "vitest"
import { isReachable } from "../../src/postgres/PostgresHome.ts"
import { startPostgres } from "../../src/postgres/Postgres.ts"
import { isRunning } from "../../src/shared/ProcessTable.ts"
import { findFreePorts } from "../../src/supervisor/FreePort.ts"

const MAIN = fileURLToPath(new URL("../../src/supervisor/standInMain.ts", import.meta.url))
const root = mkdtempSync(join(tmpdir(), "agentos-own-postgres-"))
const home = join(root, "postgres")
afterAll(() => rmSync(root, { recursive: true }))

/** Starts the program like the supervisor. */
const startMain = async () => {
  const [port = 0] = await findFreePorts(1)
  const child = spawn(process.execPath, [MAIN, "postgres"], {
    env: {
      ...process.env,
      AGENTOS_SANDBOX_POSTGRES: JSON.stringify({ root, home, port, user: "owner", password: "secret" })
    },
    stdio: ["pipe", "pipe", "pipe"]
  })
  onTestFinished(() => void child.kill("SIGKILL"))
  let log = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => (log += text))
  const exited = once(child, "exit") as Promise<[number | null]>
  const ready = once(createInterface(child.stdout), "line") as Promise<[string]>
  const line = await Promise.race([ready, exited.then(() => undefined)])
  if (line === undefined) throw new Error(`PostgreSQL did not start:\n${log}`)
  const { pid } = JSON.parse(line[0]) as { readonly pid: number }
  return { child, pid, log: () => log, exitCode: () => exited.then(([code]) => code) }
}

const untilGone = (pid: number) =>
  vi.waitFor(() => expect(isRunning(pid)).toBe(false), { timeout: 60_000, interval: 20 })

describe("the managed PostgreSQL", () => {
  it("shuts down with its program, and has private files", async () => {
    const { child, exitCode, log, pid } = await startMain()
    expect(statSync(home).mode & 0o777).toBe(0o700)
    child.kill("SIGTERM")
    expect(await exitCode()).toBe(0)
    expect(isRunning(pid)).toBe(false)
    expect(log()).toContain("database system is shut down")
  })

  it("shuts down when the stdin of its program closes", async () => {
    const { child, exitCode, pid } = await startMain()
    child.stdin.end()
    expect(await exitCode()).toBe(0)
    expect(isRunning(pid)).toBe(false)
    expect((await startMain()).log()).not.toContain("not properly shut down")
  })

  it("ends when its program is killed, and ends its program when it is killed", async () => {
    const first = await startMain()
    first.child.kill("SIGKILL")
    await untilGone(first.pid)
    const second = await startMain()
    process.kill(second.pid, "SIGKILL")
    expect(await second.exitCode()).toBe(1)
  })

  it("starts after a kill, and while an orphaned instance still runs", async () => {
    const killed = await startMain()
    process.kill(killed.pid, "SIGKILL")
    const next = await startMain()
    // Its program is stopped, so the postmaster keeps running, and the next start finds it.
    process.kill(next.child.pid!, "SIGSTOP")
    const last = await startMain()
    expect(isRunning(next.pid)).toBe(false)
    last.child.kill("SIGTERM")
    expect(await last.exitCode()).toBe(0)
  })

  it("aborts a start, and leaves no incomplete database", async () => {
    const fresh = join(root, "unfinished")
    const stop = new AbortController()
    const [port = 0] = await findFreePorts(1)
    const options = { root, home: fresh, port, user: "owner", password: "secret" }
    const started = startPostgres(options, (text) => text.includes("bootstrap") && stop.abort(), stop.signal)
    await expect(started).rejects.toThrow("aborted")
    const later = await startPostgres(options, () => undefined, new AbortController().signal)
    expect(isRunning(later.pid)).toBe(true)
    await later.stop()
    expect(isRunning(later.pid)).toBe(false)
  })
})

describe.skipIf(process.getuid?.() !== 0)("a directory that only root can reach", () => {
  it("has its files in a shared directory, and finds them again", async () => {
    const closed = mkdtempSync(join(tmpdir(), "agentos-closed-"))
    onTestFinished(() => rmSync(closed, { recursive: true, force: true }))
    const own = join(closed, "managed")
    const { mkdirSync, readlinkSync } = await import("node:fs")
    mkdirSync(own)
    const [port = 0] = await findFreePorts(1)
    const options = { root: own, home: join(own, "postgres"), port, user: "owner", password: "secret" }
    const run = async () => {
      const postgres = await startPostgres(options, () => undefined, new AbortController().signal)
      await postgres.stop()
    }
    await run()
    const target = readlinkSync(options.home)
    onTestFinished(() => rmSync(target, { recursive: true, force: true }))
    expect(isReachable(closed, { uid: 1, gid: 1 })).toBe(false)
    await run()
    expect(readlinkSync(options.home)).toBe(target)
    rmSync(target, { recursive: true })
    await expect(run()).rejects.toThrow("no longer exist")
  })
})
