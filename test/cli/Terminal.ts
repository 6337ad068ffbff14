import { execFile, spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { promisify } from "node:util"

const run = promisify(execFile)
const WAIT_MILLIS = 60_000
const LOOK_MILLIS = 20
/** So wide that no line is wrapped or cut, and so high that few screens scroll. */
const SIZE = ["-x", "240", "-y", "400"]
/** What the shell says when it waits for a line: how the one before has ended. */
const PROMPT = "[exit $?]\n$ "
const PROMPTED = /\[exit (\d+)\]\n\$$/

/** Whether this machine has tmux, without which there is no pseudo-terminal to drive. */
export const hasTmux = spawnSync("tmux", ["-V"]).status === 0

/** What came of a line: everything that stood on the screen for it, and its exit code. */
export interface Shown {
  readonly text: string
  readonly exit: number
}

/** A shell in a pseudo-terminal, which is looked at and typed into as a person does. */
export class Terminal {
  private readonly folder: string
  /** How much of the screen belongs to the lines before. */
  private begin = 0
  /** How much of it was read already. */
  private read = 0

  private constructor(folder: string) {
    this.folder = folder
  }

  /** Opens it in a folder, and waits until the shell takes a line. */
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

  /** It grows when something was shown: to look at the screen itself takes a process each time. */
  private get log(): string {
    return join(this.folder, "log")
  }

  /** Types a line, and Enter. */
  async type(line: string): Promise<void> {
    await run("tmux", [...this.socket, "send-keys", "-l", line])
    await this.press("Enter")
  }

  /** Presses keys, by their names in tmux: `Enter`, `C-c`; any other text is typed. */
  async press(...keys: ReadonlyArray<string>): Promise<void> {
    await run("tmux", [...this.socket, "send-keys", ...keys])
  }

  /** Waits until a text stands on the screen behind what was waited for before. */
  async until(text: string): Promise<void> {
    await this.look((screen) => {
      const index = screen.indexOf(text, this.read)
      if (index < 0) return undefined
      this.read = index + text.length
      return true
    }, `"${text}" does not stand on the screen`)
  }

  /** Waits until the line has ended and the shell takes another one. */
  async ended(): Promise<Shown> {
    return this.look((screen) => {
      const prompted = PROMPTED.exec(screen)
      if (prompted === null || screen.length <= this.read) return undefined
      const text = `${screen.slice(this.begin, prompted.index).trimStart()}`
      this.begin = screen.length
      this.read = screen.length
      return { text, exit: Number(prompted[1]) }
    }, "the line has not ended")
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
