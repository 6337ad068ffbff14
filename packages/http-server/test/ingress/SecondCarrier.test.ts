import { CallStore } from "@agentos/core"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Option, Stream } from "effect"
import { WebSocket } from "ws"
import { call, callPaid, errorOf } from "../support/TestClient.ts"
import { startServer, type TestServer } from "../support/TestServer.ts"
import { acme, acmeSignature } from "./Acme.ts"
import { ask, CARRIER_TOKEN, newNumber, PUBLIC_URL } from "./CarrierClient.ts"

let server: TestServer
beforeAll(async () => {
  server = await startServer({ carrierToken: CARRIER_TOKEN, publicUrl: PUBLIC_URL, ingress: acme })
})
afterAll(() => server.stop())

const ARRIVED = "/webhooks/acme/arrived"

/** Sends a request as Acme does. Other headers simulate another sender. */
const send = (path: string, value: unknown, headers: Readonly<Record<string, string>> = {}, on = server) => {
  const body = JSON.stringify(value)
  return call(on, path === ARRIVED ? "POST" : "PUT", path, {
    body,
    headers: { "content-type": "application/json", "acme-signature": acmeSignature(path, body), ...headers }
  })
}

/** Creates a number with ten minutes of inbound call time. */
const openNumber = async (on = server) => {
  const number = await newNumber(on)
  const { phoneNumberId, token, wallet } = number
  await callPaid(on, "/api/v1/phone/add-inbound-minutes-10", { body: { phoneNumberId }, token }, wallet)
  return number
}

/** Opens Acme's socket. Returns its messages and the status of its handshake. */
const open = async (path: string, signature = acmeSignature(path)) => {
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}${path}`, { headers: { "Acme-Signature": signature } })
  const messages: Array<string> = []
  socket.on("message", (data: Buffer) => messages.push(data.toString("utf8")))
  socket.on("error", () => undefined)
  const closed = new Promise<number>((resolve) => socket.once("close", resolve))
  const status = await new Promise<number>((resolve) => {
    socket.once("open", () => resolve(101))
    socket.once("unexpected-response", (_request, response) => resolve(response.statusCode ?? 0))
  })
  return { socket, messages, closed, status }
}

const until = async (isSo: () => boolean): Promise<void> => {
  for (const startedAt = performance.now(); !isSo();) {
    if (performance.now() - startedAt > 8_000) throw new Error("Timed out after 8 s")
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

describe("a second carrier", () => {
  it("connects a call to its agent and reports its end, beside the first carrier", async () => {
    server.carrier.agent.answer = ({ turn }) => Stream.make({ _tag: "Say", text: `You said ${turn.text}.` })
    const { number } = await openNumber()
    const arrival = await send(ARRIVED, { call: "acme-1", caller: "+12025550150", called: number })
    assert.strictEqual(arrival.status, 200)
    const path = `/webhooks/acme/media/${arrival.text.replace("media ", "")}`
    const { closed, messages, socket, status } = await open(path)
    assert.strictEqual(status, 101)
    socket.send("hello")
    await until(() => messages.join("").includes("You said hello."))
    socket.close(1000)
    await closed
    assert.strictEqual((await send("/webhooks/acme/ended/acme-1", { seconds: 7 })).status, 204)
    const ended = await server.run(Effect.flatMap(CallStore, ({ findByProvider }) => findByProvider("acme-1")))
    assert.deepInclude(Option.getOrThrow(ended), { direction: "inbound", state: "ended", connectedSeconds: 7 })
    const form = { CallSid: `CA${"0".repeat(32)}`, CallStatus: "ringing", From: "+12025550150", To: "+14155550199" }
    assert.include((await ask(server, "/webhooks/twilio/voice", form)).text, "<Reject")
  })

  it("is authenticated by its own signature of the raw request", async () => {
    const value = { call: "acme-2", caller: "+12025550150", called: "+14155550199" }
    assert.strictEqual((await send(ARRIVED, value)).text, "busy")
    for (const [what, signature] of [
      ["no signature", ""],
      ["the signature of another body", acmeSignature(ARRIVED, "{}")],
      ["the signature of another path", acmeSignature("/webhooks/acme/ended/1", JSON.stringify(value))],
      ["another secret", acmeSignature(ARRIVED, JSON.stringify(value), "guessed")]
    ] as const) {
      const answer = await send(ARRIVED, value, { "acme-signature": signature })
      assert.deepStrictEqual([answer.status, answer.text], [403, ""], what)
    }
    const { status } = await open("/webhooks/acme/media/x", "forged")
    assert.strictEqual(status, 403)
    assert.strictEqual((await open("/webhooks/acme/media/unknown")).status, 404)
  })

  it("has limits of its own, checked before its handler runs", async () => {
    const value = { call: "acme-3", caller: "+12025550150", called: "+14155550199" }
    const form = await send(ARRIVED, value, { "content-type": "application/x-www-form-urlencoded" })
    assert.deepStrictEqual([form.status, errorOf(form).code], [415, "UNSUPPORTED_MEDIA_TYPE"])
    const long = await send(ARRIVED, { ...value, more: "a".repeat(1_024) })
    assert.deepStrictEqual([long.status, errorOf(long).code], [413, "PAYLOAD_TOO_LARGE"])
    const another = await call(server, "GET", ARRIVED)
    assert.deepStrictEqual([another.status, errorOf(another).code], [404, "RESOURCE_NOT_FOUND"])
  })

  it("limits its sockets by number and by size of messages", async () => {
    const { number } = await openNumber()
    const pathOf = async (callId: string) => {
      const { text } = await send(ARRIVED, { call: callId, caller: "+12025550150", called: number })
      return `/webhooks/acme/media/${text.replace("media ", "")}`
    }
    const [first, second] = [await pathOf("acme-4"), await pathOf("acme-4")]
    const one = await open(second)
    assert.strictEqual(one.status, 101)
    assert.strictEqual((await open(first)).status, 503)
    one.socket.send("a".repeat(257))
    assert.strictEqual(await one.closed, 1009)
  })

  it("is rate limited only without its signature", async () => {
    const limited = await startServer({ ingress: acme, rateLimit: { burst: 2, perSecond: 0.001 } })
    const statuses = async (headers: Readonly<Record<string, string>>) => {
      const seen: Array<number> = []
      for (let count = 0; count < 4; count++) {
        seen.push((await send(ARRIVED, { call: "a", caller: "b", called: "c" }, headers, limited)).status)
      }
      return seen
    }
    assert.deepStrictEqual(await statuses({}), [200, 200, 200, 200])
    assert.deepStrictEqual(await statuses({ "acme-signature": "mine" }), [403, 403, 429, 429])
    assert.deepStrictEqual(await statuses({}), [200, 200, 200, 200])
    await limited.stop()
  })

  it("keeps the tokens of its sockets out of the log", async () => {
    await call(server, "GET", "/webhooks/acme/media/c2VjcmV0")
    assert.isTrue(server.logs.some((line) => line.includes('"/webhooks/acme/media/{token}"')))
    assert.notInclude(server.logs.join(), "c2VjcmV0")
  })
})
