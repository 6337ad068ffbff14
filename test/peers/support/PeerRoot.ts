import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { promisify } from "node:util"

const run = promisify(execFile)

const OUTPUT_BYTES_MAX = 16 * 1024 * 1024

/**
 * Parameters: an empty folder; the folder to mount as /peer. Names resolve by /etc/hosts alone: no DNS server is
 * configured. The container ends with its input.
 */
const ENTER = `
folder=$1; shared=$2; root=$folder/root
mkdir "$folder/upper" "$folder/work" "$root"
mount --make-rprivate /
mount -t overlay overlay -o "lowerdir=/,upperdir=$folder/upper,workdir=$folder/work" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
printf '#!/bin/sh\\nexit 101\\n' > "$root/usr/sbin/policy-rc.d"
chmod 755 "$root/usr/sbin/policy-rc.d"
mkdir -p "$root/peer"
mount --bind "$shared" "$root/peer"
echo ready
cat > "$folder/input"
`

/** Installs packages, and then removes access to other hosts. */
const INSTALL = `
export DEBIAN_FRONTEND=noninteractive
install() { apt-get -o APT::Sandbox::User=root install -y -q --no-install-recommends "$@"; }
install "$@" || { apt-get -o APT::Sandbox::User=root update -q && install "$@"; }
echo 'nameserver 127.0.0.1' > /peer/resolv.conf
printf '127.0.0.1 localhost peer.test\\n::1 localhost\\n' > /peer/hosts
mount --bind /peer/resolv.conf /etc/resolv.conf
mount --bind /peer/hosts /etc/hosts
`

export interface Ended {
  readonly status: number | null
  /** Its output and its errors. */
  readonly output: string
}

/**
 * Debian's packages, installed over the files of this machine in namespaces of their own: nothing on the machine changes,
 * and servers that exclude each other run side by side. Only the network is shared.
 */
export class PeerRoot {
  readonly #folder: string
  /** A folder that is mounted as /peer. */
  readonly shared: string
  readonly #container: ChildProcess
  readonly #daemons: Array<ChildProcess> = []
  #log = ""
  #pid = 0

  private constructor(folder: string) {
    this.#folder = folder
    this.shared = join(folder, "shared")
    this.#container = spawn(
      "unshare",
      ["--mount", "--pid", "--ipc", "--fork", "--kill-child", "sh", "-ec", ENTER, "sh", folder, this.shared],
      { stdio: ["pipe", "pipe", "inherit"] }
    )
  }

  static async open(packages: ReadonlyArray<string>): Promise<PeerRoot> {
    const folder = await mkdtemp(join(tmpdir(), "agentos-peer-"))
    await chmod(folder, 0o755)
    await mkdir(join(folder, "shared"))
    const root = new PeerRoot(folder)
    try {
      const ended = once(root.#container, "exit").then(() => Promise.reject(new Error("the container ended")))
      await Promise.race([once(root.#container.stdout!, "data"), ended])
      const { stdout } = await run("pgrep", ["--parent", String(root.#container.pid)])
      root.#pid = Number(stdout)
      await root.sh(INSTALL, ...packages)
      return root
    } catch (error) {
      await root.close()
      throw error
    }
  }

  /** Writes a file below /peer, and returns its path there. */
  async write(name: string, text: string, mode = 0o644): Promise<string> {
    const file = join(this.shared, name)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
    await chmod(file, mode)
    return join("/peer", name)
  }

  /** Runs a command to its end. */
  async run(command: ReadonlyArray<string>, input = ""): Promise<Ended> {
    const child = this.#spawn(command)
    let output = ""
    for (const stream of [child.stdout!, child.stderr!])
      stream.setEncoding("utf8").on("data", (text: string) => {
        if (output.length < OUTPUT_BYTES_MAX) output += text
      })
    child.stdin!.on("error", () => undefined).end(input)
    const [status] = (await once(child, "close")) as [number | null]
    return { status, output }
  }

  /** Runs a shell script, and returns its output. Rejects with it if a command of the script fails. */
  async sh(script: string, ...parameters: ReadonlyArray<string>): Promise<string> {
    const { output, status } = await this.run(["sh", "-ec", script, "sh", ...parameters])
    if (status !== 0) throw new Error(`status ${status} of ${script}\n${output}`)
    return output
  }

  /** Starts a program that runs until the root is closed. */
  start(command: ReadonlyArray<string>): void {
    const process = this.#spawn(command)
    for (const stream of [process.stdout!, process.stderr!])
      stream.setEncoding("utf8").on("data", (text: string) => (this.#log += text))
    this.#daemons.push(process)
  }

  /** The output of the started programs so far. */
  log(): string {
    return this.#log
  }

  async close(): Promise<void> {
    if (this.#container.exitCode === null && this.#container.signalCode === null) {
      const ended = once(this.#container, "exit")
      this.#container.kill("SIGKILL")
      await ended
    }
    const running = this.#daemons.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)
    await Promise.all(running.map((process) => once(process, "close")))
    await rm(this.#folder, { recursive: true, force: true })
  }

  #spawn(command: ReadonlyArray<string>): ChildProcess {
    const target = ["--target", String(this.#pid), "--mount", "--pid", "--ipc"]
    return spawn("nsenter", [...target, "chroot", join(this.#folder, "root"), ...command], {
      stdio: "pipe",
      env: { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", LANG: "C.UTF-8", HOME: "/root" }
    })
  }
}

/** Returns why packages can't be installed here; undefined if they can. */
const obstacleOf = (packages: ReadonlyArray<string>): string | undefined => {
  if (process.getuid?.() !== 0) return "needs root"
  if (spawnSync("unshare", ["--mount", "--pid", "--fork", "true"]).status !== 0) return "needs unshare"
  const missing = packages.find((name) => spawnSync("apt-cache", ["show", "--no-all-versions", name]).status !== 0)
  return missing === undefined ? undefined : `needs Debian's package ${missing}; run apt-get update`
}

export interface Peer {
  /** Undefined if its tests have to be skipped. */
  readonly root: PeerRoot | undefined
  /** For the title of its tests: the version, or the reason why they are skipped. */
  readonly title: string
}

/** Installs a server from Debian's packages, of which the first names it. */
export const installPeer = async (...packages: readonly [string, ...ReadonlyArray<string>]): Promise<Peer> => {
  const [name] = packages
  const skip = (reason: string): Peer => {
    process.stderr.write(`Tests of ${name} are skipped: ${reason}\n`)
    return { root: undefined, title: `${name} (skipped: ${reason})` }
  }
  const obstacle = obstacleOf(packages)
  if (obstacle !== undefined) return skip(obstacle)
  try {
    const root = await PeerRoot.open(packages)
    const version = await root.sh('dpkg-query --show --showformat "\\${Version}" "$1"', name)
    return { root, title: `${name} ${version}` }
  } catch (error) {
    return skip(`Debian's package ${name} can't be installed: ${String(error).slice(-500)}`)
  }
}
