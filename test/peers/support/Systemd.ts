import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { promisify } from "node:util"
import { childrenOf } from "../../support/Processes.ts"

const run = promisify(execFile)
const PROGRAM = "/lib/systemd/systemd"

/** Why systemd can't run services here; undefined if it can. */
export const MISSING_SYSTEMD = !existsSync(PROGRAM)
  ? "needs Debian's systemd"
  : spawnSync("unshare", ["--pid", "--fork", "--mount", "--cgroup", "true"]).status !== 0
    ? "needs root and namespaces"
    : undefined

/** Parameter: the folder of the units. The environment is that of a container. */
const BOOT = `
mount --make-rprivate /
mount -t proc proc /proc
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /dev/shm
mkdir -p /run/systemd
exec env -i container=docker PATH="$PATH" SYSTEMD_UNIT_PATH="$1" ${PROGRAM} --system --unit=test.target
`

/** A systemd with units of the test, in namespaces of its own. It shares files and the network with this machine. */
export class Systemd {
  readonly #folder: string
  readonly #container: ChildProcess
  readonly #pid: number

  private constructor(folder: string, container: ChildProcess, pid: number) {
    this.#folder = folder
    this.#container = container
    this.#pid = pid
  }

  /** Starts it with units by the names of their files. */
  static async boot(units: Readonly<Record<string, string>>): Promise<Systemd> {
    const folder = await mkdtemp(join(tmpdir(), "agentos-systemd-"))
    const all = { "test.target": "[Unit]\nDescription=Test\n", ...units }
    for (const [name, text] of Object.entries(all)) {
      const file = join(folder, name)
      await mkdir(join(file, ".."), { recursive: true })
      await writeFile(file, text)
    }
    const namespaces = ["--pid", "--fork", "--kill-child", "--mount", "--uts", "--ipc", "--cgroup"]
    const container = spawn("unshare", [...namespaces, "sh", "-c", BOOT, "sh", folder], { stdio: "ignore" })
    for (;;) {
      const [pid] = childrenOf(container.pid!)
      const systemd = new Systemd(folder, container, pid ?? 0)
      const state = pid === undefined ? "" : await systemd.control("is-system-running")
      if (/running|degraded/.test(state)) return systemd
      await sleep(100)
    }
  }

  /** Runs systemctl and returns its output and its errors, also if it fails. */
  async control(...parameters: ReadonlyArray<string>): Promise<string> {
    const inside = ["--target", String(this.#pid), "--all", "systemctl", ...parameters]
    const { stderr, stdout } = await run("nsenter", inside).catch((failed: Awaited<ReturnType<typeof run>>) => failed)
    return `${String(stdout)}${String(stderr)}`.trim()
  }

  /** Returns a property of a unit. */
  show(unit: string, property: string): Promise<string> {
    return this.control("show", unit, "--value", "--property", property)
  }

  /** Sends a signal to the main process of a unit. */
  signal(unit: string, signal: string): Promise<string> {
    return this.control("kill", "--kill-who=main", `--signal=${signal}`, unit)
  }

  async stop(): Promise<void> {
    const ended = once(this.#container, "exit")
    // The processes of a namespace end with its first one.
    process.kill(this.#pid, "SIGKILL")
    await ended
    await rm(this.#folder, { recursive: true })
  }
}
