import { execFile, spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { vi } from "vitest"

const run = promisify(execFile)
const WAIT_MILLIS = 60_000

/** Whether this machine has tmux, without which there is no pseudo-terminal to drive. */
export const hasTmux = spawnSync("tmux", ["-V"]).status === 0

/** A terminal of 120 columns, in which a command line runs as if somebody had typed it. */
export class Terminal {
  private readonly folder: string

  private constructor(folder: string) {
    this.folder = folder
  }

  /** Runs a line of a shell in a terminal of its own. When it has ended, its exit code stands there as `[exit 0]`. */
  static async open(line: string, env: Readonly<Record<string, string>>): Promise<Terminal> {
    const folder = mkdtempSync(join(tmpdir(), "agentctl-terminal-"))
    const terminal = new Terminal(folder)
    // The shell stays, so that what was printed can be read.
    const script = `${line}; echo "[exit $?]"; exec cat`
    const size = ["-x", "120", "-y", "50"]
    await run("tmux", [...terminal.socket, "-f", "/dev/null", "new-session", "-d", ...size, "sh", "-c", script], {
      env: { ...env, TERM: "xterm-256color", LC_ALL: "C.UTF-8" }
    })
    return terminal
  }

  private get socket(): ReadonlyArray<string> {
    return ["-S", join(this.folder, "socket")]
  }

  /** What stands on the screen. */
  async screen(): Promise<string> {
    const { stdout } = await run("tmux", [...this.socket, "capture-pane", "-p", "-J"])
    return stdout
  }

  /** Waits until a text stands on the screen, and gives the screen. */
  async until(text: string): Promise<string> {
    return vi.waitFor(
      async () => {
        const screen = await this.screen()
        if (!screen.includes(text)) throw new Error(`"${text}" does not stand on the screen:\n${screen}`)
        return screen
      },
      { timeout: WAIT_MILLIS, interval: 100 }
    )
  }

  /** Presses keys, by their names in tmux: `Enter`, `C-c`; any other text is typed. */
  async press(...keys: ReadonlyArray<string>): Promise<void> {
    await run("tmux", [...this.socket, "send-keys", ...keys])
  }

  async close(): Promise<void> {
    await run("tmux", [...this.socket, "kill-server"])
    rmSync(this.folder, { recursive: true, force: true })
  }
}
