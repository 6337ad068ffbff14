import { REALTIME_PATH } from "@agentos/api"
import { assert, describe, it } from "@effect/vitest"
import { connect } from "node:net"
import { startServer, type TestServer, type TestServerOptions } from "../support/TestServer.ts"

const LIMITED: TestServerOptions = { rateLimit: { burst: 1, perSecond: 1 / 60 } }
const REQUEST = "GET /openapi.json HTTP/1.1\r\nHost: agentos.test\r\nConnection: close\r\n\r\n"
const HEALTH_CHECK = "GET /health/live HTTP/1.1\r\nHost: agentos.test\r\n\r\n"
const HANDSHAKE =
  `GET ${REALTIME_PATH} HTTP/1.1\r\nHost: agentos.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
  "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
const CHUNKED =
  "POST /api/v1/email/mailboxes HTTP/1.1\r\nHost: agentos.test\r\nContent-Type: application/json\r\n" +
  "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"

/** Returns the response status on a new connection; undefined if it is closed without a response. */
const statusOf = ({ port }: TestServer, bytes: string): Promise<number | undefined> =>
  new Promise((resolve) => {
    let received = ""
    connect(port, "127.0.0.1")
      .on("data", (chunk: Buffer) => (received += chunk.toString("latin1")))
      .on("error", () => undefined)
      .on("close", () => resolve(received === "" ? undefined : Number(received.slice(9, 12))))
      .end(bytes)
  })

/** Returns the statuses of `count` requests, of which `atOnce` run concurrently. */
const statusesOf = async (options: TestServerOptions, bytes: string, count: number, atOnce = 10) => {
  const server = await startServer(options)
  const statuses: Array<number | undefined> = []
  while (statuses.length < count) {
    statuses.push(...(await Promise.all(Array.from({ length: atOnce }, () => statusOf(server, bytes)))))
  }
  await server.stop()
  return statuses
}

describe("a new connection", () => {
  it.each([
    ["requests", REQUEST],
    ["handshakes", HANDSHAKE]
  ])("is closed unread while %s of its address are refused more often than 100 times a second", async (_, bytes) => {
    const statuses = await statusesOf(LIMITED, bytes, 600)
    const answered = statuses.filter((status) => status === 429).length
    assert.isAtLeast(answered, 100)
    assert.include(statuses, undefined)
  })

  it.each([
    ["bodies in chunks are refused", CHUNKED, 400],
    ["pipelined requests are dropped", HEALTH_CHECK.repeat(17), 200]
  ])("is closed unread sooner where %s", async (_, bytes, status) => {
    const statuses = await statusesOf({ rateLimit: { burst: 1_000, perSecond: 1 } }, bytes, 20, 1)
    assert.include(statuses, undefined)
    assert.deepStrictEqual(
      statuses.slice(0, 5),
      Array.from({ length: 5 }, () => status)
    )
  })

  it("is answered if it comes from a trusted proxy, or if rate limits are disabled", async () => {
    const behindProxy = await statusesOf({ ...LIMITED, trustedProxies: ["127.0.0.0/8"] }, REQUEST, 300)
    assert.isFalse(behindProxy.includes(undefined))
    assert.isFalse((await statusesOf({}, CHUNKED, 20)).includes(undefined))
  })
})
