import { ERROR_PAYMENT_STATES, OPERATIONS } from "@agentos/api"
import {
  AS_CLAIMED,
  type ErrorCode,
  isFinal,
  type Operation,
  type OperationFailure,
  type OperationState,
  OperationStore,
  type PaymentState,
  RequestBinding,
  TenantStore,
  Timestamp,
  Uuid,
  walletAddress
} from "@agentos/core"
import { Effect, Option, Schema } from "effect"
import { createHash } from "node:crypto"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { call, callPaid, dataOf, errorOf, fresh, newTenant, payFor, type TestAnswer } from "../support/TestClient.ts"
import { startServer, type TestServer } from "../support/TestServer.ts"

const MAILBOXES = "/api/v1/email/mailboxes"
const UPDATE = "/api/v1/email/mailboxes/update"
const SEND = "/api/v1/email/messages/send"
const UNKNOWN_ID = "01900000-0000-7000-8000-000000000000"

type Cell = `${ErrorCode} ${PaymentState}`

/** Every cell of the table of error codes and payment states that can occur. */
const CELLS = Object.entries(ERROR_PAYMENT_STATES).flatMap(([code, states]) =>
  states.map((state) => `${code} ${state}` as Cell)
)

/**
 * Cells that take a carrier, a body that stops or a crash to reach. The wire test of the API package shows each, and
 * the tests of calls, bodies and completion reach them.
 */
const ELSEWHERE: ReadonlyArray<Cell> = [
  "INTERNAL_ERROR none",
  "REQUEST_TIMEOUT none",
  "REQUEST_TIMEOUT unknown",
  "ALLOWANCE_EXHAUSTED none",
  "NUMBER_EXPIRING none",
  "NUMBER_RELEASED none",
  "QUOTA_EXCEEDED none",
  "PROVIDER_TEMPORARY_FAILURE none",
  "PROVIDER_TEMPORARY_FAILURE pending"
]

const seen = new Set<Cell>()

/** Records the cell of an answer, and expects it. */
const expectCell = (answer: TestAnswer, code: ErrorCode, state: PaymentState) => {
  const error = errorOf(answer)
  expect([error.code, error.paymentState]).toEqual([code, state])
  const saysNothingCharged = error.message.includes("Nothing was charged")
  expect(saysNothingCharged).toBe(state === "none")
  seen.add(`${code} ${state}`)
}

let server: TestServer
let ada: Awaited<ReturnType<typeof newTenant>>
let bob: Awaited<ReturnType<typeof newTenant>>
beforeAll(async () => {
  server = await startServer()
  ada = await newTenant(server)
  bob = await newTenant(server)
})
afterAll(() => server.stop())

/** The moves to each state of an operation. */
const MOVES: Readonly<Partial<Record<OperationState, ReadonlyArray<OperationState>>>> = {
  claimed: [],
  unpaid: ["unpaid"],
  settling: ["settling"],
  refused: ["settling", "refused"],
  settled: ["settling", "settled"],
  refund_due: ["settling", "settled", "refund_due"],
  refunded: ["settling", "settled", "refund_due", "refunded"]
}

const FAILURES: Readonly<Partial<Record<OperationState, { readonly failure: OperationFailure }>>> = {
  refund_due: { failure: { kind: "rejected", message: "The provider refuses." } },
  refused: { failure: { kind: "refused", message: "The facilitator refuses." } },
  unpaid: { failure: { kind: "refused", message: "The facilitator refuses." } }
}

const STATE_OF: Readonly<Record<PaymentState, OperationState | null>> = {
  none: null,
  pending: "claimed",
  unknown: "settling",
  settled: "settled",
  refund_due: "refund_due",
  refunded: "refunded"
}

/** A signed request of Ada's whose payment an operation holds in the given state, under a lease; null: none holds it. */
const heldIn = async (state: OperationState | null) => {
  const body = JSON.stringify({ mailboxId: ada.mailboxId, displayName: fresh("Ada ") })
  const headers = await payFor(server, UPDATE, { body, token: ada.token }, ada.wallet)
  const send = (token: string | undefined, more: Readonly<Record<string, string | undefined>> = {}) => {
    const sent = Object.entries({ ...headers, ...more }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]]
    )
    return call(server, "POST", UPDATE, {
      body,
      headers: Object.fromEntries(sent),
      ...(token === undefined ? {} : { token })
    })
  }
  if (state !== null) {
    await server.run(hold(headers, body, state))
  }
  return { headers, send }
}

const hold = (headers: Awaited<ReturnType<typeof payFor>>, body: string, state: OperationState) =>
  Effect.gen(function* () {
    const store = yield* OperationStore
    const tenants = yield* TenantStore
    const { tenantId } = Option.getOrThrow(yield* tenants.findByWallet(walletAddress(ada.wallet)))
    const proof = yield* Effect.orDie(server.payments.rail.decodeProof(headers["payment-signature"]))
    const binding = { tenantId, method: "POST", path: UPDATE, query: "" }
    const bodyHash = createHash("sha256").update(body).digest("hex")
    const now = yield* Timestamp.now
    const operation: Operation = {
      operationId: yield* Uuid.next,
      tenantId,
      serviceId: "email.mailbox.update",
      endpoint: `POST ${UPDATE}`,
      idempotencyKey: headers["idempotency-key"],
      fingerprint: RequestBinding.fingerprint({ ...binding, bodyHash }),
      requestId: yield* Uuid.next,
      trace: null,
      proof,
      terms: { ...server.payments.rail.terms(10_000n)[0]!, extra: { issuedAt: now, keyId: 1 } },
      input: body,
      plan: "{}",
      ...AS_CLAIMED,
      createdAt: now,
      updatedAt: now
    }
    yield* store.claim(operation, 60_000)
    let known: Operation = operation
    for (const to of MOVES[state] ?? []) {
      yield* store.advance(known, {
        to,
        change: FAILURES[to] ?? {},
        next: isFinal(to) ? { kind: "none" } : { kind: "leased", millis: 60_000 }
      })
      known = { ...known, state: to }
    }
  })

describe("the status of a payment", () => {
  const STATUS = "/api/v1/payments/status"
  const ADVICE: Readonly<Record<PaymentState, string>> = {
    none: "retry_same",
    pending: "wait",
    unknown: "wait",
    settled: "wait",
    refund_due: "wait",
    refunded: "done"
  }
  const Status = OPERATIONS.readPaymentStatus.data
  const statusIn = (answer: TestAnswer) => {
    expect(answer.status).toBe(200)
    return Schema.decodeUnknownSync(Status)(dataOf(answer), { onExcessProperty: "error" }).payment
  }
  const read = (signature: string) => call(server, "POST", STATUS, { headers: { "payment-signature": signature } })

  it.each(Object.entries(STATE_OF))(
    "is shown for a payment that is %s, by its header alone and to the owner of its operation",
    async (state, held) => {
      const { headers } = await heldIn(held)
      const status = statusIn(await read(headers["payment-signature"]))
      expect(status).toMatchObject({ paymentState: state, advice: ADVICE[state as PaymentState], amount: "10000" })
      const { operationId } = status
      expect(operationId === null).toBe(held === null)
      if (operationId === null) return
      const path = `/api/v1/payments/${operationId}`
      const owned = statusIn(await call(server, "GET", path, { token: ada.token }))
      expect({ ...owned, retryAfterSeconds: 0 }).toEqual({ ...status, retryAfterSeconds: 0 })
      expect(errorOf(await call(server, "GET", path, { token: bob.token })).code).toBe("RESOURCE_NOT_OWNED")
      expect(errorOf(await call(server, "GET", path)).code).toBe("ONBOARDING_REQUIRED")
      // Nothing was settled or claimed by reading.
      expect(server.payments.shown).not.toContain(headers["payment-signature"])
    }
  )

  it("agrees with the answer to a refused payment: wait, and pay only once the chain has proved it unpaid", async () => {
    const refused = await heldIn("refused")
    const waiting = await refused.send(ada.token)
    const status = statusIn(await read(refused.headers["payment-signature"]))
    expect(status).toMatchObject({ paymentState: "unknown", advice: "wait" })
    expectCell(waiting, "PAYMENT_PENDING", "unknown")
    expect(errorOf(waiting)).toMatchObject({ retryable: true, next: { path: UPDATE } })
    expect(errorOf(waiting).message).toMatch(/was refused: The facilitator refuses\. .* Do not sign another payment\.$/)
    const delay = Number(waiting.headers.get("retry-after"))
    expect(Math.abs(delay - (status.retryAfterSeconds ?? 0))).toBeLessThanOrEqual(1)
    const unpaid = await heldIn("unpaid")
    for (let times = 0; times < 2; times++) {
      const ended = await unpaid.send(ada.token)
      expectCell(ended, "PAYMENT_REQUIRED", "none")
      expect(ended.headers.get("payment-required")).not.toBeNull()
      expect(errorOf(ended).message).toMatch(/Sign a new payment .* a new Idempotency-Key\. Nothing was charged\.$/)
      expect(errorOf(ended).message).not.toContain("Do not sign")
    }
    expect(statusIn(await read(unpaid.headers["payment-signature"]))).toMatchObject({
      paymentState: "none",
      advice: "pay"
    })
  })

  it("leads from a lost answer to the answer: the advice is done, and the repeated request replays it", async () => {
    const request = { body: { localPart: fresh("lost") } }
    const headers = await payFor(server, MAILBOXES, request, bob.wallet)
    const settledBefore = server.payments.settleCalls()
    expect(statusIn(await read(headers["payment-signature"])).advice).toBe("retry_same")
    expect(server.payments.settleCalls()).toBe(settledBefore)
    const lost = await call(server, "POST", MAILBOXES, { ...request, headers })
    const status = statusIn(await read(headers["payment-signature"]))
    expect(status).toMatchObject({ paymentState: "settled", advice: "done" })
    expect(status.receipt).toBe(lost.headers.get("payment-response"))
    expect((await call(server, "POST", MAILBOXES, { ...request, headers })).text).toBe(lost.text)
    expect(server.payments.settleCalls()).toBe(settledBefore + 1)
  })

  it("names the header that is missing or malformed, and an operation that does not exist", async () => {
    for (const answer of [await call(server, "POST", STATUS), await read("nonsense")]) {
      expect(answer.status).toBe(400)
      const { code, issues } = errorOf(answer)
      expect([code, issues?.map(({ path }) => path)]).toEqual(["INVALID_REQUEST", ["PAYMENT-SIGNATURE"]])
    }
    const statuses = ["not-an-id", UNKNOWN_ID].map((id) =>
      call(server, "GET", `/api/v1/payments/${id}`, { token: ada.token }).then(({ status }) => status)
    )
    expect(await Promise.all(statuses)).toEqual([400, 404])
  })
})

describe("paymentState", () => {
  const STATES = Object.entries(STATE_OF) as ReadonlyArray<[PaymentState, OperationState | null]>

  it.each(STATES)("is %s in every error of a request whose payment is in that state", async (state, held) => {
    const { headers, send } = await heldIn(held)
    expectCell(await send("at_v1_nonsense"), "AUTH_REQUIRED", state)
    expectCell(await send("eyJ.a.b"), "INVALID_TOKEN", state)
    expectCell(await send(undefined), "ONBOARDING_REQUIRED", state)
    expectCell(await send(ada.token, { "idempotency-key": undefined }), "INVALID_REQUEST", state)
    if (held !== null) {
      expectCell(await send(ada.token, { "idempotency-key": fresh("key") }), "IDEMPOTENCY_CONFLICT", state)
      expectCell(await send(bob.token), "FORBIDDEN", state)
    }
    if (state === "pending" || state === "unknown" || state === "settled") {
      expectCell(await send(ada.token), "PAYMENT_PENDING", state)
    }
    if (state === "refund_due" || state === "refunded") expectCell(await send(ada.token), "PROVIDER_REJECTED", state)
    // Nothing of the above was settled.
    expect(server.payments.shown).not.toContain(headers["payment-signature"])
  })

  it("says none for an unused payment under a key that another payment has used, in any state", async () => {
    for (const [, held] of STATES) {
      if (held === null) continue
      const first = await heldIn(held)
      const { send } = await heldIn(null)
      const answer = await send(ada.token, { "idempotency-key": first.headers["idempotency-key"] })
      expectCell(answer, "IDEMPOTENCY_CONFLICT", "none")
    }
  })

  it("is that of the payment, not of the operation under its key", async () => {
    const first = await heldIn("settled")
    const second = await heldIn("refund_due")
    const answer = await second.send(ada.token, { "idempotency-key": first.headers["idempotency-key"] })
    expectCell(answer, "IDEMPOTENCY_CONFLICT", "refund_due")
  })

  it("says none once the operation is unpaid for good, and for a header that contains no payment", async () => {
    const unpaid = await heldIn("unpaid")
    expectCell(await unpaid.send(undefined), "ONBOARDING_REQUIRED", "none")
    expectCell(await unpaid.send(undefined, { "payment-signature": "nonsense" }), "ONBOARDING_REQUIRED", "none")
  })

  it("is unknown for a used authorization that no operation holds, and while the chain can't be read", async () => {
    const { headers, send } = await heldIn(null)
    server.payments.outage.chain = true
    expectCell(await send(undefined), "ONBOARDING_REQUIRED", "unknown")
    expectCell(await send(ada.token), "PROVIDER_TEMPORARY_FAILURE", "unknown")
    server.payments.outage.chain = false
    server.payments.useNonce(headers["payment-signature"])
    expectCell(await send("at_v1_nonsense"), "AUTH_REQUIRED", "unknown")
  })

  it("says none where a request is refused before its unused payment is taken", async () => {
    const request = { body: { localPart: fresh("box") } }
    expectCell(await call(server, "POST", MAILBOXES, request), "PAYMENT_REQUIRED", "none")
    const theirs = await payFor(server, MAILBOXES, { ...request, token: bob.token }, ada.wallet)
    expectCell(
      await call(server, "POST", MAILBOXES, { ...request, token: bob.token, headers: theirs }),
      "FORBIDDEN",
      "none"
    )
    const paid = async (path: string, body: unknown, token: string) => {
      const headers = await payFor(server, MAILBOXES, { body: { localPart: fresh("box") } }, bob.wallet)
      return call(server, "POST", path, { body, token, headers })
    }
    const taken = { localPart: ada.address.split("@")[0] }
    expectCell(await paid(MAILBOXES, taken, bob.token), "CONFLICT", "none")
    expectCell(await paid(UPDATE, { mailboxId: ada.mailboxId }, bob.token), "RESOURCE_NOT_OWNED", "none")
    expectCell(await paid(UPDATE, { mailboxId: UNKNOWN_ID }, bob.token), "RESOURCE_NOT_FOUND", "none")
    expectCell(await paid(UPDATE, { mailboxId: 1 }, bob.token), "INVALID_REQUEST", "none")
  })

  it("is settled while a provider that was paid for is unavailable", async () => {
    server.sendScript.push("Temporary")
    const body = { mailboxId: ada.mailboxId, to: ["x@example.com"], subject: "s", text: "t" }
    expectCell(
      await callPaid(server, SEND, { body, token: ada.token }, ada.wallet),
      "PROVIDER_TEMPORARY_FAILURE",
      "settled"
    )
  })

  it("is unknown in an error of the HTTP layer beside a payment, and none without one", async () => {
    const limited = await startServer({ rateLimit: { burst: 1, perSecond: 0.001 } })
    const withoutMail = await startServer({ capabilities: { email: false, phone: false } })
    const broken = await startServer({
      transactor: { transact: () => Effect.die(new Error("broken")), ready: Effect.succeed(true) }
    })
    await call(limited, "GET", "/api/v1")
    for (const [state, headers] of [
      ["none", {}],
      ["unknown", { "payment-signature": "x", "idempotency-key": "x" }]
    ] as const) {
      const post = (body: unknown, more: Readonly<Record<string, string>> = {}, query = "") =>
        call(server, "POST", `${MAILBOXES}${query}`, { body, headers: { ...headers, ...more } })
      expectCell(await post({ localPart: "x".repeat(20_000) }), "PAYLOAD_TOO_LARGE", state)
      expectCell(await post("x", { "content-type": "text/plain" }), "UNSUPPORTED_MEDIA_TYPE", state)
      expectCell(await post({}, {}, `?${"x".repeat(9_000)}`), "URI_TOO_LONG", state)
      const many = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`x-${index}`, "x"]))
      expectCell(await post({}, many), "HEADERS_TOO_LARGE", state)
      const body = { localPart: fresh("box") }
      expectCell(await call(limited, "POST", MAILBOXES, { body, headers }), "RATE_LIMITED", state)
      const token = state === "none" ? {} : { token: "at_v1_nonsense" }
      expectCell(await call(withoutMail, "POST", MAILBOXES, { body, headers, ...token }), "SERVICE_UNAVAILABLE", state)
    }
    const request = { body: { localPart: fresh("box") } }
    expectCell(await callPaid(broken, MAILBOXES, request, ada.wallet), "INTERNAL_ERROR", "unknown")
    await Promise.all([limited, withoutMail, broken].map(({ stop }) => stop()))
  })

  it("is none if the wallet has not let Permit2 move its tokens, and the error has the transaction that does", async () => {
    const { send } = await heldIn(null)
    server.payments.outage.allowance = true
    const answer = await send(ada.token)
    server.payments.outage.allowance = false
    expect(answer.status).toBe(412)
    expectCell(answer, "PERMIT2_ALLOWANCE_REQUIRED", "none")
    expect(errorOf(answer)).toMatchObject({ transaction: { network: "eip155:402402", data: "0x095ea7b3" } })
    // The same payment is good once the wallet has sent it.
    expect((await send(ada.token)).status).toBe(200)
  })

  it("is settled for a payment whose answer is no longer kept (410), which charges and does nothing again", async () => {
    const { send } = await heldIn(null)
    const answer = await send(ada.token)
    expect(answer.status).toBe(200)
    await server.run(Effect.flatMap(OperationStore, ({ removeAnswers }) => removeAnswers({ age: 0, limit: 1_000 })))
    const again = await send(ada.token)
    expect(again.status).toBe(410)
    expectCell(again, "ANSWER_EXPIRED", "settled")
    expect(again.headers.get("payment-response")).toBeNull()
  })

  it("is shown above in every cell that can occur", () => {
    expect(CELLS.filter((cell) => !seen.has(cell)).toSorted()).toEqual(ELSEWHERE.toSorted())
    expect([...seen].filter((cell) => !CELLS.includes(cell))).toEqual([])
  })
})
