import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { findFreePorts, isPortFree, nextFreePort, reusePort, reusePorts } from "../../src/supervisor/FreePort.ts"

it("finds the given number of different free ports", async () => {
  const ports = await findFreePorts(5)
  expect(new Set(ports).size).toBe(5)
  for (const port of ports) expect(await isPortFree(port)).toBe(true)
})

it("finds different ports in processes that search the same range, before they are opened", async () => {
  const program = `
    import { findFreePorts } from ${JSON.stringify(new URL("../../src/supervisor/FreePort.ts", import.meta.url).href)}
    console.log(JSON.stringify(await findFreePorts(22, [], { pid: 1 })))
    process.stdin.resume()`
  const children = Array.from({ length: 4 }, () => spawn(process.execPath, ["--input-type=module", "-e", program]))
  onTestFinished(() => children.forEach((child) => void child.kill("SIGKILL")))
  const printed = await Promise.all(children.map(({ stdout }) => once(stdout, "data")))
  const ports = printed.flatMap((line) => JSON.parse(String(line)) as ReadonlyArray<number>)
  expect(new Set(ports).size).toBe(4 * 22)
})

it("finds different ports each time, before they are opened", async () => {
  const found = await Promise.all([findFreePorts(22), findFreePorts(22)])
  expect(new Set(found.flat()).size).toBe(44)
})

it("detects a port that is in use", async () => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  expect(await isPortFree((server.address() as AddressInfo).port)).toBe(false)
  server.close()
})

it("reuses a port while it is free", async () => {
  const directory = mkdtempSync(join(tmpdir(), "agentos-port-"))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const path = join(directory, "port")
  const port = await reusePort(path, [])
  expect(await reusePort(path, [])).toBe(port)

  const server = createServer().listen(port, "127.0.0.1")
  onTestFinished(() => void server.close())
  await once(server, "listening")
  const second = await reusePort(path, [])
  expect(second).not.toBe(port)
  expect(await reusePort(path, [])).toBe(second)
  expect(await reusePort(path, [second])).not.toBe(second)
})

it("keeps the ports of all names while they are free, and replaces only the others", async () => {
  const directory = mkdtempSync(join(tmpdir(), "agentos-ports-"))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const path = join(directory, "ports.json")
  const first = await reusePorts(path, ["chain", "relay"], [])
  expect(await reusePorts(path, ["chain", "relay"], [])).toEqual(first)
  const server = createServer().listen(first.relay, "127.0.0.1")
  onTestFinished(() => void server.close())
  await once(server, "listening")
  const second = await reusePorts(path, ["chain", "relay", "smtp-0"], [])
  expect(second.chain).toBe(first.chain)
  expect(new Set(Object.values(second)).size).toBe(3)
  expect(second.relay).not.toBe(first.relay)
  expect(await reusePorts(path, ["relay", "smtp-0"], [second.chain])).toEqual({
    relay: second.relay,
    "smtp-0": second["smtp-0"]
  })
})

it("finds the next free port", async () => {
  const server = createServer().listen(0, "127.0.0.1")
  onTestFinished(() => void server.close())
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  expect(await nextFreePort(port)).toBeGreaterThan(port)
})
