import { REALTIME_PATH } from "@agentos/api"
import { assert, describe, it } from "@effect/vitest"
import { connect } from "node:net"
import { startServer, type TestServer, type TestServerOptions } from "../support/TestServer.ts"

/** A machine of any speed sends more than a limit per second if the second does not end. */
const LIMITED: TestServerOptions = { rateLimit: { burst: 1, perSecond: 1 / 60 }, isTimeStopped: true }
const REQUEST = "GET /openapi.json HTTP/1.1\r\nHost: agentos.test\r\n\r\n"
const HEALTH_CHECK = "GET /health/live HTTP/1.1\r\nHost: agentos.test\r\n\r\n"
const LONG_HEALTH_CHECK = HEALTH_CHECK.replace("\r\n\r\n", `\r\nX-Padding: ${"x".repeat(1_000)}\r\n\r\n`)
const HANDSHAKE =
  `GET ${REALTIME_PATH} HTTP/1.1\r\nHost: agentos.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
  "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
const CHUNKED =
  "POST /api/v1/email/mailboxes HTTP/1.1\r\nHost: agentos.test\r\nContent-Type: application/json\r\n" +
  "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"

/** Returns the response statuses on a new connection; none if it is closed unread. */
const exchange = ({ port }: TestServer, bytes: string): Promise<ReadonlyArray<number>> =>
  new Promise((resolve) => {
    let received = ""
    connect(port, "127.0.0.1")
      .on("data", (chunk: Buffer) => (received += chunk.toString("latin1")))
      .on("error", () => undefined)
      .on("close", () => resolve([...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))))
      .end(bytes)
  })

/** Returns the statuses on `count` connections, of which `atOnce` are open concurrently. */
const exchangesOf = async (options: TestServerOptions, bytes: string, count: number, atOnce = 10) => {
  const server = await startServer(options)
  const exchanges: Array<ReadonlyArray<number>> = []
  while (exchanges.length < count) {
    exchanges.push(...(await Promise.all(Array.from({ length: atOnce }, () => exchange(server, bytes)))))
  }
  await server.stop()
  return exchanges
}

const isUnread = (statuses: ReadonlyArray<number>): boolean => statuses.length === 0

describe("a new connection", () => {
  it.each([
    ["requests", REQUEST.repeat(15)],
    ["handshakes", HANDSHAKE]
  ])("is closed unread while %s of its address are refused more often than 100 times a second", async (_, bytes) => {
    const exchanges = await exchangesOf(LIMITED, bytes, 600)
    assert.isAtLeast(exchanges.flat().filter((status) => status === 429).length, 100)
    assert.isTrue(exchanges.some(isUnread))
  })

  it.each([
    ["requests are not HTTP", "\u0016\u0003\u0001\u0000garbage\r\n\r\n", 400],
    ["requests are longer than any", `GET /${"x".repeat(40_000)} HTTP/1.1\r\n\r\n`, 414],
    ["bodies in chunks are refused", CHUNKED, 400],
    ["a pipelined request is dropped", HEALTH_CHECK.repeat(17), 200],
    // Longer than the 64 KiB that are read at once. A connection is counted once, however many of its requests are
    // dropped.
    ["pipelined requests are dropped", LONG_HEALTH_CHECK.repeat(100), 200]
  ])("is closed unread sooner where %s", async (_, bytes, status) => {
    const exchanges = await exchangesOf({ ...LIMITED, rateLimit: { burst: 1_000, perSecond: 1 } }, bytes, 40, 1)
    assert.isTrue(exchanges.some(isUnread))
    assert.isTrue(exchanges.every(({ length }) => length <= 16))
    assert.deepStrictEqual(
      exchanges.slice(0, 5).map(([first]) => first),
      Array.from({ length: 5 }, () => status)
    )
  })

  it("is answered if it comes from a trusted proxy, or if rate limits are disabled", async () => {
    const behindProxy = await exchangesOf({ ...LIMITED, trustedProxies: ["127.0.0.0/8"] }, REQUEST, 300)
    assert.isFalse(behindProxy.some(isUnread))
    assert.isFalse((await exchangesOf({}, CHUNKED, 20)).some(isUnread))
  })
})
