import { OPERATIONS } from "@agentos/api"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { ScriptedRail } from "@agentos/core/contract-tests"
import {
  call,
  callPaid,
  dataOf,
  errorOf,
  fresh,
  freshWallet,
  newTenant,
  payFor,
  textAt
} from "../support/TestClient.ts"
import { startServer, type TestServer } from "../support/TestServer.ts"

const MAILBOXES = "/api/v1/email/mailboxes"
const UPDATE = "/api/v1/email/mailboxes/update"
const SEND = "/api/v1/email/messages/send"

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

describe("paid operations", () => {
  it("return a mailbox and the wallet's token, once, in the envelope and with a receipt", async () => {
    const wallet = freshWallet()
    const localPart = fresh("ada")
    const request = { body: { localPart, displayName: "Ada" } }
    const headers = await payFor(server, MAILBOXES, request, wallet)
    const answer = await call(server, "POST", MAILBOXES, { ...request, headers })
    assert.strictEqual(answer.status, 201)
    assert.isNotNull(answer.headers.get("payment-response"))
    assert.strictEqual(answer.headers.get("cache-control"), "no-store")
    assert.strictEqual(answer.headers.get("content-type"), "application/json")
    const data = Schema.decodeUnknownSync(OPERATIONS.createMailbox.data)(dataOf(answer))
    assert.strictEqual(data.mailbox.address, `${localPart}@agents.test`)
    assert.match(data.authentication.accessToken ?? "", /^at_v1_[0-9A-Za-z]+$/)
    const envelope = JSON.parse(answer.text) as { requestId: string; guide: string }
    assert.strictEqual(envelope.requestId, answer.headers.get("x-request-id"))
    assert.strictEqual(envelope.guide, "/docs#mailboxes")
    assert.strictEqual(server.payments.transfers.get(wallet), 1)

    const token = data.authentication.accessToken ?? ""
    const second = await callPaid(server, MAILBOXES, { token, body: { localPart: fresh("ada") } }, wallet)
    assert.strictEqual(textAt(dataOf(second), "authentication", "accessToken"), data.authentication.accessToken)
  })

  it("return the same response to the same request, byte for byte and header for header", async () => {
    const wallet = freshWallet()
    const request = { body: { localPart: fresh("same") } }
    const headers = await payFor(server, MAILBOXES, request, wallet)
    const first = await call(server, "POST", MAILBOXES, { ...request, headers })
    const again = await call(server, "POST", MAILBOXES, { ...request, headers })
    assert.strictEqual(again.status, 201)
    assert.strictEqual(again.text, first.text)
    for (const name of ["payment-response", "x-request-id", "content-type"]) {
      assert.strictEqual(again.headers.get(name), first.headers.get(name))
    }
    assert.strictEqual(server.payments.transfers.get(wallet), 1)
  })

  it("are bound to the request target exactly as it was sent: a trailing ? is another target", async () => {
    const wallet = freshWallet()
    const request = { body: { localPart: fresh("target") } }
    const targets = [MAILBOXES, `${MAILBOXES}?`]
    for (const [signedFor, sentTo] of [targets, targets.toReversed()]) {
      const headers = await payFor(server, signedFor!, request, wallet)
      const refused = await call(server, "POST", sentTo!, { ...request, headers })
      assert.strictEqual(refused.status, 402, sentTo)
      assert.include(errorOf(refused).message, "made for another request")
    }
    const headers = await payFor(server, `${MAILBOXES}?`, request, wallet)
    const paid = await call(server, "POST", `${MAILBOXES}?`, { ...request, headers })
    assert.strictEqual(paid.status, 201)
    assert.strictEqual((await call(server, "POST", `${MAILBOXES}?`, { ...request, headers })).text, paid.text)
    const other = await call(server, "POST", MAILBOXES, { ...request, headers })
    assert.strictEqual(errorOf(other).code, "IDEMPOTENCY_CONFLICT")
  })

  it("recover the signer of a payment once, whether the payment is forged or valid", async () => {
    const wallet = freshWallet()
    const request = { body: { localPart: fresh("signed") } }
    const challenge = (await call(server, "POST", MAILBOXES, request)).headers.get("payment-required") ?? ""
    const statuses: Array<number> = []
    const counts: Array<number> = []
    for (const isForged of [true, false]) {
      const before = server.payments.authentications()
      const headers = {
        "payment-signature": ScriptedRail.pay(challenge, wallet, fresh("nonce"), isForged),
        "idempotency-key": fresh("key")
      }
      statuses.push((await call(server, "POST", MAILBOXES, { ...request, headers })).status)
      counts.push(server.payments.authentications() - before)
    }
    assert.deepStrictEqual(statuses, [402, 201])
    assert.deepStrictEqual(counts, [1, 1])
  })

  it("are fulfilled once for any number of concurrent copies of the request", async () => {
    const { mailboxId, token, wallet } = await newTenant(server)
    const request = { body: { mailboxId, to: ["a@example.com"], subject: fresh("once"), text: "t" }, token }
    const headers = await payFor(server, SEND, request, wallet)
    const before = server.payments.transfers.get(wallet)
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => call(server, "POST", SEND, { ...request, headers }))
    )
    const done = answers.filter(({ status }) => status === 201)
    assert.isAtLeast(done.length, 1)
    assert.lengthOf(new Set(done.map(({ text }) => text)), 1)
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      assert.strictEqual(answer.status, 409)
      const error = errorOf(answer)
      assert.strictEqual(error.code, "PAYMENT_PENDING")
      assert.isTrue(error.retryable)
      assert.deepStrictEqual(error.next, { method: "POST", path: SEND })
      assert.isNotNull(answer.headers.get("retry-after"))
    }
    assert.lengthOf(
      server.sent.filter(({ subject }) => subject === request.body.subject),
      1
    )
    assert.strictEqual(server.payments.transfers.get(wallet), (before ?? 0) + 1)
    const last = await call(server, "POST", SEND, { ...request, headers })
    assert.strictEqual(last.text, done[0]?.text)
  })

  it("refuse a key or a payment that belongs to another operation (409)", async () => {
    const wallet = freshWallet()
    const request = { body: { localPart: fresh("one") } }
    const headers = await payFor(server, MAILBOXES, request, wallet)
    assert.strictEqual((await call(server, "POST", MAILBOXES, { ...request, headers })).status, 201)
    const other = { body: { localPart: fresh("two") } }
    const otherHeaders = await payFor(server, MAILBOXES, other, wallet)
    const conflicts = [
      await call(server, "POST", MAILBOXES, { ...other, headers }),
      await call(server, "POST", MAILBOXES, { ...request, headers: { ...headers, "idempotency-key": fresh("k") } }),
      await call(server, "POST", MAILBOXES, {
        ...other,
        headers: { ...otherHeaders, "idempotency-key": headers["idempotency-key"] }
      })
    ]
    for (const answer of conflicts) {
      assert.strictEqual(answer.status, 409)
      assert.strictEqual(errorOf(answer).code, "IDEMPOTENCY_CONFLICT")
      // The state is that of the payment in the request, which is unused in the last one.
      assert.strictEqual(errorOf(answer).paymentState, answer === conflicts[2] ? "none" : "settled")
      assert.include(
        errorOf(answer).message,
        "Repeat the original request with its own key and payment, or use a new key"
      )
      assert.match(errorOf(answer).message, /(This request charged nothing\.|Nothing was charged\.)/)
      assert.notInclude(errorOf(answer).message, "send this one")
    }
    assert.strictEqual(server.payments.transfers.get(wallet), 1)
  })

  it("refund a payment that a third party submitted first, even if the request is invalid (409)", async () => {
    for (const [request, code] of [
      [{ body: { localPart: fresh("front") } }, undefined],
      // Without a body it returns a challenge, and is invalid once it is paid.
      [{}, 400]
    ] as const) {
      if (code !== undefined) {
        const unused = await payFor(server, MAILBOXES, request, freshWallet())
        const plain = await call(server, "POST", MAILBOXES, { ...request, headers: unused })
        assert.strictEqual(plain.status, code)
        assert.include(errorOf(plain).message, "Nothing was charged.")
      }
      const headers = await payFor(server, MAILBOXES, request, freshWallet())
      server.payments.useNonce(headers["payment-signature"])
      const answer = await call(server, "POST", MAILBOXES, { ...request, headers })
      assert.strictEqual(answer.status, 409)
      assert.deepInclude(errorOf(answer), { code: "IDEMPOTENCY_CONFLICT", retryable: false })
      assert.include(["refund_due", "refunded"], errorOf(answer).paymentState)
      assert.match(errorOf(answer).message, /^Operation [0-9a-f-]{36}: this payment .*(being refunded|been refunded)/)
      assert.notInclude(errorOf(answer).message, "Nothing was charged")
    }
  })

  it("report an unknown state while the chain cannot be queried about the payment of an invalid request", async () => {
    const headers = await payFor(server, MAILBOXES, {}, freshWallet())
    server.payments.outage.chain = true
    const answer = await call(server, "POST", MAILBOXES, { headers })
    server.payments.outage.chain = false
    assert.strictEqual(answer.status, 502)
    assert.deepInclude(errorOf(answer), { paymentState: "unknown", retryable: true })
    assert.notInclude(errorOf(answer).message, "Nothing was charged")
  })

  it("report an unknown payment state if the body is refused while it arrives (400)", async () => {
    const { mailboxId, token, wallet } = await newTenant(server)
    const message = { mailboxId, to: ["a@example.com"], subject: "s", text: "t" }
    const headers = await payFor(server, SEND, { body: message, token }, wallet)
    server.payments.useNonce(headers["payment-signature"])
    const body = `{"to":[${"0,".repeat(16 * 1024)}0]}`
    const answer = await call(server, "POST", SEND, { body, token, headers })
    assert.strictEqual(answer.status, 400)
    assert.strictEqual(errorOf(answer).paymentState, "unknown")
    assert.notInclude(errorOf(answer).message, "Nothing was charged")
  })

  it("refuse a payment that is invalid or for another request, with a challenge and the reason (402)", async () => {
    const wallet = freshWallet()
    const request = { body: { localPart: fresh("ref") } }
    const challenge = (await call(server, "POST", MAILBOXES, request)).headers.get("payment-required") ?? ""
    const foreign = await payFor(server, MAILBOXES, { body: { localPart: fresh("other") } }, wallet)
    const key = { "idempotency-key": fresh("key") }
    const refused = [
      { ...key, "payment-signature": "nonsense" },
      { ...key, "payment-signature": foreign["payment-signature"] },
      { ...key, "payment-signature": ScriptedRail.pay(challenge, wallet, fresh("n"), true) }
    ]
    for (const headers of refused) {
      const answer = await call(server, "POST", MAILBOXES, { ...request, headers })
      assert.strictEqual(answer.status, 402)
      assert.isNotNull(answer.headers.get("payment-required"))
      assert.match(
        errorOf(answer).message,
        /^Payment refused: .* Sign a new payment for the challenge in the PAYMENT-REQUIRED header.* Nothing was charged\.$/
      )
      assert.strictEqual(errorOf(answer).paymentState, "none")
    }
    assert.isUndefined(server.payments.transfers.get(wallet))
  })

  it("tell a client of x402 version 1 that this service speaks version 2, with a challenge (402)", async () => {
    const request = { body: { localPart: fresh("v1") } }
    const answer = await call(server, "POST", MAILBOXES, {
      ...request,
      headers: { "x-payment": "eyJ4NDAyVmVyc2lvbiI6MX0=" }
    })
    assert.strictEqual(answer.status, 402)
    assert.isNotEmpty(answer.headers.get("payment-required"))
    assert.strictEqual(
      errorOf(answer).message,
      "Payment refused: X-PAYMENT is the header of x402 version 1, and this service speaks version 2. Pay the challenge in " +
        "the PAYMENT-REQUIRED header with a client of version 2, which sends the payment as PAYMENT-SIGNATURE. " +
        "Nothing was charged."
    )
  })

  it("tell a client that streams its body to send it as one text (400)", async () => {
    const answer = await fetch(`${server.url}${MAILBOXES}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: ReadableStream.from([new TextEncoder().encode('{"localPart":'), new TextEncoder().encode('"ada"}')]),
      duplex: "half"
    })
    assert.strictEqual(answer.status, 400)
    assert.include(await answer.text(), "Content-Length is required. Send the body as one text instead of a stream")
  })

  it("name the field of the accepted terms that a client has changed (402)", async () => {
    const wallet = freshWallet()
    const request = { body: { localPart: fresh("lost") } }
    const header = (await call(server, "POST", MAILBOXES, request)).headers.get("payment-required") ?? ""
    const challenge = ScriptedRail.readChallenge(header)
    const accepts = challenge.accepts.map((terms) => ({ ...terms, maxTimeoutSeconds: terms.maxTimeoutSeconds + 1 }))
    const changed = Buffer.from(JSON.stringify({ ...challenge, accepts })).toString("base64")
    const headers = {
      "idempotency-key": fresh("key"),
      "payment-signature": ScriptedRail.pay(changed, wallet, fresh("n"))
    }
    const answer = await call(server, "POST", MAILBOXES, { ...request, headers })
    assert.strictEqual(answer.status, 402)
    assert.include(errorOf(answer).message, "does not offer: accepted.maxTimeoutSeconds is not that of the challenge.")
  })

  it("are paid by a client that sends the headers of both versions", async () => {
    const request = { body: { localPart: fresh("both") } }
    const headers = await payFor(server, MAILBOXES, request, freshWallet())
    const answer = await call(server, "POST", MAILBOXES, { ...request, headers: { ...headers, "x-payment": "e30=" } })
    assert.strictEqual(answer.status, 201)
  })

  it("tell the client to wait while a settlement is unknown, and never ask for another payment", async () => {
    const wallet = freshWallet()
    const request = { body: { localPart: fresh("lost") } }
    const headers = await payFor(server, MAILBOXES, request, wallet)
    server.payments.script.push("lose the answer")
    server.payments.outage.verify = true
    const unavailable = await call(server, "POST", MAILBOXES, { ...request, headers })
    server.payments.outage.verify = false
    assert.strictEqual(unavailable.status, 502)
    assert.strictEqual(errorOf(unavailable).code, "PROVIDER_TEMPORARY_FAILURE")
    assert.strictEqual(errorOf(unavailable).paymentState, "unknown")
    assert.notInclude(errorOf(unavailable).message, "Nothing was charged")
    assert.isNotNull(unavailable.headers.get("retry-after"))
    const settled = await call(server, "POST", MAILBOXES, { ...request, headers })
    assert.strictEqual(settled.status, 201)
    assert.strictEqual(server.payments.transfers.get(wallet), 1)
  })

  it("report the payment state when the provider is unavailable, or rejects permanently (502)", async () => {
    const { mailboxId, token, wallet } = await newTenant(server)
    const request = { body: { mailboxId, to: ["a@example.com"], subject: fresh("down"), text: "t" }, token }
    const headers = await payFor(server, SEND, request, wallet)
    server.sendScript.push("Temporary")
    const delayed = await call(server, "POST", SEND, { ...request, headers })
    assert.strictEqual(delayed.status, 502)
    assert.deepInclude(errorOf(delayed), {
      code: "PROVIDER_TEMPORARY_FAILURE",
      paymentState: "settled",
      retryable: true
    })
    assert.strictEqual((await call(server, "POST", SEND, { ...request, headers })).status, 201)

    const doomed = { ...request, body: { ...request.body, subject: fresh("no") } }
    server.sendScript.push("Rejected")
    const rejected = await callPaid(server, SEND, doomed, wallet)
    assert.strictEqual(rejected.status, 502)
    assert.deepInclude(errorOf(rejected), { code: "PROVIDER_REJECTED", paymentState: "refund_due", retryable: false })
  })

  it("update, delete and send as the contract defines", async () => {
    const { mailboxId, token, wallet } = await newTenant(server)
    const updated = await callPaid(server, UPDATE, { body: { mailboxId, displayName: "Ada" }, token }, wallet)
    assert.strictEqual(updated.status, 200)
    assert.strictEqual(
      Schema.decodeUnknownSync(OPERATIONS.updateMailbox.data)(dataOf(updated)).mailbox.displayName,
      "Ada"
    )

    const body = { mailboxId, to: ["a@example.com"], cc: ["b@example.com"], subject: "Hello", text: "Hi" }
    const sent = await callPaid(server, SEND, { body, token }, wallet)
    assert.strictEqual(sent.status, 201)
    const { message } = Schema.decodeUnknownSync(OPERATIONS.sendMessage.data)(dataOf(sent))
    assert.strictEqual(message.text, "Hi")

    const path = `/api/v1/email/messages/query?messageId=${message.messageId}`
    const read = Schema.decodeUnknownSync(OPERATIONS.queryMessages.data)(
      dataOf(await call(server, "GET", path, { token }))
    )
    assert.deepStrictEqual("message" in read ? read.message : undefined, message)

    const deletion = { body: { mailboxId }, token }
    const deleted = await callPaid(server, "/api/v1/email/mailboxes/delete", deletion, wallet)
    assert.strictEqual(deleted.status, 200)
    assert.deepInclude(Schema.decodeUnknownSync(OPERATIONS.deleteMailbox.data)(dataOf(deleted)), {
      mailboxId,
      deleted: true,
      messagesDeleted: 1
    })
  })
})
