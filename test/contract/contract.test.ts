import { readChainDescription } from "@agentos/sandbox"
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from "@x402/core/http"
import { randomUUID } from "node:crypto"
import { request as httpRequest } from "node:http"
import { join } from "node:path"
import { createTransport } from "nodemailer"
import { generatePrivateKey } from "viem/accounts"
import { beforeAll, describe, expect, it } from "vitest"
import { Agent, freshName, type Reply, type Request, untilNotPending } from "../support/Agent.ts"
import {
  ADD_MINUTES,
  BUY_CANADA,
  BUY_US,
  CALL_FIVE,
  CALL_ONE,
  EXTEND,
  NUMBERS,
  PHONE,
  RELEASE,
  RENEW
} from "../support/PhoneCustomer.ts"
import { Treasury } from "../support/Treasury.ts"
import { usePhone } from "../support/usePhone.ts"
import { type DocumentedOperation, ServedContract, UNKNOWN_ID as UNKNOWN } from "./ServedContract.ts"

/** Enough for this file, and few enough to use up at its end. */
const REQUESTS_PER_MINUTE = 3_000

const OPERATOR_TOKEN = "an-operator-token-of-the-contract-test"
const host = usePhone(async () => ({
  environment: {
    AGENTOS_RATE_LIMIT_PER_MINUTE: `${REQUESTS_PER_MINUTE}`,
    AGENTOS_OPERATOR_TOKEN: OPERATOR_TOKEN
  }
}))

/** Statuses of slow clients, defects, providers and the database. They may also occur by chance. */
const isFailure = (status: number): boolean => status === 408 || status >= 500
/** Those that this file brings about. */
const FAILED = ["502 callOneMinute", "503 registerDomain"]
const FUNDS = 100
const EMAIL = "/api/v1/email"
const EVENTS = "/api/v1/events"
const NO_TOKEN = { authorization: "" }

let contract: ServedContract
let ada: Agent
/** A tenant of its own, whose resources are strange to Ada. */
let bob: Agent
const bobsKey = generatePrivateKey()
let treasury: Treasury

beforeAll(async () => {
  const { running, sandbox } = host
  contract = await ServedContract.read(sandbox.baseUrl)
  const chain = await readChainDescription(join(running.directory, "chain"))
  if (chain === undefined) throw new Error("the sandbox's folder has no chain")
  treasury = new Treasury(chain)
  ;[ada, bob] = [newAgent(), newAgent(bobsKey)]
  await treasury.fund([ada.account.address, bob.account.address], FUNDS)
})

/** Returns a client with a wallet of its own, whose responses are compared with the document. */
const newAgent = (privateKey = generatePrivateKey()): Agent =>
  new Agent(host.sandbox, privateKey, undefined, contract.fetch(host.sandbox.baseUrl))

/** Sends a request, and expects its status. */
const drive = async (agent: Agent, request: Request, status: number): Promise<Reply> => {
  const reply = await agent.send(request)
  expect([request.method, request.path, reply.status, reply.status === status ? "" : reply.text]).toEqual([
    request.method,
    request.path,
    status,
    ""
  ])
  return reply
}

const post = (path: string, body: object = {}): Request => ({ method: "POST", path, body })

/** Requests an operation without payment, pays for it, and repeats it: the same answer, byte for byte. */
const drivePaid = async (agent: Agent, request: Request, status: number): Promise<Record<string, never>> => {
  const challenge = await drive(agent, { method: "POST", ...request }, 402)
  const required = decodePaymentRequiredHeader(challenge.headers.get("payment-required")!)
  const signature = encodePaymentSignatureHeader(await agent.sign(required))
  const key = randomUUID()
  const paid = await untilNotPending(() => agent.replay(request, signature, key))
  expect([request.path, paid.status, paid.status === status ? "" : paid.text]).toEqual([request.path, status, ""])
  const again = await agent.replay(request, signature, key)
  expect([again.status, again.text]).toEqual([status, paid.text])
  const conflict = await agent.replay(request, signature, randomUUID())
  expect([conflict.status, conflict.body.error.code]).toEqual([409, "IDEMPOTENCY_CONFLICT"])
  const { data } = paid.body
  const { authentication } = data as { readonly authentication?: { readonly accessToken?: string } }
  if (agent.token === undefined) await agent.authenticate(authentication)
  return data
}

/** Expects that an unknown id is not found, and that one of another tenant is refused. */
const driveIds = async (request: (id: string) => Request, strangers: string): Promise<void> => {
  const unknown = await drive(ada, request(UNKNOWN), 404)
  expect(unknown.body.error.code).toBe("RESOURCE_NOT_FOUND")
  const refused = await drive(ada, request(strangers), 403)
  expect(refused.body.error.code).toBe("RESOURCE_NOT_OWNED")
}

/** Expects that a response with an entity tag is not sent again to a client that has it. */
const driveTag = async (agent: Agent, request: Request): Promise<Reply> => {
  const full = await drive(agent, request, 200)
  const etag = full.headers.get("etag")
  expect(etag).not.toBeNull()
  const kept = await drive(agent, { ...request, headers: { ...request.headers, "if-none-match": etag! } }, 304)
  expect(kept.text).toBe("")
  const head = await drive(agent, { ...request, method: "HEAD" }, 200)
  expect([head.headers.get("etag"), head.headers.get("content-type")]).toEqual([etag, full.headers.get("content-type")])
  return full
}

const deliver = (to: string, attachments: ReadonlyArray<object>) =>
  createTransport({
    host: host.sandbox.mail.host,
    port: host.sandbox.mail.port,
    requireTLS: true,
    tls: { rejectUnauthorized: false }
  }).sendMail({
    from: "Zoe <zoe@elsewhere.test>",
    to,
    subject: "Files",
    text: "See the files.",
    attachments: [...attachments]
  })

type Fields = Record<string, never>
const items = (reply: Reply): ReadonlyArray<Fields> => reply.body.data["items"] as unknown as ReadonlyArray<Fields>
const idOf = (resource: unknown, name: string): string => String((resource as Record<string, unknown>)[name])

/** Returns the answer to a raw request whose body never comes, for bodies that are refused by their length. */
const announce = (method: string, path: string, length: number): Promise<Response> =>
  new Promise((resolve, reject) => {
    const sent = httpRequest(`${host.sandbox.baseUrl}${path}`, {
      method,
      headers: { "content-type": "application/json", "content-length": length, authorization: `Bearer ${ada.token}` }
    })
    sent.on("error", reject).on("response", (incoming) => {
      const chunks: Array<Buffer> = []
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
      incoming.on("end", () => {
        sent.destroy()
        const headers = Object.entries(incoming.headers).map(([name, value]): [string, string] => [name, String(value)])
        resolve(new Response(Buffer.concat(chunks), { status: incoming.statusCode!, headers }))
      })
    })
    sent.flushHeaders()
  })

/** Requests every operation in the same way; `request` returns undefined for one that does not apply. */
const driveEach = async (
  request: (operation: DocumentedOperation) => Request | undefined,
  status: number,
  caller: () => Agent = () => ada
): Promise<void> => {
  for (const operation of contract.operations) {
    const { method } = operation
    const chosen = request(operation)
    if (chosen !== undefined) await drive(caller(), { method, ...chosen }, status)
  }
}

describe("the server answers as its OpenAPI document describes", () => {
  it("in the discovery of services", async () => {
    await driveTag(bob, { path: "/api/v1" })
    const listed = await driveTag(bob, { path: "/api/v1/services" })
    expect(items(listed).length).toBeGreaterThan(30)
    for (const { serviceId } of items(listed)) await driveTag(bob, { path: `/api/v1/services/${String(serviceId)}` })
    await drive(bob, { path: "/api/v1/services/unknown" }, 404)
    await drive(bob, post("/api/v1/domains/register"), 503)
    await drive(bob, { path: `${PHONE}/voices` }, 200)
  })

  it("for mailboxes", async () => {
    const path = `${EMAIL}/mailboxes`
    const [localPart, other] = [freshName(), freshName()]
    const created = await drivePaid(ada, { path, body: { localPart } }, 201)
    const mailboxId = idOf(created["mailbox"], "mailboxId")
    const strange = await drivePaid(bob, { path, body: { localPart: other } }, 201)
    await drive(ada, post(path, { localPart }), 409)
    await drive(ada, post(path, { localPart: "" }), 400)
    const strangers = idOf(strange["mailbox"], "mailboxId")
    await driveIds((id) => post(`${path}/update`, { mailboxId: id, active: true }), strangers)
    await driveIds((id) => post(`${path}/delete`, { mailboxId: id }), strangers)
    await drivePaid(ada, { path: `${path}/update`, body: { mailboxId, displayName: "Ada", senderPolicy: {} } }, 200)
    expect(items(await drive(ada, { path: `${path}/query` }, 200))).toHaveLength(1)
    const second = await drivePaid(ada, { path, body: { localPart: freshName(), displayName: "Second" } }, 201)
    await drivePaid(ada, { path: `${path}/delete`, body: { mailboxId: idOf(second["mailbox"], "mailboxId") } }, 200)
  })

  it("for messages, attachments and suppressions", async () => {
    const [mailbox] = items(await drive(ada, { path: `${EMAIL}/mailboxes/query` }, 200))
    const [strange] = items(await drive(bob, { path: `${EMAIL}/mailboxes/query` }, 200))
    const mailboxId = idOf(mailbox, "mailboxId")
    const path = `${EMAIL}/messages/send`
    const missing = `${freshName()}@bounce.test`
    const body = { mailboxId, to: ["zoe@elsewhere.test", missing], subject: "s", text: "t" }
    await driveIds((id) => post(path, { ...body, mailboxId: id }), idOf(strange, "mailboxId"))
    await drivePaid(
      ada,
      {
        path,
        body: {
          ...body,
          cc: ["Carol@elsewhere.test"],
          html: "<p>t</p>",
          attachments: [{ filename: "a.txt", contentType: "text/plain; charset=utf-8", contentBase64: "SGVsbG8=" }]
        }
      },
      201
    )
    const sendAt = new Date(Date.now() + 86_400_000).toISOString()
    const later = await drivePaid(ada, { path, body: { ...body, to: ["zoe@elsewhere.test"], sendAt } }, 201)
    const laterId = idOf(later["message"], "messageId")
    const { data } = (await drive(ada, post(`${EMAIL}/messages/cancel`, { messageId: laterId }), 200)).body
    expect(data).toMatchObject({ message: { status: "canceled", sendAt } })
    await drive(ada, post(path, { ...body, to: [missing] }), 400)
    const suppressed = items(await drive(ada, { path: `${EMAIL}/suppressions/query?limit=10` }, 200))
    expect(suppressed).toMatchObject([{ address: missing }])
    await drive(ada, post(`${EMAIL}/suppressions/lift`, { address: missing }), 200)

    await deliver(String(mailbox!["address"]), [
      { filename: "a.csv", content: "a,b", contentType: "text/csv; charset=utf-8" },
      { filename: "ü.html", content: "<p>x</p>", contentType: "text/html" }
    ])
    await deliver(String(strange!["address"]), [{ filename: "a.txt", content: "a" }])
    const received = async (agent: Agent): Promise<Fields> =>
      host.carrier
        .until(
          async () => items(await drive(agent, { path: `${EMAIL}/messages/query?direction=inbound` }, 200)),
          (found) => found.length === 1
        )
        .then(([message]) => message!)
    const mine = await received(ada)
    const theirs = await received(bob)
    const messageId = idOf(mine, "messageId")
    await drive(ada, { path: `${EMAIL}/messages/query?limit=1` }, 200)
    await drive(ada, { path: `${EMAIL}/messages/query?messageId=${messageId}` }, 200)
    await driveIds((id) => ({ path: `${EMAIL}/messages/query?messageId=${id}` }), idOf(theirs, "messageId"))
    const cancel = (messageId: string) => post(`${EMAIL}/messages/cancel`, { messageId })
    await driveIds(cancel, idOf(theirs, "messageId"))
    // A received message is not scheduled.
    await drive(ada, cancel(messageId), 409)
    const update = (id: string) =>
      post(`${EMAIL}/messages/update`, { messageIds: [id], addLabels: ["a"], unread: false })
    await drive(ada, update(messageId), 200)
    await driveIds(update, idOf(theirs, "messageId"))
    await drive(ada, post(`${EMAIL}/messages/update`, { messageIds: [messageId] }), 400)
    await drive(ada, { path: `${EMAIL}/messages/query?label=a&unread=false` }, 200)
    await drive(ada, { path: `${EMAIL}/threads/query?label=a&unread=false&mailboxId=${mailboxId}` }, 200)
    await drive(ada, { path: `${EMAIL}/threads/query?threadId=${messageId}` }, 200)
    await driveIds((id) => ({ path: `${EMAIL}/threads/query?threadId=${id}` }), idOf(theirs, "threadId"))
    const attachments = mine["attachments"] as unknown as ReadonlyArray<{ readonly attachmentId: string }>
    const fileOf = (id: string, attachmentId: string) => ({
      path: `${EMAIL}/messages/${id}/attachments/${attachmentId}`
    })
    const types = []
    for (const { attachmentId } of attachments)
      types.push((await driveTag(ada, fileOf(messageId, attachmentId))).headers.get("content-type"))
    expect(types).toEqual(["text/csv; charset=utf-8", "application/octet-stream"])
    await driveIds((id) => fileOf(id, attachments[0]!.attachmentId), idOf(theirs, "messageId"))
    await driveTag(ada, { path: `${EMAIL}/messages/${messageId}/raw` })
    await driveIds((id) => ({ path: `${EMAIL}/messages/${id}/raw` }), idOf(theirs, "messageId"))
  })

  it("for numbers", async () => {
    const order = { agentName: "Ada", agentWebhookUrl: host.sandbox.agentWebhookUrl }
    await drivePaid(ada, { path: BUY_US, body: { ...order, description: "Mine" } }, 201)
    const canadian = await drivePaid(ada, { path: BUY_CANADA, body: order }, 201)
    const strange = await drivePaid(bob, { path: BUY_US, body: order }, 201)
    await drive(ada, post(BUY_US, { ...order, areaCode: "000" }), 409)
    const phoneNumberId = idOf(canadian, "phoneNumberId")
    const strangers = idOf(strange, "phoneNumberId")
    for (const path of [RENEW, ADD_MINUTES]) {
      await drivePaid(ada, { path, body: { phoneNumberId } }, 200)
      await driveIds((id) => post(path, { phoneNumberId: id }), strangers)
    }
    await drive(ada, { path: NUMBERS }, 200)
    await driveIds((id) => post(RELEASE, { phoneNumberId: id, confirmRelease: true }), strangers)
    await drive(ada, post(RELEASE, { phoneNumberId, confirmRelease: false }), 400)
    await drive(ada, post(RELEASE, { phoneNumberId, confirmRelease: true }), 200)
    for (const request of [post(RENEW, { phoneNumberId }), post(RELEASE, { phoneNumberId, confirmRelease: true })]) {
      expect((await drive(ada, request, 409)).body.error.code).toBe("NUMBER_RELEASED")
    }
  })

  it("for calls", async () => {
    const { carrier } = host
    const [number] = items(await drive(ada, { path: NUMBERS }, 200)).filter(({ status }) => status === "active")
    const [strange] = items(await drive(bob, { path: NUMBERS }, 200))
    const phoneNumberId = idOf(number, "phoneNumberId")
    const calls: Array<string> = []
    for (const path of [CALL_ONE, CALL_FIVE]) {
      const toNumber = await carrier.person({ lines: ["Who's there?"], seconds: 50 })
      await driveIds((id) => post(path, { phoneNumberId: id, toNumber }), idOf(strange, "phoneNumberId"))
      const { call } = await drivePaid(ada, { path, body: { phoneNumberId, toNumber, initialGreeting: "Hello" } }, 201)
      calls.push(idOf(call, "callId"))
    }
    const theirs = await drivePaid(
      bob,
      { path: CALL_ONE, body: { phoneNumberId: idOf(strange, "phoneNumberId"), toNumber: await carrier.person() } },
      201
    )
    const strangers = idOf(theirs["call"], "callId")
    const [callId = ""] = calls
    const stateOf = async () =>
      (await drive(ada, { path: `${PHONE}/calls/${callId}` }, 200)).body.data["call"]! as Fields
    await carrier.until(stateOf, ({ status }) => status === "in_progress")
    await drivePaid(ada, { path: EXTEND, body: { callId } }, 200)
    await driveIds((id) => post(EXTEND, { callId: id }), strangers)
    await driveIds((id) => ({ path: `${PHONE}/calls/${id}` }), strangers)
    await driveIds((id) => ({ path: `${PHONE}/calls?phoneNumberId=${id}` }), idOf(strange, "phoneNumberId"))
    await driveIds((id) => ({ path: `${PHONE}/calls/${id}/transcript` }), strangers)
    await carrier.speed(20)
    await carrier.until(stateOf, ({ status }) => status === "ended")
    await carrier.speed(1)
    await drive(ada, { path: `${PHONE}/calls/${callId}/transcript?limit=1` }, 200)
    await drive(ada, { path: `${PHONE}/calls?limit=1&direction=outbound` }, 200)
    await drive(ada, post(EXTEND, { callId }), 409)
  })

  it("for payments that were refunded, and for the state of payments", async () => {
    const { carrier } = host
    const [number] = items(await drive(ada, { path: NUMBERS }, 200)).filter(({ status }) => status === "active")
    const toNumber = await carrier.person()
    const call = { path: CALL_ONE, body: { phoneNumberId: idOf(number, "phoneNumberId"), toNumber } }
    await carrier.fault({ operation: "call", mode: "reject", only: toNumber })
    const rejected = await ada.payment(call)
    const key = randomUUID()
    expect((await untilNotPending(() => ada.replay(call, rejected, key))).status).toBe(502)
    const repeated = await carrier.until(
      () => ada.replay(call, rejected, key),
      ({ body }) => body.error.paymentState === "refunded"
    )
    expect([repeated.status, repeated.headers.has("payment-response")]).toEqual([502, true])

    // A payment that reaches the chain before its request buys nothing, and is refunded.
    const mailbox = { path: `${EMAIL}/mailboxes`, body: { localPart: freshName() } }
    const signed = await ada.sign(await ada.challenge(mailbox))
    const { authorization, signature } = signed.payload as {
      readonly authorization: Readonly<Record<string, `0x${string}`>>
      readonly signature: `0x${string}`
    }
    await treasury.submit({
      from: authorization["from"]!,
      to: authorization["to"]!,
      value: BigInt(authorization["value"]!),
      validAfter: BigInt(authorization["validAfter"]!),
      validBefore: BigInt(authorization["validBefore"]!),
      nonce: authorization["nonce"]!,
      signature
    })
    const header = encodePaymentSignatureHeader(signed)
    const [early] = [randomUUID()]
    const returned = await carrier.until(
      () => ada.replay(mailbox, header, early),
      ({ body }) => body.error.paymentState === "refunded"
    )
    expect([returned.status, returned.headers.has("payment-response")]).toEqual([409, true])

    const path = "/api/v1/payments/status"
    const status = await drive(ada, { method: "POST", path, headers: { "payment-signature": rejected } }, 200)
    const operationId = idOf(status.body.data["payment"], "operationId")
    await drive(ada, { method: "POST", path }, 400)
    await drive(ada, { ...post(path, { undocumented: 1 }), headers: { "payment-signature": rejected } }, 400)
    await drive(ada, { path: `/api/v1/payments/${operationId}` }, 200)
    await drive(ada, { path: `/api/v1/payments/networks?wallet=${ada.account.address}`, headers: NO_TOKEN }, 200)
    const events = items(await drive(bob, post(`${EVENTS}/list`, { types: ["payment.completed"], limit: 1 }), 200))
    await driveIds((id) => ({ path: `/api/v1/payments/${id}` }), idOf(events[0], "resourceId"))
  })

  it("for events and their webhook", async () => {
    const listed = items(await drive(ada, post(`${EVENTS}/list`, { limit: 100 }), 200))
    expect(new Set(listed.map(({ type }) => type)).size).toBeGreaterThan(5)
    const [first, second, third] = listed.map((event) => idOf(event, "eventId"))
    const [strange] = items(await drive(bob, post(`${EVENTS}/list`, { limit: 1 }), 200))
    const strangers = idOf(strange, "eventId")
    await drive(ada, { path: `${EVENTS}/realtime-token` }, 200)
    await drive(ada, { path: `${EVENTS}?limit=200` }, 200)
    await drive(ada, post(`${EVENTS}/get`, { eventId: first }), 200)
    await driveIds((eventId) => post(`${EVENTS}/get`, { eventId }), strangers)
    await drive(ada, post(`${EVENTS}/ack`, { eventId: second }), 200)
    await driveIds((eventId) => post(`${EVENTS}/ack`, { eventId }), strangers)
    await drive(ada, { method: "POST", path: `${EVENTS}/${third}/acknowledge` }, 200)
    await driveIds((id) => ({ method: "POST", path: `${EVENTS}/${id}/acknowledge` }), strangers)
    await drive(ada, post(`${EVENTS}/ack-all`, { before: new Date().toISOString(), types: ["email.received"] }), 200)

    const path = `${EVENTS}/webhook`
    await drive(ada, { path }, 404)
    await drive(ada, { path: `${path}/deliveries` }, 404)
    await drive(ada, { method: "DELETE", path }, 404)
    await drive(ada, post(path, { url: "http://192.0.2.1/" }), 400)
    const webhook = { url: host.sandbox.agentWebhookUrl, types: ["payment.completed"] }
    await drive(ada, post(path, webhook), 201)
    await drive(ada, post(path, { ...webhook, rotateSecret: true }), 200)
    await drive(ada, { path }, 200)
    await host.carrier.until(
      async () => items(await drive(ada, { path: `${path}/deliveries` }, 200)),
      (attempts) => attempts.length > 0
    )
    await drive(ada, { method: "DELETE", path }, 200)
  })

  it("for the wallet that signs in", async () => {
    for (const path of ["/api/v1/auth/token", "/api/v1/auth/revoke"]) {
      await drive(bob, { ...post(path), headers: NO_TOKEN }, 402)
      await drive(bob, { ...post(path), headers: { ...NO_TOKEN, "sign-in-with-x": "bm90IGEgbWVzc2FnZQ==" } }, 400)
      await drive(bob, { ...post(path), headers: { origin: "https://elsewhere.example" } }, 403)
      await expect(newAgent().signIn(path)).rejects.toThrow("404")
      let message = ""
      const recording: typeof fetch = (input, init) => {
        const request = new Request(input, init)
        message = request.headers.get("sign-in-with-x") ?? message
        return contract.fetch(host.sandbox.baseUrl)(request)
      }
      bob.token = await new Agent(host.sandbox, bobsKey, undefined, recording).signIn(path)
      await drive(bob, { method: "POST", path, headers: { ...NO_TOKEN, "sign-in-with-x": message } }, 401)
    }
    await drive(bob, { path: NUMBERS }, 200)
  })

  it("for a wallet that presents the token of another one", async () => {
    const mailbox = { path: `${EMAIL}/mailboxes`, body: { localPart: freshName() } }
    const order = { agentName: "Ada", agentWebhookUrl: host.sandbox.agentWebhookUrl }
    for (const request of [mailbox, { path: BUY_US, body: order }, { path: BUY_CANADA, body: order }]) {
      const signature = encodePaymentSignatureHeader(await bob.sign(await ada.challenge(request)))
      const reply = await ada.replay(request, signature, randomUUID())
      expect([reply.status, reply.body.error.code]).toEqual([403, "FORBIDDEN"])
      await drive(ada, { ...post(request.path, request.body), headers: { authorization: "Bearer at_v1.unknown" } }, 401)
    }
  })

  it("for a tenant that the operator suspended", async () => {
    const suspended = await fetch(`${host.sandbox.operatorUrl}/internal/tenants/${bob.account.address}/suspend`, {
      method: "POST",
      headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({ reason: "a test" })
    })
    expect(suspended.status).toBe(200)
    expect((await drive(bob, { path: `${EVENTS}/realtime-token` }, 403)).body.error.code).toBe("FORBIDDEN")
    await drive(bob, { path: NUMBERS }, 200)
    await drive(bob, post(`${EMAIL}/mailboxes`, { localPart: freshName() }), 403)
  })

  it("to requests of every operation that lack a token, or have a wrong one", async () => {
    const isBearer = ({ operation }: DocumentedOperation) => JSON.stringify(operation["security"]).includes("apiKey")
    const stranger = newAgent()
    await driveEach(
      (operation) => (isBearer(operation) ? { path: operation.samplePath } : undefined),
      428,
      () => stranger
    )
    stranger.token = "at_v1.unknown"
    await driveEach(
      (operation) => (isBearer(operation) ? { path: operation.samplePath } : undefined),
      401,
      () => stranger
    )
  })

  it("to requests of every operation with an unknown field or parameter", async () => {
    await driveEach(({ method, operationId, samplePath }) => {
      if (operationId === "registerDomain") return undefined
      return method === "POST"
        ? { path: samplePath, body: { undocumented: 1 } }
        : { path: `${samplePath}?undocumented=1` }
    }, 400)
    await driveEach(
      ({ operation, samplePath }) =>
        JSON.stringify(operation["parameters"]).includes('"format":"uuid"') && samplePath.includes(UNKNOWN)
          ? { path: samplePath.replaceAll(UNKNOWN, "no-id") }
          : undefined,
      400
    )
  })

  it("to requests of every operation that HTTP does not allow", async () => {
    const long = "a".repeat(9_000)
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`x-header-${index}`, "1"]))
    const query = Array.from({ length: 33 }, (_, index) => `a${index}=`).join("&")
    await driveEach(({ samplePath }) => ({ path: `${samplePath}?${query}` }), 400)
    await driveEach(({ samplePath }) => ({ path: `${samplePath}?a=${long}` }), 414)
    await driveEach(({ samplePath }) => ({ path: samplePath, headers: many }), 431)
    await driveEach(
      ({ method, samplePath }) =>
        method === "POST" ? { path: samplePath, body: "{}", headers: { "content-type": "text/plain" } } : undefined,
      415
    )
    for (const { method, samplePath } of contract.operations.filter((operation) => operation.method === "POST")) {
      const response = await announce(method, samplePath, 1_000_000_000)
      expect([samplePath, response.status]).toEqual([samplePath, 413])
      await contract.compare({ method, path: samplePath }, response)
    }
  })

  it("to other methods, as OPTIONS lists them", async () => {
    for (const [path, methods] of contract.methods) {
      const samplePath = contract.operations.find((operation) => operation.path === path)!.samplePath
      const allowed = methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]))
      const listed = await ada.send({ method: "OPTIONS", path: samplePath })
      expect([samplePath, listed.status, listed.headers.get("allow")?.split(", ").toSorted()]).toEqual([
        samplePath,
        204,
        [...allowed, "OPTIONS"].toSorted()
      ])
      const refused = await drive(ada, { method: "PUT", path: samplePath, body: {} }, 405)
      expect(refused.headers.get("allow")?.split(", ").toSorted()).toEqual([...allowed, "OPTIONS"].toSorted())
    }
    await drive(ada, { path: "/api/v1/unknown" }, 404)
  })

  it("to HEAD, with the headers of GET", async () => {
    await driveEach(({ method, operationId, samplePath }) => {
      const isFound = !samplePath.includes(UNKNOWN) && !operationId.includes("Webhook")
      return method === "GET" && isFound ? { method: "HEAD", path: samplePath } : undefined
    }, 200)
  })

  it("to every operation of a client that uses up its rate limit", async () => {
    const isRefused = async () => (await announce("POST", `${EMAIL}/mailboxes`, 1_000_000_000)).status === 429
    while (!(await isRefused())) {}
    const stranger = newAgent()
    for (const { method, samplePath } of contract.operations) {
      let reply = await stranger.send({ method, path: samplePath })
      while (reply.status !== 429) reply = await stranger.send({ method, path: samplePath })
    }
  })

  it("without a contradiction, after every operation has succeeded", async () => {
    expect([...contract.contradictions]).toEqual([])
    expect(contract.hiddenHeaders()).toEqual([])
    expect(contract.headerNames().filter((name) => !contract.receivedHeaders.has(name))).toEqual([])
    const missed = contract.operations.flatMap(({ operationId, statuses }) => {
      const received = contract.received.get(operationId) ?? new Set()
      return statuses
        .map((status) => ({ status, name: `${status} ${operationId}` }))
        .filter(({ name, status }) => (isFailure(status) ? !FAILED.includes(name) : !received.has(status)))
        .map(({ name }) => name)
    })
    expect(missed.filter((name) => /^[23]/.test(name))).toEqual([])
    await expect(`${missed.toSorted().join("\n")}\n`).toMatchFileSnapshot("golden/notReached.txt")
  })
})
