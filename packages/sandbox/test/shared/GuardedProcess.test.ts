import { text } from "node:stream/consumers"
import { describe, expect, it } from "vitest"
import { spawnGuarded } from "../../src/shared/GuardedProcess.ts"
import { runningInGroup, startChild, untilGone } from "./ChildProcesses.ts"

const parent = new URL("./guardedParentMain.ts", import.meta.url)

describe("spawnGuarded", () => {
  it("runs the program under the returned pid, and returns its output and exit code", async () => {
    const guarded = await spawnGuarded("sh", ["-c", 'echo "$$" "$1"; echo oops >&2; exit 7', "sh", "two words"])
    const [stdout, stderr] = await Promise.all([text(guarded.stdout), text(guarded.stderr)])
    expect(stdout).toBe(`${guarded.pid} two words\n`)
    expect(stderr).toBe("oops\n")
    expect(await guarded.exited).toEqual({ code: 7, signal: null })
  })

  it("leaves no process behind when the program ends", async () => {
    const guarded = await spawnGuarded("true", [])
    await guarded.exited
    await untilGone(guarded.pid)
  })

  it("forwards signals to the program", async () => {
    const guarded = await spawnGuarded("sleep", ["600"])
    guarded.kill()
    expect(await guarded.exited).toEqual({ code: null, signal: "SIGTERM" })
    await untilGone(guarded.pid)
  })

  it("reports a missing program by its exit code", async () => {
    const guarded = await spawnGuarded("/nowhere/no-such-program", [])
    expect(await guarded.exited).toEqual({ code: 127, signal: null })
  })

  it("ends the program when its parent is killed", async () => {
    const child = await startChild<{ pid: number }>(parent)
    expect(runningInGroup(child.ready.pid)).toContain(child.ready.pid)
    child.process.kill("SIGKILL")
    await untilGone(child.ready.pid)
  })

  it("ends the program when its parent exits", async () => {
    const child = await startChild<{ pid: number }>(parent)
    child.process.stdin?.end()
    expect(await child.exitCode()).toBe(0)
    await untilGone(child.ready.pid)
  })
})
