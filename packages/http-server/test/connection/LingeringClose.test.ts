import { OPERATIONS } from "@agentos/api"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { newTenant } from "../support/TestClient.ts"
import { startServer, type TestServer } from "../support/TestServer.ts"

const SEND = OPERATIONS.sendMessage.entry.path
const MIB = 1024 * 1024

let server: TestServer
let token: string
beforeAll(async () => {
  server = await startServer()
  token = (await newTenant(server)).token
})
afterAll(() => server.stop())

const headOf = (target: string, lengthBytes: number, ...more: ReadonlyArray<string>): string =>
  [
    `POST ${target} HTTP/1.1`,
    "Host: agentos.test",
    "Content-Type: application/json",
    `Content-Length: ${lengthBytes}`,
    ...more,
    "\r\n"
  ].join("\r\n")

/** Connects without reading. */
const open = async (): Promise<Socket> => {
  const socket = connect({ port: server.port, host: "127.0.0.1", allowHalfOpen: true })
  socket.pause()
  await once(socket, "connect")
  return socket
}

/** Resolves when the server of this process has written its whole response to a connection. */
const responseTo = ({ localPort }: Socket): Promise<void> =>
  new Promise((resolve) => {
    const finished = "http.server.response.finish"
    const onFinish = (message: unknown) => {
      if ((message as { readonly socket: Socket }).socket.remotePort !== localPort) return
      unsubscribe(finished, onFinish)
      resolve()
    }
    subscribe(finished, onFinish)
  })

const PART = Buffer.alloc(64 * 1024, "x")

/** When a client writes the body: once the response is there, as soon as it can, or with its first part beside the head. */
type BodyWritten = "after the response" | "before the response" | "with the head"

/**
 * Writes all of a request before it reads anything, as Apache does, in writes of 64 KiB that wait for each other. Returns the
 * response.
 */
const writeThenRead = async (head: string, bodyBytes: number, written: BodyWritten): Promise<string> => {
  const socket = await open()
  const write = (bytes: string | Buffer) =>
    new Promise<void>((resolve, reject) => socket.write(bytes, (error) => (error ? reject(error) : resolve())))
  const responded = responseTo(socket)
  const firstBytes = written === "with the head" ? PART.length : 0
  await write(Buffer.concat([Buffer.from(head), PART.subarray(0, firstBytes)]))
  if (written === "after the response") await responded
  for (let left = bodyBytes - firstBytes; left > 0; left -= PART.length)
    await write(PART.subarray(0, Math.min(left, PART.length)))
  await responded
  const received: Array<Buffer> = []
  socket.on("data", (chunk: Buffer) => received.push(chunk))
  socket.resume()
  await once(socket, "end")
  socket.end()
  await once(socket, "close")
  return Buffer.concat(received).toString()
}

describe("a request that is answered before its body is read", () => {
  const authorization = () => `Authorization: Bearer ${token}`
  it.each<readonly [string, number, number, BodyWritten, () => string]>([
    ["without a token", 428, 20 * MIB, "after the response", () => headOf(SEND, 20 * MIB)],
    [
      "with a wrong token",
      401,
      20 * MIB,
      "after the response",
      () => headOf(SEND, 20 * MIB, "Authorization: Bearer wrong")
    ],
    ["to an unknown path", 413, 20 * MIB, "after the response", () => headOf("/nowhere", 20 * MIB)],
    ["with too long a body", 413, 30 * MIB, "after the response", () => headOf(SEND, 30 * MIB, authorization())],
    ["with too long a body", 413, 30 * MIB, "with the head", () => headOf(SEND, 30 * MIB, authorization())],
    [
      "with a body that is refused while it arrives",
      400,
      20 * MIB,
      "before the response",
      () => headOf(SEND, 20 * MIB, authorization())
    ]
  ])("can be sent completely before its response is read, %s (%d for %d bytes, sent %s)", async (...row) => {
    const [, status, bytes, written, head] = row
    const answer = await writeThenRead(head(), bytes, written)
    assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `))
    assert.match(answer, /\r\nconnection: close\r\n/i)
    assert.isTrue(answer.endsWith("}"))
  })

  it("is answered at once, and its connection is closed when the client ends it", async () => {
    const socket = await open()
    socket.write(headOf(SEND, 20 * MIB))
    socket.resume()
    const [first] = (await once(socket, "data")) as [Buffer]
    assert.match(first.toString(), /^HTTP\/1\.1 428 /)
    await once(socket, "end")
    socket.end()
    await once(socket, "close")
  })

  it("has its connection closed when it sends more than any body", async () => {
    const socket = await open()
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()))
    socket.on("error", () => undefined)
    socket.write(headOf(SEND, 2 ** 40))
    const part = Buffer.alloc(MIB)
    let sentBytes = 0
    while (!socket.destroyed && sentBytes < 256 * MIB) {
      sentBytes += part.length
      await Promise.race([new Promise((resolve) => socket.write(part, resolve)), closed])
    }
    // The bytes in the kernel's buffers of both ends count as sent, too.
    assert.isBelow(sentBytes, 64 * MIB)
  })
})
