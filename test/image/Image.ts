import { execFileSync, spawnSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url))

/** Debian's packages with the programs that build the image. */
export const PACKAGES = ["buildah", "debootstrap"]

const AUTHORITIES = "/etc/ssl/authorities.pem"

/** A built image with its files in a folder. */
export interface Image {
  readonly root: string
  /** Of its files, in bytes. */
  readonly size: number
  readonly user: { readonly uid: number; readonly gid: number }
  readonly environment: Readonly<Record<string, string>>
  readonly command: ReadonlyArray<string>
  readonly healthCheck: ReadonlyArray<string>
}

/** The part of Docker's image configuration that is used here. */
interface DockerConfig {
  readonly User: string
  readonly Env: ReadonlyArray<string>
  readonly Entrypoint: ReadonlyArray<string>
  readonly Cmd: ReadonlyArray<string>
  readonly Healthcheck: { readonly Test: ReadonlyArray<string> }
}

/** Runs the steps of a Dockerfile with buildah, whose isolation here is chroot, for lack of a container engine. */
export class ImageBuilder {
  private readonly folder: string

  /** A folder for the storage of buildah and the base image, which may be kept for the next build. */
  constructor(folder: string) {
    this.folder = folder
    mkdirSync(folder, { recursive: true })
  }

  /** Builds the image of `deploy/Dockerfile`, on a base of Debian's packages in place of the base that it names. */
  build(base: string, tag: string): Image {
    this.makeBase(base)
    const isolation = ["--isolation", "chroot", "--format", "docker", "--pull-never", "--layers=false"]
    this.buildah("bud", ...isolation, "--tag", tag, "--file", join(REPOSITORY, "deploy/Dockerfile"), REPOSITORY)
    const container = this.buildah("from", "--pull-never", tag)
    const root = this.buildah("mount", container)
    const { Docker } = JSON.parse(this.buildah("inspect", "--type", "image", tag)) as {
      readonly Docker: { readonly config: DockerConfig }
    }
    const { Cmd, Entrypoint, Env, Healthcheck, User } = Docker.config
    const [uid = 0, gid = 0] = User.split(":").map(Number)
    return {
      root,
      size: Number(execFileSync("du", ["--summarize", "--bytes", root], { encoding: "utf8" }).split("\t")[0]),
      user: { uid, gid },
      environment: Object.fromEntries(Env.map((entry) => entry.split(/=(.*)/s).slice(0, 2))),
      command: [...Entrypoint, ...Cmd],
      healthCheck: Healthcheck.Test.slice(1)
    }
  }

  /** Removes the images and containers, and keeps the base. */
  clean(): void {
    spawnSync("buildah", [...this.storage, "rm", "--all"])
    for (const name of ["storage", "run"]) rmSync(join(this.folder, name), { recursive: true, force: true })
  }

  /** Makes a Debian with Node and npm, as Docker's image `node:VERSION-bookworm-slim` is one. */
  private makeBase(tag: string): void {
    const root = join(this.folder, "debian")
    if (!existsSync(join(root, "usr/local/bin/npx"))) {
      rmSync(root, { recursive: true, force: true })
      run("debootstrap", "--variant=minbase", "bookworm", root)
      cpSync(nodeBinary(), join(root, "usr/local/bin/node"))
      const npm = join(dirname(execFileSync("readlink", ["-f", npmPath()], { encoding: "utf8" }).trim()), "..")
      cpSync(npm, join(root, "usr/local/lib/node_modules/npm"), { recursive: true })
      for (const name of ["npm", "npx"])
        symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(root, "usr/local/bin", name))
    }
    const container = this.buildah("from", "scratch")
    this.buildah("add", "--quiet", container, root, "/")
    // On a machine whose connections to the registry end at a proxy.
    const authorities = process.env["NODE_EXTRA_CA_CERTS"]
    if (authorities !== undefined) {
      this.buildah("add", "--quiet", container, authorities, AUTHORITIES)
      this.buildah("config", "--env", `NODE_EXTRA_CA_CERTS=${AUTHORITIES}`, container)
    }
    this.buildah("commit", "--quiet", container, tag)
    this.buildah("rm", container)
  }

  private get storage(): ReadonlyArray<string> {
    const folders = ["--root", join(this.folder, "storage"), "--runroot", join(this.folder, "run")]
    return [...folders, "--storage-driver", "vfs"]
  }

  private buildah(...parameters: ReadonlyArray<string>): string {
    return run("buildah", ...this.storage, ...parameters)
  }
}

/** The Node of this workspace, whose version the Dockerfile names. */
const nodeBinary = (): string =>
  createRequire(join(REPOSITORY, "package.json")).resolve(`node-linux-${process.arch}/bin/node`)

const npmPath = (): string => execFileSync("which", ["npm"], { encoding: "utf8" }).trim()

const run = (program: string, ...parameters: ReadonlyArray<string>): string => {
  const { error, status, stderr, stdout } = spawnSync(program, parameters, {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024
  })
  if (error !== undefined) throw error
  if (status !== 0) throw new Error(`${program} ${parameters.join(" ")} failed:\n${stdout}\n${stderr}`)
  return stdout.trim()
}
