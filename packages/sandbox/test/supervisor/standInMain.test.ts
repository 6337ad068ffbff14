import { spawnSync } from "node:child_process"
import { mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import nodemailer from "nodemailer"
import { expect, it, onTestFinished } from "vitest"
import { startStandIn } from "../shared/ChildProcesses.ts"

const startRelay = async () => {
  const outboxDir = await mkdtemp(join(tmpdir(), "relay-"))
  onTestFinished(() => rm(outboxDir, { recursive: true, force: true }))
  const options = { outboxDir, domain: "agents.test", service: { host: "127.0.0.1", port: 1 } }
  const child = await startStandIn<{ ready: string; pid: number; port: number }>("relay", options)
  expect(child.ready).toMatchObject({ ready: "relay", pid: child.process.pid })
  return { ...child, outboxDir }
}

it("serves after its ready line, and stops when its stdin closes", async () => {
  const { exitCode, outboxDir, process: relay, ready } = await startRelay()
  const transport = nodemailer.createTransport({ host: "127.0.0.1", port: ready.port, ignoreTLS: true })
  await transport.sendMail({ from: "a@agents.test", to: "one@else.test", text: "x" })
  expect((await readdir(outboxDir)).length).toBe(2)
  relay.stdin?.end()
  expect(await exitCode()).toBe(0)
})

it("stops on SIGTERM", async () => {
  const { exitCode, process: relay } = await startRelay()
  relay.kill("SIGTERM")
  expect(await exitCode()).toBe(0)
})

it.each([
  ["pigeon", {}, "Unknown stand-in pigeon. Use one of chain, "],
  ["relay", { AGENTOS_SANDBOX_RELAY: "{}" }, "outboxDir"]
])("fails with an error for %s with %j", (name, environment, error) => {
  const main = fileURLToPath(new URL("../../src/supervisor/standInMain.ts", import.meta.url))
  const { status, stderr } = spawnSync(process.execPath, [main, name], {
    env: { ...process.env, ...environment },
    encoding: "utf8"
  })
  expect(status).toBe(1)
  expect(stderr).toContain(error)
})
