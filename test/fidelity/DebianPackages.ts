import { execFile } from "node:child_process"
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"

const run = promisify(execFile)

/** Where apt finds packages, in one line for each source, with sources instead of binaries. */
const sourceList = async (): Promise<string> => {
  const lines: Array<string> = []
  const folder = "/etc/apt/sources.list.d"
  for (const name of await readdir(folder)) {
    const text = await readFile(join(folder, name), "utf8")
    for (const stanza of text.split(/\n{2,}/)) {
      const field = (key: string) => new RegExp(`^${key}:\\s*(.+)$`, "m").exec(stanza)?.[1]
      const uris = field("URIs")
      if (uris === undefined) continue
      const signed = field("Signed-By")
      const options = signed === undefined ? "" : ` [signed-by=${signed}]`
      for (const suite of (field("Suites") ?? "").split(/\s+/)) {
        lines.push(`deb-src${options} ${uris} ${suite} ${field("Components") ?? "main"}`)
      }
    }
  }
  const classic = await readFile("/etc/apt/sources.list", "utf8").catch(() => "")
  for (const line of classic.split("\n")) if (/^deb\s/.test(line)) lines.push(line.replace(/^deb\s/, "deb-src "))
  return `${lines.join("\n")}\n`
}

export interface UnpackedPackage {
  readonly directory: string
  readonly version: string
}

/** Downloads Debian's packages into a folder of its own. Nothing is installed, and apt's own state stays as it is. */
export class DebianPackages {
  readonly #directory: string
  #options: ReadonlyArray<string> | undefined

  constructor(directory: string) {
    this.#directory = directory
  }

  async #open(): Promise<ReadonlyArray<string>> {
    if (this.#options !== undefined) return this.#options
    const apt = join(this.#directory, "apt")
    await mkdir(join(apt, "lists/partial"), { recursive: true })
    await mkdir(join(apt, "cache/archives/partial"), { recursive: true })
    await writeFile(join(apt, "sources.list"), await sourceList())
    const settings = {
      "Dir::Etc::sourcelist": join(apt, "sources.list"),
      "Dir::Etc::sourceparts": "/dev/null",
      "Dir::State::lists": join(apt, "lists"),
      "Dir::Cache": join(apt, "cache"),
      "APT::Sandbox::User": "root"
    }
    this.#options = Object.entries(settings).flatMap(([key, value]) => ["-o", `${key}=${value}`])
    await run("apt-get", [...this.#options, "update", "-q"], { maxBuffer: 16 << 20 })
    return this.#options
  }

  /** Unpacks the upstream source of a source package. */
  async source(name: string): Promise<UnpackedPackage> {
    const options = await this.#open()
    const directory = join(this.#directory, `source-${name}`)
    await mkdir(directory, { recursive: true })
    // Mirrors may lack the packaging of a source whose name has a plus sign. Only the upstream archive is needed.
    const download = ["source", "--download-only", "-q", name]
    await run("apt-get", [...options, ...download], { cwd: directory, maxBuffer: 16 << 20 }).catch(() => undefined)
    const archive = (await readdir(directory)).find((file) => /\.orig\.tar\.\w+$/.test(file))
    if (archive === undefined) throw new Error(`the source of ${name} has no archive`)
    await run("tar", ["-xf", archive], { cwd: directory })
    return { directory, version: /_([^_]+?)\.orig\.tar/.exec(archive)![1]! }
  }

  /** Returns the name of the first package that a regular expression matches. */
  async named(expression: string): Promise<string> {
    const { stdout } = await run("apt-cache", ["search", "--names-only", expression])
    const [name] = stdout.split(" ")
    if (name === undefined || name === "") throw new Error(`no package is named ${expression}`)
    return name
  }

  /** Unpacks a binary package. */
  async binary(name: string): Promise<UnpackedPackage> {
    const directory = join(this.#directory, `binary-${name}`)
    await mkdir(directory, { recursive: true })
    await run("apt-get", ["-o", "APT::Sandbox::User=root", "download", "-q", name], { cwd: directory })
    const archive = (await readdir(directory)).find((file) => file.endsWith(".deb"))
    if (archive === undefined) throw new Error(`${name} has no archive`)
    await run("dpkg", ["-x", archive, "."], { cwd: directory })
    return { directory, version: decodeURIComponent(archive.split("_")[1]!) }
  }
}
