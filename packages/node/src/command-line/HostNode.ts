import { homedir } from "node:os"
import { setImmediate, setTimeout as sleep } from "node:timers/promises"
import { isatty } from "node:tty"
import type { ExitCode } from "./Failure.ts"
import type { Host, Sink } from "./Host.ts"
import { reportBrokenOutput } from "./Program.ts"

const STDIN_LIMIT_BYTES = 4 * 1024 * 1024

const sink = (stream: NodeJS.WriteStream): Sink => ({
  write: (data) => void stream.write(data),
  isTerminal: stream.isTTY === true,
  // 0 on a terminal whose size is not known, for example in `script`.
  columns: stream.isTTY === true && stream.columns > 0 ? stream.columns : undefined,
  drained: async () => {
    if (stream.writableNeedDrain) await new Promise<void>((resolve) => stream.once("drain", resolve))
  }
})

/** Node opens standard input on first use; an open one takes time and keeps the process alive. */
let stdinIsOpen = false

const readStdin = async (interruption: AbortSignal): Promise<string> => {
  interruption.throwIfAborted()
  stdinIsOpen = true
  interruption.addEventListener("abort", () => process.stdin.destroy(new Error("Interrupted.")), { once: true })
  const chunks: Array<Buffer> = []
  let length = 0
  for await (const chunk of process.stdin) {
    const bytes = Buffer.from(chunk)
    length += bytes.length
    if (length > STDIN_LIMIT_BYTES) throw new RangeError("Standard input is longer than 4 MiB.")
    chunks.push(bytes)
  }
  // Ctrl-C also ends the program that writes to the pipe, whose end may arrive before the signal.
  for (let turn = 0; turn < 2; turn++) await setImmediate()
  interruption.throwIfAborted()
  return Buffer.concat(chunks).toString("utf8")
}

/** Runs a program on the command line of this process and sets the exit code. */
export const runOnNode = async (run: (host: Host) => Promise<ExitCode>): Promise<void> => {
  const interruption = new AbortController()
  let received: NodeJS.Signals | undefined
  const interrupt = (signal: NodeJS.Signals): void => {
    // The same signal again skips the cleanup. Ctrl-C in a terminal reaches a program and its parent, which may then
    // send SIGTERM.
    if (received === signal) process.exit(130)
    received ??= signal
    interruption.abort()
  }
  process.on("SIGINT", interrupt)
  process.on("SIGTERM", interrupt)
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // The reader has closed the pipe, as `head` does.
    if (error.code === "EPIPE") process.exit(process.exitCode ?? 0)
    process.exit(reportBrokenOutput(host, error))
  })
  // The command, and perhaps a payment, continues without a reader of its remarks.
  process.stderr.on("error", () => {})
  const host: Host = {
    argv: process.argv.slice(2),
    env: process.env,
    workingDirectory: process.cwd(),
    // Only a user with a home has one, and not every program needs it.
    get homeDirectory() {
      return homedir()
    },
    stdout: sink(process.stdout),
    stderr: sink(process.stderr),
    get stdinIsTerminal() {
      return isatty(0)
    },
    readStdin: () => readStdin(interruption.signal),
    ask: async (question, options) => {
      stdinIsOpen = true
      const { ask } = await import("./Prompt.ts")
      return ask(question, options, interruption)
    },
    // oxlint-disable-next-line no-restricted-properties -- the only place where a command reads the clock
    now: () => Date.now(),
    sleep: (millis) => sleep(millis, undefined, { signal: interruption.signal }),
    signal: interruption.signal
  }
  process.exitCode = await run(host)
  process.off("SIGINT", interrupt)
  process.off("SIGTERM", interrupt)
  // Standard input from a file has no unref, and does not keep the process alive.
  if (stdinIsOpen && "unref" in process.stdin) process.stdin.unref()
}
