import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { type AddressInfo, createServer } from "node:net"
import { fileURLToPath } from "node:url"
import { onTestFinished, vi } from "vitest"

export const sourceOf = (path: string) => fileURLToPath(new URL(`../../examples/${path}`, import.meta.url))

export const freePort = async (): Promise<number> => {
  const probe = createServer().listen(0, "127.0.0.1")
  await once(probe, "listening")
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, "close")
  return port
}

/** An example in a process of its own, which is killed at the end of the test. */
export interface Example {
  readonly pid: number
  /** Waits for output that matches and returns the first group. */
  readonly find: (expression: RegExp) => Promise<string>
  /** Returns its output so far. */
  readonly printed: () => string
  /** Ends it by a signal, as Ctrl-C does. */
  readonly interrupt: () => void
  /** The exit status and the signal that ended it. */
  readonly exit: Promise<ReadonlyArray<unknown>>
}

/** Starts an example. */
export const startExample = (
  path: string,
  args: ReadonlyArray<string>,
  environment: Record<string, string> = {},
  cwd = process.cwd()
): Example => {
  const child: ChildProcess = spawn(process.execPath, [sourceOf(path), ...args], {
    cwd,
    env: { ...process.env, ...environment },
    detached: true
  })
  onTestFinished(() => void child.kill("SIGKILL"))
  let printed = ""
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => (printed += text))
  }
  return {
    pid: child.pid!,
    find: (expression) =>
      vi.waitFor(
        () => {
          const found = expression.exec(printed)?.[1]
          if (found === undefined) throw new Error(`no match for ${String(expression)} in: ${printed}`)
          return found
        },
        { timeout: 60_000, interval: 50 }
      ),
    printed: () => printed,
    interrupt: () => void child.kill("SIGINT"),
    exit: once(child, "close")
  }
}
