import { assert, describe, it } from "@effect/vitest"
import { once } from "node:events"
import { type AddressInfo, connect, createServer } from "node:net"
import { PassThrough } from "node:stream"
import { answerBrokenRequest, type ReadingError } from "../../src/connection/BrokenRequests.ts"
import { fateOf } from "../support/HalfOpen.ts"

const broken = (code: string): ReadingError => Object.assign(new Error(code), { code })

const answerTo = async (error: ReadingError): Promise<string> => {
  const socket = new PassThrough()
  answerBrokenRequest(error, socket)
  return Buffer.concat(await socket.toArray()).toString()
}

describe("answerBrokenRequest", () => {
  it("answers a request that took too long with 408, marks it retryable and closes the connection", async () => {
    const [head = "", body = ""] = (await answerTo(broken("ERR_HTTP_REQUEST_TIMEOUT"))).split("\r\n\r\n")
    assert.match(head, /^HTTP\/1\.1 408 Request Timeout\r\n/)
    assert.match(head, /\r\nconnection: close(?:\r\n|$)/i)
    assert.include(head, `content-length: ${Buffer.byteLength(body)}`)
    assert.include(body, '"code":"REQUEST_TIMEOUT"')
    assert.include(body, '"retryable":true')
  })

  it("sends nothing to a client that has disconnected", () => {
    const socket = new PassThrough()
    answerBrokenRequest(broken("ECONNRESET"), socket)
    assert.isTrue(socket.destroyed)
    assert.isNull(socket.read())
  })

  it("closes a connection that the client does not close", async () => {
    const server = createServer({ allowHalfOpen: true }, (socket) =>
      answerBrokenRequest(broken("ERR_HTTP_REQUEST_TIMEOUT"), socket)
    )
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    const address = server.address() as AddressInfo
    const socket = connect({ port: address.port, host: "127.0.0.1", allowHalfOpen: true })
    socket.on("error", () => {})
    try {
      await once(socket, "data")
      assert.strictEqual(await fateOf(socket), "gone")
    } finally {
      socket.destroy()
      server.close()
    }
  })
})
