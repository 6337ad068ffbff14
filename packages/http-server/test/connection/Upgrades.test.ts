import { REALTIME_PATH } from "@agentos/api"
import { assert, describe, it } from "@effect/vitest"
import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { fateOf } from "../support/HalfOpen.ts"
import { call, rawCall } from "../support/TestClient.ts"
import { startServer } from "../support/TestServer.ts"

/** A handshake without the carrier's signature is refused. */
const RELAY = "/webhooks/twilio/relay/token"
const start = () => startServer({ carrierToken: "t".repeat(32) })

/** Opens a connection whose upgrade is refused, and does not close it on this side. */
const refused = async (port: number, path = RELAY): Promise<Socket> => {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true })
  socket.on("error", () => {})
  await once(socket, "connect")
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`)
  await once(socket, "data")
  return socket
}

describe("a refused socket", () => {
  it("closes only itself, even if it is reset", async () => {
    const server = await start()
    const errors: Array<unknown> = []
    const note = (error: unknown): void => void errors.push(error)
    process.on("uncaughtException", note)
    try {
      for (let times = 0; times < 20; times++) {
        const socket = await refused(server.port)
        socket.resetAndDestroy()
      }
      assert.strictEqual((await call(server, "GET", "/health/live")).status, 200)
      assert.deepStrictEqual(errors, [])
    } finally {
      process.off("uncaughtException", note)
      await server.stop()
    }
  })

  for (const [what, path] of [
    ["has no signature", RELAY],
    ["sends an invalid handshake", REALTIME_PATH]
  ] as const) {
    it(`is closed by the server if it ${what}`, async () => {
      const server = await start()
      const socket = await refused(server.port, path)
      try {
        assert.strictEqual(await fateOf(socket), "gone")
      } finally {
        socket.destroy()
        await server.stop()
      }
    })
  }

  it("is answered with 400 if a single-value header is repeated", async () => {
    const server = await startServer()
    const handshake = [
      `GET ${REALTIME_PATH} HTTP/1.1`,
      "Host: a",
      "Connection: Upgrade",
      "Upgrade: websocket",
      "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
    ]
    const answer = await rawCall(server, `${[...handshake, "Host: b"].join("\r\n")}\r\n\r\n`)
    assert.match(answer, /^HTTP\/1.1 400 /)
    await server.stop()
  })
})
