import { once } from "node:events"
import { type AddressInfo, createServer } from "node:net"
import { expect, it } from "vitest"
import { findFreePorts, isPortFree } from "../../src/supervisor/FreePort.ts"

it("finds as many different free ports as are wanted", async () => {
  const ports = await findFreePorts(5)
  expect(new Set(ports).size).toBe(5)
  for (const port of ports) expect(await isPortFree(port)).toBe(true)
})

it("knows a port that is taken", async () => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  expect(await isPortFree((server.address() as AddressInfo).port)).toBe(false)
  server.close()
})
