import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { familyOf } from "../support/Processes.ts"

const MAIN = fileURLToPath(new URL("../../packages/cli/src/main.ts", import.meta.url))

/** Whether the command of an event always fails, by the end of its id. */
export const isPoison = (eventId: string): boolean => eventId.endsWith("e7")

/**
 * The command for an event. It records its start first and its end last. Depending on the id it fails at the first
 * attempt, always fails, or takes a while, so that a kill can hit it. If the tail is killed before it writes the event, the
 * command reads no complete line and fails.
 */
const COMMAND = `
echo "$AGENTOS_EVENT_ID" >> begun
case "$AGENTOS_EVENT_ID" in
  *e7) exit 1 ;;
  *a7) if [ ! -e "tried-$AGENTOS_EVENT_ID" ]; then : > "tried-$AGENTOS_EVENT_ID"; exit 1; fi ;;
  *3) sleep 0.2 ;;
esac
read -r event || exit 1
case "$event" in *"$AGENTOS_EVENT_ID"*) echo "$AGENTOS_EVENT_ID" >> done ;; *) echo "$AGENTOS_EVENT_ID" >> wrong ;; esac`

/** Runs `agentctl events tail --exec`, which can be killed and restarted. */
export class TailProgram {
  readonly #folder: string
  readonly #environment: Readonly<Record<string, string>>
  readonly #jobs: number
  #child: ChildProcess | undefined
  #said = ""

  constructor(folder: string, environment: Readonly<Record<string, string>>, jobs: number) {
    mkdirSync(folder, { recursive: true })
    this.#folder = folder
    this.#environment = environment
    this.#jobs = jobs
  }

  start(): void {
    const child = spawn(process.execPath, [MAIN, "events", "tail", "--jobs", String(this.#jobs), "--exec", COMMAND], {
      cwd: this.#folder,
      env: { PATH: process.env["PATH"] ?? "", AGENTOS_HOME: join(this.#folder, "home"), ...this.#environment },
      stdio: ["ignore", "ignore", "pipe"]
    })
    child.stderr.setEncoding("utf8").on("data", (text: string) => (this.#said = `${this.#said}${text}`.slice(-20_000)))
    this.#child = child
  }

  /** Kills the tail, and with `all` also its running command, without any cleanup. */
  async kill(all: boolean): Promise<void> {
    const child = this.#running()
    const exited = once(child, "exit")
    const family = all ? familyOf(child.pid!) : [child.pid!]
    for (const pid of family)
      try {
        process.kill(pid, "SIGKILL")
      } catch (error) {
        // A command may have exited meanwhile.
        if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error
      }
    await exited
  }

  /** Sends SIGINT and returns the exit code. */
  async interrupt(): Promise<number | null> {
    const child = this.#running()
    const exited = once(child, "exit")
    child.kill("SIGINT")
    await exited
    return child.exitCode
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** The last part of standard error. */
  get said(): string {
    return this.#said
  }

  /** Returns the event ids that the commands have recorded, in order. */
  noted(what: "begun" | "done" | "wrong"): ReadonlyArray<string> {
    const file = join(this.#folder, what)
    return existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : []
  }

  #running(): ChildProcess {
    if (this.#child !== undefined && this.isRunning) return this.#child
    throw new Error(`the tail ended by itself:\n${this.#said}`)
  }
}
