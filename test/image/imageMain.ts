/**
 * Builds the image of `deploy/Dockerfile` and uses it: a server in it, read-only and without privileges, sells a mailbox
 * and receives a mail. Needs root, Debian's packages and the package registry. Ends with the size of the image.
 */
import { spawnSync } from "node:child_process"
import { chmodSync, chownSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { createTransport } from "nodemailer"
import { Agent } from "../support/Agent.ts"
import { startCluster } from "../support/Cluster.ts"
import { Container } from "./Container.ts"
import { type Image, ImageBuilder, PACKAGES } from "./Image.ts"

const SIZE_MAX = 250 * 1024 * 1024
const START_MILLIS_MAX = 30_000
const POLL_MILLIS = 250
const TAG = "localhost/agentos-server"

const MIB = 1024 * 1024

const log = (text: string): void => void process.stdout.write(`${text}\n`)

const expect = (isTrue: boolean, text: string): void => {
  if (!isTrue) throw new Error(`failed: ${text}`)
  log(`ok: ${text}`)
}

const until = async (isTrue: () => boolean | Promise<boolean>, text: string): Promise<void> => {
  const deadline = performance.now() + START_MILLIS_MAX
  while (!(await isTrue())) {
    if (performance.now() > deadline) throw new Error(`timed out: ${text}`)
    await sleep(POLL_MILLIS)
  }
  log(`ok: ${text}`)
}

/** The settings of a server of a cluster for the image: with the files that they name at /files. */
const settingsOf = (
  environment: Readonly<Record<string, string | undefined>>,
  filesDirectory: string
): Readonly<Record<string, string>> => {
  const names = Object.keys(environment).filter((name) => /^(AGENTOS_|DATABASE_URL$)/.test(name))
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = environment[name] ?? ""
      if (name === "AGENTOS_AGENT_WEBHOOK_ALLOW" || name.startsWith("AGENTOS_SANDBOX_")) return []
      if (!name.endsWith("_FILE")) return [[name, value]]
      copyFileSync(value, join(filesDirectory, name))
      chmodSync(join(filesDirectory, name), 0o644)
      return [[name, `/files/${name}`]]
    })
  )
}

const isHealthy = (container: Container, image: Image) => () => container.execute(image.healthCheck).status === 0

const tryEmbedded = async (image: Image, settings: Readonly<Record<string, string>>, folder: string): Promise<void> => {
  const volume = join(folder, "volume")
  mkdirSync(volume)
  chownSync(volume, image.user.uid, image.user.gid)
  const embedded = { ...settings, DATABASE_URL: "", AGENTOS_DATA_DIR: "/data" }
  const container = new Container(image, embedded, folder, volume)
  try {
    await until(isHealthy(container, image), "the health check passes with an embedded database in a volume")
    expect((await container.stop()) === 0, "the server ends at SIGTERM")
  } catch (error) {
    log(container.output)
    throw error
  } finally {
    container.kill()
  }
}

const tryServer = async (builder: ImageBuilder, filesDirectory: string): Promise<void> => {
  const base = /^FROM (\S+)/m.exec(readFileSync(new URL("../../deploy/Dockerfile", import.meta.url), "utf8"))?.[1]
  log(`building on a base of Debian's packages in place of ${base}`)
  const image = builder.build(base ?? "", TAG)
  const cluster = await startCluster({ servers: 1 })
  const [server] = cluster.servers
  await server!.stop()
  const settings = settingsOf(server!.environment(), filesDirectory)
  const container = new Container(image, settings, filesDirectory)
  try {
    await until(isHealthy(container, image), "the health check passes")
    const status = container.execute(["node", "-p", "require('fs').readFileSync('/proc/1/status', 'utf8')"]).output
    expect(/^Uid:\s10001\s10001\s10001\s10001$/m.test(status), "the server runs as 10001")
    expect(
      /^CapPrm:\s0+\nCapEff:\s0+$/m.test(status) && /^NoNewPrivs:\s1$/m.test(status),
      "the server has no privileges"
    )
    for (const path of ["/x", "/app/x", "/data/x", "/dev/x"]) {
      const { output } = container.execute(["node", "-e", `require("fs").writeFileSync("${path}", "")`])
      expect(/EROFS|EACCES/.test(output), `${path} cannot be written`)
    }
    const agent = new Agent(server!, cluster.chain.wallets[0]!.privateKey)
    const mailbox = await agent.createMailbox("ada")
    log(`ok: sold ${mailbox.address}`)
    const transport = createTransport({ ...server!.mail, tls: { rejectUnauthorized: false } })
    await transport.sendMail({ from: "friend@outside.example", to: mailbox.address, subject: "Hello", text: "Hello." })
    await until(async () => {
      const { body } = await agent.send({ path: `/api/v1/email/messages/query?mailboxId=${mailbox.mailboxId}` })
      return (body.data["items"] as unknown as ReadonlyArray<unknown>).length === 1
    }, "the mailbox received a mail")
    expect((await container.stop()) === 0, "the server ends at SIGTERM")
    await tryEmbedded(image, settings, filesDirectory)
    const size = `${(image.size / MIB).toFixed(1)} MiB`
    expect(image.size < SIZE_MAX, `the image is smaller than ${SIZE_MAX / MIB} MiB: ${size}`)
  } catch (error) {
    log(container.output)
    throw error
  } finally {
    container.kill()
    await cluster.stop()
  }
}

const missing = PACKAGES.filter((name) => spawnSync(name, ["--version"]).error !== undefined)
if (process.getuid?.() !== 0 || missing.length > 0) {
  process.stderr.write(`image: run it as root, after: apt-get install --no-install-recommends ${PACKAGES.join(" ")}\n`)
  process.exitCode = 2
} else {
  // Debian's base takes half of the time, so a later run finds it.
  const builder = new ImageBuilder(join(tmpdir(), "agentos-image"))
  const filesDirectory = mkdtempSync(join(tmpdir(), "agentos-image-files-"))
  chmodSync(filesDirectory, 0o755)
  try {
    await tryServer(builder, filesDirectory)
  } finally {
    builder.clean()
    rmSync(filesDirectory, { recursive: true, force: true })
  }
}
