import { execFile, spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { promisify } from "node:util"

const run = promisify(execFile)
/** The first start of a sandbox took over 60 s beside other suites on a slow host. */
const WAIT_MILLIS = 180_000
const LOOK_MILLIS = 20
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

/** A shell in a pseudo-terminal. */
export class Terminal {
  private readonly folder: string
  /** The length of the screen before the current line. */
  private begin = 0
  /** The length of the screen up to the last match. */
  private read = 0

  private constructor(folder: string) {
    this.folder = folder
  }

  /** Opens a shell in a folder and waits for its prompt. */
  static async open(place: {
    readonly cwd: string
    readonly env: Readonly<Record<string, string>>
  }): Promise<Terminal> {
    const terminal = new Terminal(mkdtempSync(join(tmpdir(), "agentctl-terminal-")))
    writeFileSync(terminal.log, "")
    const opening = ["-f", "/dev/null", "new-session", "-d", ...SIZE, "sh", "-i"]
    await run("tmux", [...terminal.socket, ...opening, ";", "pipe-pane", "-O", `cat >> '${terminal.log}'`], {
      cwd: place.cwd,
      env: { ...place.env, PS1: PROMPT, TERM: "xterm-256color", LC_ALL: "C.UTF-8" }
    })
    await terminal.ended()
    return terminal
  }

  private get socket(): ReadonlyArray<string> {
    return ["-S", join(this.folder, "socket")]
  }

  /** Grows with each output. Capturing the screen instead would start a process each time. */
  private get log(): string {
    return join(this.folder, "log")
  }

  /** Types a line and Enter. */
  async type(line: string): Promise<void> {
    await run("tmux", [...this.socket, "send-keys", "-l", line])
    await this.press("Enter")
  }

  /** Presses keys by their tmux names (`Enter`, `C-c`), or types other text. */
  async press(...keys: ReadonlyArray<string>): Promise<void> {
    await run("tmux", [...this.socket, "send-keys", ...keys])
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
    await run("tmux", [...this.socket, "kill-server"])
    rmSync(this.folder, { recursive: true, force: true })
  }

  private async look<A>(find: (screen: string) => A | undefined, missing: string): Promise<A> {
    const deadline = Date.now() + WAIT_MILLIS
    for (let size = -1; ;) {
      const grown = statSync(this.log).size
      const isLast = Date.now() > deadline
      if (grown !== size || isLast) {
        size = grown
        const { stdout } = await run("tmux", [...this.socket, "capture-pane", "-p", "-J", "-S", "-"])
        const screen = stdout.replaceAll(/ +$/gm, "").trimEnd()
        const found = find(screen)
        if (found !== undefined) return found
        if (isLast) throw new Error(`${missing}:\n${screen.slice(this.begin)}`)
      }
      await sleep(LOOK_MILLIS)
    }
  }
}
