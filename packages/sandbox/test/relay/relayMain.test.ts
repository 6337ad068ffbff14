import { type ChildProcess, spawn } from "node:child_process"
import { mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import nodemailer from "nodemailer"
import { afterEach, beforeEach, expect, it } from "vitest"

const main = fileURLToPath(new URL("../../src/relay/relayMain.ts", import.meta.url))

let outboxDir: string
let child: ChildProcess | undefined
beforeEach(async () => {
  outboxDir = await mkdtemp(join(tmpdir(), "relay-"))
})
afterEach(async () => {
  child?.kill("SIGKILL")
  await rm(outboxDir, { recursive: true, force: true })
})

const start = async (): Promise<{ readonly port: number; readonly exited: Promise<number | null> }> => {
  const configuration = { outboxDir, domain: "agents.test", service: { host: "127.0.0.1", port: 1 } }
  const started = spawn(process.execPath, [main], {
    env: { ...process.env, AGENTOS_SANDBOX_RELAY: JSON.stringify(configuration) },
    stdio: ["pipe", "pipe", "inherit"]
  })
  child = started
  const exited = new Promise<number | null>((resolve) => started.once("exit", resolve))
  const line = await new Promise<string>((resolve) => createInterface({ input: started.stdout }).once("line", resolve))
  const ready = JSON.parse(line)
  expect(ready).toMatchObject({ ready: "relay", pid: started.pid })
  return { port: ready.port, exited }
}

it("serves once it has said so, and ends when its stdin does", async () => {
  const { port, exited } = await start()
  const transport = nodemailer.createTransport({ host: "127.0.0.1", port, ignoreTLS: true })
  await transport.sendMail({ from: "a@agents.test", to: "one@else.test", text: "x" })
  expect((await readdir(outboxDir)).length).toBe(2)
  child?.stdin?.end()
  expect(await exited).toBe(0)
})

it("ends on SIGTERM", async () => {
  const { exited } = await start()
  child?.kill("SIGTERM")
  expect(await exited).toBe(0)
})
