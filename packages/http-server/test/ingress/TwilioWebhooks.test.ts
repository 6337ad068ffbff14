import { Transactor } from "@agentos/core"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { setTimeout as sleep } from "node:timers/promises"
import { ACCOUNT_SID, freshCallSid } from "../support/ScriptedCarrier.ts"
import { call, callPaid, dataOf, errorOf, rawCall, textAt } from "../support/TestClient.ts"
import { startServer, type TestServer } from "../support/TestServer.ts"
import {
  answerCall,
  ask,
  CARRIER_TOKEN,
  newNumber,
  placeCall,
  PUBLIC_URL,
  relayOf,
  signatureOf
} from "./CarrierClient.ts"

let server: TestServer
beforeAll(async () => {
  server = await startServer({ carrierToken: CARRIER_TOKEN, carrierKeys: SHARED_KEYS, publicUrl: PUBLIC_URL })
})
afterAll(() => server.stop())

/** The keys of a rotation. */
const SHARED_KEYS = ["whsk-new", "whsk-old"]
const VOICE = "/webhooks/twilio/voice"

const ringing = (to: string, callSid = freshCallSid()) => ({
  CallSid: callSid,
  CallStatus: "ringing",
  From: "+12025550150",
  To: to
})

const isReject = /^<\?xml version="1.0" encoding="UTF-8"\?><Response><Reject reason="busy"\/><\/Response>$/
const isHangup = /^<\?xml version="1.0" encoding="UTF-8"\?><Response><Hangup\/><\/Response>$/

const callRecord = async (token: string, callId: string) =>
  dataOf(await call(server, "GET", `/api/v1/phone/calls/${callId}`, { token }))["call"]

/** Creates a number with ten minutes of inbound call time. */
const openNumber = async (more: Readonly<Record<string, string>> = {}) => {
  const number = await newNumber(server, more)
  const { phoneNumberId, token, wallet } = number
  await callPaid(server, "/api/v1/phone/add-inbound-minutes-10", { body: { phoneNumberId }, token }, wallet)
  return number
}

describe("a request of the carrier", () => {
  it("is answered if it is signed for its exact URL and form, and refused without a body otherwise", async () => {
    const form = ringing("+14155550199")
    const signature = signatureOf(`${PUBLIC_URL}${VOICE}`, form)
    assert.strictEqual((await ask(server, VOICE, form)).status, 200)
    const other = { ...form, From: "+12025550151" }
    const ours = { ...form, AccountSid: ACCOUNT_SID }
    assert.strictEqual((await ask(server, VOICE, ours)).status, 200)
    const foreign = { ...form, AccountSid: `AC${"b".repeat(32)}` }
    assert.deepStrictEqual((await ask(server, VOICE, foreign)).status, 403, "signed, about another account")
    const unsigned = await call(server, "POST", VOICE, {
      body: new URLSearchParams(form).toString(),
      headers: { "content-type": "application/x-www-form-urlencoded" }
    })
    assert.deepStrictEqual([unsigned.status, unsigned.text], [403, ""])
    for (const [what, path, sent, header] of [
      ["an empty signature", VOICE, form, ""],
      ["another field", VOICE, other, signature],
      ["one field less", VOICE, { CallSid: form.CallSid }, signature],
      ["another path", "/webhooks/twilio/status", form, signature],
      ["a query that was not signed", `${VOICE}?a=1`, form, signature],
      ["another host", VOICE, form, signatureOf(`http://127.0.0.1:${server.port}${VOICE}`, form)],
      ["another secret", VOICE, form, signatureOf(`${PUBLIC_URL}${VOICE}`, form, "x".repeat(32))],
      ["a piece of it", VOICE, form, signature.slice(0, -1)]
    ] as const) {
      const answer = await ask(server, path, sent, { "x-twilio-signature": header })
      assert.deepStrictEqual([answer.status, answer.text], [403, ""], what)
    }
    const query = `${VOICE}?a=%20b&a=c`
    assert.strictEqual((await ask(server, query, form)).status, 200)
  })

  it("may be signed with a SharedKey and the algorithm that it names", async () => {
    const form = ringing("+14155550199")
    const statusOf = async (key: string, hash: string, settings: string) => {
      const signature = signatureOf(`${PUBLIC_URL}${VOICE}`, form, key, hash)
      const headers = { "x-twilio-signature": signature, "x-twilio-webhooks-signature-settings": settings }
      return (await ask(server, VOICE, form, headers)).status
    }
    const settings = "key=webhooks_sharedkey_01,algorithm=HMAC_SHA256"
    for (const key of SHARED_KEYS) assert.strictEqual(await statusOf(key, "sha256", settings), 200)
    assert.strictEqual(await statusOf(SHARED_KEYS[0]!, "sha1", "key=webhooks_sharedkey_01"), 200)
    assert.strictEqual(await statusOf(CARRIER_TOKEN, "sha1", ""), 200)
    for (const [key, hash, sent] of [
      ["another", "sha256", settings],
      [SHARED_KEYS[0]!, "sha1", settings],
      [SHARED_KEYS[0]!, "sha256", "key=webhooks_sharedkey_01,algorithm=HMAC_SHA1"],
      [SHARED_KEYS[0]!, "sha256", "key=webhooks_sharedkey_01,algorithm=HMAC_MD5"],
      [SHARED_KEYS[0]!, "sha1", ""]
    ] as const) {
      assert.strictEqual(await statusOf(key, hash, sent), 403, sent)
    }
  })

  it("is refused with 400 if its signature is given twice", async () => {
    const form = ringing("+14155550199")
    const body = new URLSearchParams(form).toString()
    const signature = `X-Twilio-Signature: ${signatureOf(`${PUBLIC_URL}${VOICE}`, form)}`
    const head = [
      `POST ${VOICE} HTTP/1.1`,
      "Host: agentos.test",
      "Content-Type: application/x-www-form-urlencoded",
      `Content-Length: ${body.length}`,
      "Connection: close"
    ]
    const statusOf = async (...more: ReadonlyArray<string>) =>
      (await rawCall(server, `${[...head, ...more].join("\r\n")}\r\n\r\n${body}`)).split(" ")[1]
    assert.strictEqual(await statusOf(signature), "200")
    assert.strictEqual(await statusOf(signature, "x-twilio-signature: another"), "400")
  })

  it("must be a form of limited length and number of fields", async () => {
    const json = await ask(server, VOICE, ringing("+14155550199"), { "content-type": "application/json" })
    assert.deepStrictEqual([json.status, errorOf(json).code], [415, "UNSUPPORTED_MEDIA_TYPE"])
    const long = await ask(server, VOICE, { ...ringing("+14155550199"), SpeechResult: "a".repeat(64 * 1024) })
    assert.deepStrictEqual([long.status, errorOf(long).code], [413, "PAYLOAD_TOO_LARGE"])
    const extra = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`Extra${index}`, "v"]))
    const wide = await ask(server, VOICE, { ...ringing("+14155550199"), ...extra })
    assert.deepStrictEqual([wide.status, wide.text], [403, ""])
    const none = await ask(server, VOICE, {})
    assert.deepStrictEqual([none.status, none.text], [400, ""])
  })

  it("is answered with 404 without a carrier", async () => {
    const without = await startServer({ publicUrl: PUBLIC_URL })
    const answer = await ask(without, VOICE, ringing("+14155550199"))
    assert.deepStrictEqual([answer.status, errorOf(answer).code], [404, "RESOURCE_NOT_FOUND"])
    await without.stop()
  })

  it("is never rate limited, unlike unsigned requests", async () => {
    const limited = await startServer({
      carrierToken: CARRIER_TOKEN,
      publicUrl: PUBLIC_URL,
      rateLimit: { burst: 2, perSecond: 0.001 }
    })
    const statuses = async (headers: Record<string, string>) => {
      const seen: Array<number> = []
      for (let count = 0; count < 4; count++) {
        seen.push((await ask(limited, VOICE, ringing("+14155550199"), headers)).status)
      }
      return seen
    }
    assert.deepStrictEqual(await statuses({}), [200, 200, 200, 200])
    assert.deepStrictEqual(await statuses({ "x-twilio-signature": "mine" }), [403, 403, 429, 429])
    assert.deepStrictEqual(await statuses({}), [200, 200, 200, 200])
    await limited.stop()
  })

  it("excludes requests to other routes and methods, which are rate limited like any other client's", async () => {
    const rateLimit = { burst: 10, perSecond: 0.001 }
    for (const [method, path, status] of [
      ["GET", VOICE, 404],
      ["POST", `${VOICE}/more`, 404]
    ] as const) {
      const limited = await startServer({ carrierToken: CARRIER_TOKEN, publicUrl: PUBLIC_URL, rateLimit })
      const seen: Array<number> = []
      for (let count = 0; count < 3; count++) seen.push((await call(limited, method, path)).status)
      assert.deepStrictEqual(seen, [status, status, 429])
      await limited.stop()
    }
  })

  it("is answered with a document that declines the call if the store is down", async () => {
    let isAway = false
    const transact = Transactor.of({
      ready: Effect.succeed(true),
      transact: (effect) => (isAway ? Effect.die(new Error("the store is away")) : effect)
    })
    const weak = await startServer({ carrierToken: CARRIER_TOKEN, publicUrl: PUBLIC_URL, transactor: transact })
    const { number } = await newNumber(weak)
    isAway = true
    const answer = await ask(weak, VOICE, ringing(number))
    assert.strictEqual(answer.status, 200)
    assert.match(answer.text, isReject)
    assert.isTrue(weak.logs.some((line) => line.includes("the store is away")))
    await weak.stop()
  })
})

describe("an inbound call", () => {
  it("is declined at a number that is unknown or has no allowance", async () => {
    const { number } = await newNumber(server)
    for (const to of [number, "+14155550199", "anonymous"]) {
      const form = ringing(to)
      const answer = await ask(server, VOICE, form)
      assert.match(answer.text, isReject)
      assert.strictEqual(answer.headers.get("content-type"), "text/xml; charset=utf-8")
      const end = await ask(server, "/webhooks/twilio/status", { ...form, CallStatus: "busy" })
      assert.deepStrictEqual([end.status, end.text], [204, ""])
    }
  })

  it("is connected to a relay in the number's voice, and to the same one when the form is repeated", async () => {
    const { number } = await openNumber({ voice: "Amy-Neural" })
    const form = ringing(number)
    const first = await ask(server, VOICE, form)
    assert.match(
      first.text,
      /<Connect action="http:\/\/agentos.test\/webhooks\/twilio\/resume\/[0-9a-f-]{36}" method="POST">/
    )
    assert.include(first.text, ` language="en-GB" ttsProvider="Amazon" voice="Amy-Neural" dtmfDetection="true"/>`)
    const second = await ask(server, VOICE, form)
    assert.match(relayOf(first.text), /^\/webhooks\/twilio\/relay\/[\w-]{43}$/)
    assert.strictEqual(relayOf(second.text), relayOf(first.text))
  })

  it("uses no allowance if the caller hung up before it was connected", async () => {
    const { number, token } = await openNumber()
    const form = ringing(number)
    const { text } = await ask(server, VOICE, form)
    const callId = /resume\/([0-9a-f-]+)"/.exec(text)?.[1] ?? ""
    assert.strictEqual((await ask(server, "/webhooks/twilio/status", { ...form, CallStatus: "canceled" })).status, 204)
    assert.deepInclude(await callRecord(token, callId), { connectedSeconds: 0, endReason: "no_answer" })
    const numbers = dataOf(await call(server, "GET", "/api/v1/phone/numbers", { token }))
    assert.include(JSON.stringify(numbers), '"usedSeconds":0,"remainingSeconds":600')
  })

  it("ends when the carrier reports it, and uses the allowance by its duration", async () => {
    const { number, token } = await openNumber()
    const form = ringing(number)
    const { text } = await ask(server, VOICE, form)
    const callId = /resume\/([0-9a-f-]+)"/.exec(text)?.[1] ?? ""
    assert.deepInclude(await callRecord(token, callId), { direction: "inbound", status: "in_progress" })
    const completed = { ...form, CallStatus: "completed", CallDuration: "12" }
    for (let time = 0; time < 2; time++) {
      assert.strictEqual((await ask(server, "/webhooks/twilio/status", completed)).status, 204)
    }
    assert.deepInclude(await callRecord(token, callId), {
      status: "ended",
      connectedSeconds: 12,
      endReason: "completed"
    })
    const numbers = dataOf(await call(server, "GET", "/api/v1/phone/numbers", { token }))
    assert.include(
      JSON.stringify(numbers),
      '"inboundAllowance":{"purchasedSeconds":600,"usedSeconds":12,"remainingSeconds":588}'
    )
    // A late or repeated request has no call to connect. An answered call is ended, not declined.
    assert.match((await ask(server, VOICE, form)).text, isReject)
    assert.match((await ask(server, VOICE, { ...form, CallStatus: "in-progress" })).text, isHangup)
  })
})

describe("an outbound call", () => {
  it("is connected when it is answered, and follows the carrier's reports", async () => {
    const number = await newNumber(server)
    const placed = await placeCall(server, number)
    const statusPath = `/webhooks/twilio/status/${placed.callId}`
    const news = (CallStatus: string, more = {}) => ({ CallSid: placed.providerCallId, CallStatus, ...more })
    assert.strictEqual((await ask(server, statusPath, news("initiated"))).status, 204)
    assert.strictEqual((await ask(server, statusPath, news("ringing"))).status, 204)
    assert.deepInclude(await callRecord(number.token, placed.callId), { status: "ringing" })
    const { relay } = await answerCall(server, placed)
    assert.match(relay, /^\/webhooks\/twilio\/relay\/[\w-]{43}$/)
    assert.deepInclude(await callRecord(number.token, placed.callId), { status: "in_progress" })
    await ask(server, statusPath, news("completed", { CallDuration: "30", RecordingUrl: "https://never" }))
    assert.deepInclude(await callRecord(number.token, placed.callId), { status: "ended", connectedSeconds: 30 })
    assert.match((await answerCall(server, placed)).answer.text, isHangup)
  })

  it("is found only if both its ids match", async () => {
    const number = await newNumber(server)
    const placed = await placeCall(server, number)
    const another = await placeCall(server, number)
    const form = { CallSid: another.providerCallId, CallStatus: "in-progress" }
    for (const route of ["answer", "status", "resume"]) {
      for (const id of [placed.callId, "01890000-0000-7000-8000-000000000000", "none", "a%00b"]) {
        const answer = await ask(server, `/webhooks/twilio/${route}/${id}`, form)
        assert.deepStrictEqual([answer.status, answer.text], [404, ""], `${route} ${id}`)
      }
      const nonsense = await ask(server, `/webhooks/twilio/${route}/${placed.callId}`, {
        CallSid: "CA1",
        CallStatus: "x"
      })
      assert.deepStrictEqual([nonsense.status, nonsense.text], [400, ""])
    }
    assert.deepInclude(await callRecord(number.token, placed.callId), { status: "queued" })
  })

  it("learns its carrier id from the carrier's report if the response to dialing was lost", async () => {
    const number = await newNumber(server)
    server.carrier.failures.place = ["Unknown"]
    const known = server.carrier.calls.length
    const body = { phoneNumberId: number.phoneNumberId, toNumber: "+12025550150" }
    const paying = callPaid(server, "/api/v1/phone/call-1-minute", { body, token: number.token }, number.wallet)
    while (server.carrier.calls.length === known) await sleep(10)
    const { callId, providerCallId } = server.carrier.calls[known] ?? assert.fail("nothing was dialled")
    const ringing = { CallSid: providerCallId, CallStatus: "ringing" }
    assert.strictEqual((await ask(server, `/webhooks/twilio/status/${callId}`, ringing)).status, 204)
    const answer = await paying
    assert.strictEqual(answer.status, 201)
    assert.strictEqual(textAt(dataOf(answer), "call", "callId"), callId)
    assert.lengthOf(server.carrier.calls, known + 1)
    const stranger = { CallSid: freshCallSid(), CallStatus: "in-progress" }
    assert.strictEqual((await ask(server, `/webhooks/twilio/answer/${callId}`, stranger)).status, 404)
  })

  it("continues over a new relay when its relay broke, and is ended when the relay was ended", async () => {
    const number = await newNumber(server)
    const placed = await placeCall(server, number)
    const { relay } = await answerCall(server, placed)
    const end = (CallStatus: string, SessionStatus: string, more = {}) =>
      ask(server, `/webhooks/twilio/resume/${placed.callId}`, {
        CallSid: placed.providerCallId,
        CallStatus,
        SessionStatus,
        ...more
      })
    const broken = await end("in-progress", "failed", { ErrorCode: "64105" })
    // No relay has used the token.
    assert.strictEqual(relayOf(broken.text), relay)
    // The next relay waits a moment, in case relays fail at once.
    const again = await end("in-progress", "failed", { ErrorCode: "64105" })
    assert.match(again.text, /<Response><Pause length="1"\/><Connect /)
    assert.match((await end("in-progress", "ended")).text, isHangup)
    assert.match((await end("completed", "completed")).text, isHangup)
    assert.isTrue(server.logs.some((line) => line.includes("the relay of a call broke") && line.includes("64105")))
  })
})

describe("the log", () => {
  it("contains the paths of the carrier's requests, and no token of a relay", async () => {
    const path = "/webhooks/twilio/relay/c2VjcmV0"
    for (const target of [path, `${path}?a=1`, `${path}/more`]) await call(server, "GET", target)
    const lines = server.logs.filter((line) => line.includes("/webhooks/twilio/relay/"))
    assert.isAtLeast(lines.length, 3)
    for (const line of lines) assert.include(line, "/webhooks/twilio/relay/{token}")
    assert.notInclude(server.logs.join(), "c2VjcmV0")
    assert.isTrue(server.logs.some((line) => line.includes('"/webhooks/twilio/voice"')))
  })
})
