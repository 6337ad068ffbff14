import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { promisify } from "node:util"

const run = promisify(execFile)
/** The first start of a sandbox took over 60 s beside other suites on a slow host. */
const WAIT_MILLIS = 180_000
/** The width that output is written for, and high enough that few screens scroll. */
const SIZE = ["-x", "80", "-y", "400"]
/** The prompt of the shell, with the exit code of the previous line. */
const PROMPT = "[exit $?]\n$ "
const PROMPTED = /\[exit (\d+)\]\n\$$/

/** Whether tmux, which provides the pseudo-terminal, is installed. */
export const hasTmux = spawnSync("tmux", ["-V"]).status === 0

/** The screen output and the exit code of a line. */
export interface Shown {
  readonly text: string
  readonly exit: number
}

/** The control mode of tmux: it reads commands, and writes their output in blocks, and notifications between them. */
class Control {
  /** Called when the shell may have written something. */
  onOutput: () => void = () => undefined
  private readonly client: ChildProcess
  private readonly waiting: Array<(block: ReadonlyArray<string>) => void> = []

  constructor(socket: ReadonlyArray<string>, env: NodeJS.ProcessEnv) {
    this.client = spawn("tmux", [...socket, "-C", "attach-session"], { env, stdio: ["pipe", "pipe", "ignore"] })
    let block: Array<string> | undefined
    createInterface(this.client.stdout!).on("line", (line) => {
      // Of a command that was read: the others are of the client itself.
      if (/^%begin \d+ \d+ 1$/.test(line)) block = []
      else if (block === undefined) this.onOutput()
      else if (/^%(?:end|error) \d+ \d+ 1$/.test(line)) {
        this.waiting.shift()?.(block)
        block = undefined
      } else block.push(line)
    })
  }

  /** Runs a command, whose arguments may contain anything but line ends, and returns its output. */
  run(...command: ReadonlyArray<string>): Promise<ReadonlyArray<string>> {
    return new Promise((resolve) => {
      this.waiting.push(resolve)
      this.client.stdin!.write(`${command.map((word) => `'${word.replaceAll("'", `'"'"'`)}'`).join(" ")}\n`)
    })
  }

  async stop(): Promise<void> {
    const ended = once(this.client, "close")
    this.client.stdin!.write("kill-server\n")
    await ended
  }
}

/** A shell in a pseudo-terminal. */
export class Terminal {
  private readonly folder: string
  private readonly control: Control
  /** The length of the screen before the current line. */
  private begin = 0
  /** The length of the screen up to the last match. */
  private read = 0

  private constructor(folder: string, control: Control) {
    this.folder = folder
    this.control = control
  }

  /** Opens a shell in a folder and waits for its prompt. */
  static async open(place: {
    readonly cwd: string
    readonly env: Readonly<Record<string, string>>
  }): Promise<Terminal> {
    const folder = mkdtempSync(join(tmpdir(), "agentctl-terminal-"))
    const socket = ["-S", join(folder, "socket")]
    const env = { ...place.env, PS1: PROMPT, TERM: "xterm-256color", LC_ALL: "C.UTF-8" }
    await run("tmux", [...socket, "-f", "/dev/null", "new-session", "-d", ...SIZE, "sh", "-i"], { cwd: place.cwd, env })
    const terminal = new Terminal(folder, new Control(socket, env))
    await terminal.ended()
    return terminal
  }

  /** Types a line and Enter. */
  async type(line: string): Promise<void> {
    await this.control.run("send-keys", "-l", line)
    await this.press("Enter")
  }

  /** Presses keys by their tmux names (`Enter`, `C-c`), or types other text. */
  async press(...keys: ReadonlyArray<string>): Promise<void> {
    await this.control.run("send-keys", ...keys)
  }

  /** Waits for a text on the screen after the last match. */
  async until(text: string): Promise<void> {
    await this.look((screen) => {
      const index = screen.indexOf(text, this.read)
      if (index < 0) return undefined
      this.read = index + text.length
      return true
    }, `"${text}" is not on the screen`)
  }

  /** Waits for the next prompt and returns the result of the line. */
  async ended(): Promise<Shown> {
    return this.look((screen) => {
      const prompted = PROMPTED.exec(screen)
      if (prompted === null || screen.length <= this.read) return undefined
      const text = `${screen.slice(this.begin, prompted.index).trimStart()}`
      this.begin = screen.length
      this.read = screen.length
      return { text, exit: Number(prompted[1]) }
    }, "the command has not ended")
  }

  async close(): Promise<void> {
    await this.control.stop()
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** Reads the screen now and after each output until it shows something. */
  private async look<A>(find: (screen: string) => A | undefined, missing: string): Promise<A> {
    const deadline = AbortSignal.timeout(WAIT_MILLIS)
    for (;;) {
      const output = new Promise<void>((resolve) => {
        this.control.onOutput = resolve
        deadline.addEventListener("abort", () => resolve(), { once: true })
      })
      const isLast = deadline.aborted
      const lines = await this.control.run("capture-pane", "-p", "-J", "-S", "-")
      const screen = lines.join("\n").replaceAll(/ +$/gm, "").trimEnd()
      const found = find(screen)
      if (found !== undefined) return found
      if (isLast) throw new Error(`${missing}:\n${screen.slice(this.begin)}`)
      await output
    }
  }
}
