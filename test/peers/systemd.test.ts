import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { type Cluster, startCluster } from "../support/Cluster.ts"
import { MISSING_SYSTEMD, Systemd } from "./support/Systemd.ts"

const ROOT = fileURLToPath(new URL("../..", import.meta.url))
const UNIT = "agentos.service"

/** The differences: the account, and the place of program, settings and log, which are in the folder of temporary files. */
const dropIn = (folder: string) => `[Unit]
DefaultDependencies=no
[Service]
User=root
Group=root
EnvironmentFile=
EnvironmentFile=${folder}/agentos.env
ExecStart=
ExecStart=${process.execPath} --inspect-port=0 ${ROOT}packages/server/src/main.ts start
StandardOutput=append:${folder}/output
StandardError=append:${folder}/log
PrivateTmp=no
`

/** Bounds a hang. The limits of the server add up to 33 s. */
const PATIENT = { timeout: 90_000, interval: 50 }

describe.skipIf(MISSING_SYSTEMD !== undefined)(
  `systemd${MISSING_SYSTEMD === undefined ? "" : `: ${MISSING_SYSTEMD}`}`,
  () => {
    let cluster: Cluster
    let folder: string
    let systemd: Systemd
    let baseUrl: string
    const log = () => readFile(join(folder, "log"), "utf8").catch(() => "no log")

    beforeAll(async () => {
      cluster = await startCluster({ servers: 1 })
      const [server] = cluster.servers
      baseUrl = server!.baseUrl
      await server!.stop()
      folder = await mkdtemp(join(tmpdir(), "agentos-unit-"))
      const environment = { ...server!.environment(), NODE_OPTIONS: process.env["NODE_OPTIONS"] }
      const lines = Object.entries(environment).map(([name, value]) => `${name}=${value ?? ""}\n`)
      await writeFile(join(folder, "agentos.env"), lines.join(""))
      systemd = await Systemd.boot({
        [UNIT]: await readFile(join(ROOT, "deploy", UNIT), "utf8"),
        [`${UNIT}.d/test.conf`]: dropIn(folder)
      })
    })
    afterAll(async () => {
      await systemd?.stop()
      await cluster?.stop()
      if (folder !== undefined) await rm(folder, { recursive: true })
    })

    const answers = () =>
      fetch(`${baseUrl}/health/live`).then(
        ({ status }) => status,
        () => 0
      )

    it("counts the server as started once it serves", async () => {
      expect(await systemd.control("start", UNIT)).toBe("")
      expect(await answers()).toBe(200)
      expect(await systemd.show(UNIT, "ActiveState")).toBe("active")
    })

    it.each([
      ["for (;;);", "busy"],
      ["Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)", "waiting"]
    ])("runs another server after the event loop is blocked by %s", async (code, kind) => {
      const before = Number(await systemd.show(UNIT, "NRestarts"))
      await systemd.signal(UNIT, "SIGUSR1")
      const debuggers = async () => [...(await log()).matchAll(/ws:\/\/\S+/g)].map(([url]) => url)
      await vi.waitFor(async () => expect(await debuggers()).toHaveLength(before + 1), PATIENT)
      const socket = new WebSocket((await debuggers()).at(-1)!)
      await new Promise((resolve) => (socket.onopen = resolve))
      const ended = new Promise((resolve) => (socket.onclose = resolve))
      // Not in the turn of the debugger, which would not answer to the watchdog then.
      const expression = `setTimeout(function blocked() { ${code} })`
      socket.send(JSON.stringify({ id: 1, method: "Runtime.evaluate", params: { expression } }))
      const blockedAt = performance.now()
      await ended
      const endedAt = performance.now()
      await vi.waitFor(async () => expect(await answers()).toBe(200), PATIENT)
      const servedAt = performance.now()
      expect(await log()).toMatch(/the event loop made no turn for \d+ s.*"stack":" {4}at blocked/)
      expect(await systemd.show(UNIT, "NRestarts")).toBe(String(before + 1))
      const seconds = (from: number, to: number) => ((to - from) / 1_000).toFixed(1)
      console.log(`${kind}: ended after ${seconds(blockedAt, endedAt)} s, serves ${seconds(endedAt, servedAt)} s later`)
    })

    it("ends a process that is stopped, and starts another one", async () => {
      const before = Number(await systemd.show(UNIT, "NRestarts"))
      await systemd.signal(UNIT, "SIGSTOP")
      await vi.waitFor(async () => expect(await systemd.show(UNIT, "NRestarts")).toBe(String(before + 1)), PATIENT)
      await vi.waitFor(async () => expect(await answers()).toBe(200), PATIENT)
    })

    it("stops the server on request", async () => {
      await systemd.control("stop", UNIT)
      expect(await answers()).toBe(0)
      expect(await systemd.show(UNIT, "Result")).toBe("success")
    })
  }
)
