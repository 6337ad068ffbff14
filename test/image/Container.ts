import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import type { Image } from "./Image.ts"

/** Directories that a container engine mounts. */
const MOUNTS = ["proc", "dev", "etc", "files"]
const DEVICES = ["null", "zero", "random", "urandom"]

/** Of chroot. Its user loses them, and cannot get them back. */
const CAPABILITIES = "-all,+sys_chroot,+setuid,+setgid"

/**
 * Parameters: the root of the image; a directory to mount at /files; one to mount at /data, writable, or nothing. Then the
 * command follows.
 */
const ENTER = `
root=$1; files=$2; data=$3; shift 3
mount --make-rprivate /
mount --bind "$root" "$root"
mount --bind "$files" "$root/files"
mount --bind /etc/resolv.conf "$root/etc/resolv.conf"
mount --bind /etc/hosts "$root/etc/hosts"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=755,size=64k tmpfs "$root/dev"
for device in ${DEVICES.join(" ")}; do touch "$root/dev/$device"; mount --bind "/dev/$device" "$root/dev/$device"; done
for path in "$root/files" "$root/dev" "$root"; do mount -o remount,bind,ro "$path"; done
if [ -n "$data" ]; then mount --bind "$data" "$root/data"; fi
exec "$@"
`

/**
 * A process in the files of an image: as its user without capabilities, in namespaces of its own but that of the network,
 * with everything but its volume mounted read-only.
 */
export class Container {
  private readonly image: Image
  private readonly environment: Readonly<Record<string, string>>
  private readonly process: ChildProcess
  readonly ended: Promise<number>
  /** Its output and log so far. */
  output = ""

  constructor(image: Image, settings: Readonly<Record<string, string>>, filesDirectory: string, volume = "") {
    this.image = image
    this.environment = { ...image.environment, ...settings }
    for (const name of MOUNTS) mkdirSync(join(image.root, name), { recursive: true })
    for (const name of ["resolv.conf", "hosts"]) spawnSync("touch", [join(image.root, "etc", name)])
    const namespaces = ["--mount", "--pid", "--ipc", "--uts", "--fork", "--kill-child"]
    this.process = spawn(
      "unshare",
      [
        ...namespaces,
        "sh",
        "-ec",
        ENTER,
        "sh",
        image.root,
        filesDirectory,
        volume,
        ...this.unprivileged(image.command)
      ],
      { stdio: ["ignore", "pipe", "pipe"] }
    )
    this.ended = once(this.process, "exit").then(([status]) => Number(status))
    for (const stream of [this.process.stdout, this.process.stderr])
      stream?.setEncoding("utf8").on("data", (text: string) => (this.output += text))
  }

  /** Runs a command in the same namespaces as the same user; returns its exit status and output. */
  execute(command: ReadonlyArray<string>): { readonly status: number | null; readonly output: string } {
    const target = ["--target", String(this.pid()), "--mount", "--pid", "--ipc", "--uts"]
    const parameters = [...target, ...this.unprivileged(command)]
    const { status, stderr, stdout } = spawnSync("nsenter", parameters, { encoding: "utf8" })
    return { status, output: stdout + stderr }
  }

  /** Sends SIGTERM to the server. */
  async stop(): Promise<number> {
    if (this.process.exitCode === null) process.kill(this.pid(), "SIGTERM")
    return this.ended
  }

  /** Ends everything. Idempotent. */
  kill(): void {
    this.process.kill("SIGKILL")
  }

  /** The first process of the container, seen from outside. */
  private pid(): number {
    const { stdout } = spawnSync("pgrep", ["--parent", String(this.process.pid)], { encoding: "utf8" })
    return Number(stdout.trim())
  }

  private unprivileged(command: ReadonlyArray<string>): ReadonlyArray<string> {
    const { root, user } = this.image
    const settings = Object.entries(this.environment).map(([name, value]) => `${name}=${value}`)
    const environment = ["/usr/bin/env", "-i", ...settings]
    const privileges = ["/usr/bin/setpriv", "--no-new-privs", "--inh-caps=-all", `--bounding-set=${CAPABILITIES}`]
    const files = ["/usr/sbin/chroot", `--userspec=${user.uid}:${user.gid}`, "--groups=", root]
    return [...environment, ...privileges, ...files, ...command]
  }
}
