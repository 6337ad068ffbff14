import { assert, describe, it } from "@effect/vitest"
import { connect } from "node:net"
import { WebSocket } from "ws"
import { call, dataOf, errorOf, newTenant, payFor, textAt } from "./support/TestClient.ts"
import { startServer } from "./support/TestServer.ts"

const SEND = "/api/v1/email/messages/send"

/** Longer than any test: what waits for it fails. */
const HOUR = "1 hour"

describe("Server", () => {
  it("finishes requests in progress when it stops, and accepts no new ones", async () => {
    const server = await startServer({ drainTimeout: "5 seconds" })
    const { mailboxId, token, wallet } = await newTenant(server)
    const request = { body: { mailboxId, to: ["a@example.com"], subject: "slow", text: "t" }, token }
    const headers = await payFor(server, SEND, request, wallet)
    server.sendScript.push("wait")
    const answering = call(server, "POST", SEND, { ...request, headers })
    while (server.sendScript.length > 0) await new Promise((resolve) => setTimeout(resolve, 5))
    const stopping = server.drain()
    const answer = await answering
    await stopping
    assert.strictEqual(answer.status, 201)
    const refused = await call(server, "GET", "/health/live").then(
      () => false,
      () => true
    )
    assert.isTrue(refused)
  })

  it("answers every request of connections in use when it stops, and announces the last answer of each", async () => {
    const server = await startServer({ drainTimeout: "5 seconds" })
    const REQUEST = "GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n"
    const answered = new Set<number>()
    /** Sends one request after the other on one connection until the server closes it. */
    const client = (pipelined: number, index: number) =>
      new Promise<{ readonly sent: number; readonly answers: ReadonlyArray<string> }>((resolve, reject) => {
        const socket = connect(server.port, "127.0.0.1")
        let text = ""
        let sent = 0
        const send = () => {
          socket.write(REQUEST.repeat(pipelined))
          sent += pipelined
        }
        const answers = () => text.split(/(?=HTTP\/1\.1 )/).filter((answer) => answer !== "")
        socket.setNoDelay(true).on("error", reject).once("connect", send)
        socket.on("data", (chunk: Buffer) => {
          text += chunk.toString()
          answered.add(index)
          const isComplete = text.endsWith("}") && answers().length === sent
          if (isComplete && !/^connection: close/im.test(text)) send()
        })
        socket.once("close", () => resolve({ sent, answers: answers() }))
      })
    const clients = Array.from({ length: 20 }, (_, index) => client(1 + (index % 3), index))
    while (answered.size < clients.length) await new Promise((resolve) => setTimeout(resolve, 5))
    await server.drain()
    for (const { answers, sent } of await Promise.all(clients)) {
      assert.isAbove(sent, 1)
      assert.strictEqual(answers.length, sent)
      assert.deepStrictEqual(
        answers.map((answer) => /^connection: close/im.test(answer)),
        answers.map((_, index) => index === sent - 1)
      )
    }
  })

  it("tells clients to repeat requests that exceed the drain timeout", async () => {
    const server = await startServer({ drainTimeout: "50 millis" })
    const { mailboxId, token, wallet } = await newTenant(server)
    const request = { body: { mailboxId, to: ["a@example.com"], subject: "slow", text: "t" }, token }
    const headers = await payFor(server, SEND, request, wallet)
    server.sendScript.push("wait")
    const answering = call(server, "POST", SEND, { ...request, headers })
    while (server.sendScript.length > 0) await new Promise((resolve) => setTimeout(resolve, 5))
    await server.drain()
    const answer = await answering
    assert.strictEqual(answer.status, 500)
    assert.deepInclude(errorOf(answer), { code: "INTERNAL_ERROR", retryable: true, paymentState: "unknown" })
  })

  it("stops without waiting for idle connections", async () => {
    const server = await startServer({ drainTimeout: HOUR })
    const idle = connect(server.port, "127.0.0.1")
    idle.on("error", () => {})
    idle.write("GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n")
    await new Promise((resolve) => idle.once("data", resolve))
    await server.drain()
    idle.destroy()
  })

  it("closes connections that have sent nothing, or a part of a request, when the drain timeout has passed", async () => {
    const server = await startServer({ drainTimeout: "100 millis" })
    const silent = connect(server.port, "127.0.0.1")
    silent.on("error", () => {})
    const silentClosed = new Promise((resolve) => silent.once("close", resolve))
    await new Promise((resolve) => silent.once("connect", resolve))
    const client = connect(server.port, "127.0.0.1")
    client.on("error", () => {})
    let text = ""
    const answered = new Promise<void>((resolve) =>
      client.on("data", (chunk: Buffer) => {
        text += chunk.toString()
        resolve()
      })
    )
    const closed = new Promise((resolve) => client.once("close", resolve))
    // The parser has read the second request, whose body does not arrive, before the first is answered.
    client.write(
      "GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n" +
        "POST /api/v1/email/mailboxes HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"
    )
    await answered
    await server.drain()
    await Promise.all([closed, silentClosed])
    assert.deepStrictEqual(text.match(/^HTTP\/1\.1 \d+/gm), ["HTTP/1.1 200"])
  })

  it("closes sockets with 1012 at once", async () => {
    const server = await startServer({ drainTimeout: HOUR })
    const { token } = await newTenant(server)
    const data = dataOf(await call(server, "GET", "/api/v1/events/realtime-token", { token }))
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}/api/v1/events/socket`)
    socket.on("open", () => {
      socket.send(JSON.stringify({ type: "session.authenticate", token: textAt(data, "realtime", "token") }))
    })
    await new Promise((resolve) => socket.once("message", resolve))
    const closed = new Promise<number>((resolve) => socket.once("close", resolve))
    await server.drain()
    assert.strictEqual(await closed, 1012)
  })
})
