import { type ChildProcess, spawn } from "node:child_process"
import { on, once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, expect, it, type TestContext, vi } from "vitest"
import { isRunning } from "../../src/shared/ProcessTable.ts"

const directory = mkdtempSync(join(tmpdir(), "agentos-launch-"))
afterAll(() => rmSync(directory, { recursive: true }))
// A package.json of a directory above it does not decide how the scripts are read.
writeFileSync(join(directory, "package.json"), '{"type":"commonjs"}')

const launched = fileURLToPath(new URL("launchedMain.ts", import.meta.url))

/** Runs the program like a package runner: through a shell, which does not forward signals. */
const launch = async (
  { onTestFinished }: TestContext,
  runner: string
): Promise<{ readonly runner: ChildProcess; readonly pid: number }> => {
  const script = join(directory, runner)
  writeFileSync(
    script,
    `require("node:child_process").spawn("sh", ["-c", '"$0" "$1"; true', ...process.argv.slice(2)], { stdio: "inherit" })`
  )
  const child = spawn(process.execPath, [script, process.execPath, launched], { stdio: ["ignore", "pipe", "inherit"] })
  const [line] = (await once(child.stdout, "data")) as [Buffer]
  // On a busy machine the next line arrives with it.
  const pid = Number.parseInt(line.toString())
  onTestFinished(() => void (isRunning(pid) && process.kill(pid, "SIGKILL")))
  return { runner: child, pid }
}

it.concurrent("detects the end of its package runner", async (context) => {
  const { pid, runner } = await launch(context, "npx-cli.js")
  expect(isRunning(pid)).toBe(true)
  runner.kill("SIGKILL")
  await vi.waitFor(() => expect(isRunning(pid)).toBe(false), { timeout: 60_000 })
})

it.concurrent("ignores the end of other parents", async (context) => {
  const { pid, runner } = await launch(context, "other.cjs")
  runner.kill("SIGKILL")
  // It checks its launchers between the first and the second line.
  const lines = on(runner.stdout!, "data", { signal: context.signal, close: ["end"] })
  for (let alive = 0; alive < 3; alive++) await lines.next()
  expect(isRunning(pid)).toBe(true)
})
