import { REALTIME_PATH } from "@agentos/api"
import { assert, describe, it } from "@effect/vitest"
import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { fateOf } from "../support/HalfOpen.ts"
import { call, rawCall } from "../support/TestClient.ts"
import { startServer } from "../support/TestServer.ts"

/** There is no carrier in these tests, so nobody takes its relays. */
const RELAY = "/webhooks/twilio/relay/token"

/** A connection whose wish for a socket was refused, and of which this end has ended nothing. */
const refused = async (port: number, path = RELAY): Promise<Socket> => {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true })
  socket.on("error", () => {})
  await once(socket, "connect")
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`)
  await once(socket, "data")
  return socket
}

describe("a socket that is refused", () => {
  it("ends nothing but itself, however it breaks off", async () => {
    const server = await startServer()
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
    ["is one that nobody takes", RELAY],
    ["shows no handshake of the protocol", REALTIME_PATH]
  ] as const) {
    it(`is not kept open for whoever does not end it, where it ${what}`, async () => {
      const server = await startServer()
      const socket = await refused(server.port, path)
      try {
        assert.strictEqual(await fateOf(socket), "gone")
      } finally {
        socket.destroy()
        await server.stop()
      }
    })
  }

  it("repeats a header that has one value", async () => {
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
