import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { findFreePorts, isPortFree, keepPort } from "../../src/supervisor/FreePort.ts"

it("finds as many different free ports as are wanted", async () => {
  const ports = await findFreePorts(5)
  expect(new Set(ports).size).toBe(5)
  for (const port of ports) expect(await isPortFree(port)).toBe(true)
})

it("finds others for another process, before either has used them", async () => {
  const [ours, theirs] = await Promise.all([1, 2].map((more) => findFreePorts(22, [], { pid: process.pid + more })))
  expect(new Set([...ours!, ...theirs!]).size).toBe(44)
})

it("knows a port that is taken", async () => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  expect(await isPortFree((server.address() as AddressInfo).port)).toBe(false)
  server.close()
})

it("keeps a port for as long as nobody else has it", async () => {
  const directory = mkdtempSync(join(tmpdir(), "agentos-port-"))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const path = join(directory, "port")
  const port = await keepPort(path, [])
  expect(await keepPort(path, [])).toBe(port)

  const server = createServer().listen(port, "127.0.0.1")
  onTestFinished(() => void server.close())
  await once(server, "listening")
  const second = await keepPort(path, [])
  expect(second).not.toBe(port)
  expect(await keepPort(path, [])).toBe(second)
  expect(await keepPort(path, [second])).not.toBe(second)
})
