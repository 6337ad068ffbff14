import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Headers, HttpServerRequest } from "effect/http"
import { once } from "node:events"
import { createServer } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { ScriptedRail } from "@agentos/core/contract-tests"
import { RequestFacts, RequestRecord, type RouteMatch } from "../../src/edge/Route.ts"
import { BodyMemory } from "../../src/operation/BodyMemory.ts"
import { readBody } from "../../src/operation/RequestBody.ts"
import { call, fresh, freshWallet } from "../support/TestClient.ts"
import { startServer, type TestServer } from "../support/TestServer.ts"

const MAILBOXES = "/api/v1/email/mailboxes"
const NO_MATCH: RouteMatch = { route: null, template: "none", allowed: [], params: {}, query: {} }

/** Longer than the time between two packets that a server reads together. */
const PAUSE_MILLIS = 20

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

const headOf = (lengthBytes: number, ...more: ReadonlyArray<string>) =>
  [
    `POST ${MAILBOXES} HTTP/1.1`,
    "Host: agentos.test",
    "Content-Type: application/json",
    `Content-Length: ${lengthBytes}`,
    ...more,
    "\r\n"
  ].join("\r\n")

/** Sends each packet some time after the one before it. Returns the responses, which all end with a JSON object. */
const sendPackets = async (packets: ReadonlyArray<string>, responses = 1): Promise<string> => {
  const socket = connect({ port: server.port, host: "127.0.0.1", noDelay: true })
  let text = ""
  socket.on("data", (chunk: Buffer) => (text += chunk.toString()))
  await once(socket, "connect")
  for (const packet of packets) {
    socket.write(packet)
    await sleep(PAUSE_MILLIS)
  }
  const isComplete = () => text.split("HTTP/1.1 4").length > responses && text.endsWith("}")
  while (!isComplete()) await sleep(PAUSE_MILLIS)
  socket.destroy()
  return text
}

const challengesIn = (text: string) =>
  Array.from(text.matchAll(/payment-required: (\S+)/gi), ([, challenge = ""]) => challenge)

/** Pays a challenge with a request whose body arrives like any other. Returns the status. */
const payWith = async (challenge: string, body: string): Promise<number> => {
  const headers = {
    "payment-signature": ScriptedRail.pay(challenge, freshWallet(), fresh("nonce")),
    "idempotency-key": fresh("key")
  }
  return (await call(server, "POST", MAILBOXES, { body, headers })).status
}

describe("a body", () => {
  it("is the same however its bytes arrive", async () => {
    const arrivals: Readonly<Record<string, (head: string, body: string) => ReadonlyArray<string>>> = {
      "with its headers": (head, body) => [head + body],
      "after its headers": (head, body) => [head, body],
      "in part with its headers": (head, body) => [head + body.slice(0, 5), body.slice(5)],
      "byte by byte": (head, body) => [head, ...body]
    }
    for (const [name, packetsOf] of Object.entries(arrivals)) {
      const body = `{"localPart":"${fresh("arrival")}"}`
      const [challenge = ""] = challengesIn(await sendPackets(packetsOf(headOf(body.length), body)))
      assert.strictEqual(await payWith(challenge, `${body} `), 402, name)
      assert.strictEqual(await payWith(challenge, body), 201, name)
    }
  })

  it("ends where the next request of the connection begins", async () => {
    const bodies = [1, 2, 3].map(() => `{"localPart":"${fresh("pipelined")}"}`)
    const sent = bodies.map((body) => headOf(body.length) + body).join("")
    const challenges = challengesIn(await sendPackets([sent], 3))
    assert.lengthOf(challenges, 3)
    for (const [place, body] of bodies.entries()) assert.strictEqual(await payWith(challenges[place]!, body), 201)
  })

  it("is awaited by 100 Continue from a client that expects it", async () => {
    const body = `{"localPart":"${fresh("expected")}"}`
    const text = await sendPackets([headOf(body.length, "Expect: 100-continue"), body])
    assert.match(text, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 402 /)
  })

  it("that is no JSON is refused in whichever part it arrives", async () => {
    for (const body of ["{", "x".repeat(16 * 1024)]) {
      const head = headOf(body.length)
      assert.match(await sendPackets([head + body]), /^HTTP\/1\.1 400 /)
      assert.match(await sendPackets([head, body]), /^HTTP\/1\.1 400 /)
    }
  })

  it("that came with its headers is read without its stream", async () => {
    const listener = createServer((source, response) => {
      const request = HttpServerRequest.fromWeb(new Request("http://agentos.test", { method: "POST" })).modify({
        headers: Headers.fromInput({ "content-length": source.headers["content-length"] })
      })
      const reading = Effect.scoped(readBody).pipe(
        Effect.provideService(
          HttpServerRequest.HttpServerRequest,
          Object.defineProperties(request, {
            source: { value: source },
            stream: { get: () => assert.fail("the stream is read") }
          })
        ),
        Effect.provideService(RequestRecord, new RequestFacts("request", NO_MATCH, 0)),
        Effect.provide(BodyMemory.layer)
      )
      void Effect.runPromise(reading).then(
        ({ bytes }) => response.end(bytes),
        (error: unknown) => response.end(String(error))
      )
    }).listen(0)
    const { port } = listener.address() as AddressInfo
    const answer = await fetch(`http://127.0.0.1:${port}`, { method: "POST", body: "the whole body" })
    assert.strictEqual(await answer.text(), "the whole body")
    listener.close()
  })
})
