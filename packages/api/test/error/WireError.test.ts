import {
  type ApiError,
  BodyTooLarge,
  canHavePaymentState,
  ERROR_STATUS,
  ErrorEnvelope,
  HeadersTooLarge,
  InternalError,
  MediaTypeUnsupported,
  MethodNotAllowed,
  OnboardingRequired,
  RateLimited,
  RequestTimedOut,
  RouteUnknown,
  ServiceUnavailable,
  toWireError,
  UpgradeRequired,
  UriTooLong
} from "@agentos/api"
import {
  AllowanceExhausted,
  AnswerExpired,
  AllowanceRequired,
  type Capabilities,
  type CatalogEntry,
  Conflict,
  ContentNotStored,
  CredentialRefused,
  IdempotencyConflict,
  InvalidRequest,
  NumberExpiring,
  NumberReleased,
  OperationDelayed,
  operationEntry,
  OperationRejected,
  PayerMismatch,
  PaymentPending,
  PaymentRequired,
  type PaymentState,
  ProviderUnavailable,
  ResourceNotFound,
  ResourceNotOwned,
  WalletUnknown,
  WrongCredential
} from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

const requestId = "019aa000-0000-7000-8000-000000000001"
const operationId = "019aa000-0000-7000-8000-000000000002"

const wire = (
  error: ApiError,
  entry: CatalogEntry | null = operationEntry("updateMailbox"),
  paymentState: PaymentState = "none"
) =>
  toWireError(error, {
    requestId,
    method: entry?.method ?? "GET",
    path: entry?.path ?? "/nowhere",
    entry,
    capabilities: { email: true, phone: true },
    paymentState
  })

const rows: ReadonlyArray<readonly [ApiError, number, string]> = [
  [new InvalidRequest({ message: "wrong", issues: [{ path: "to.0", message: "wrong" }] }), 400, "INVALID_REQUEST"],
  [new CredentialRefused({ message: "revoked" }), 401, "AUTH_REQUIRED"],
  [new WrongCredential({ message: "a realtime token" }), 401, "INVALID_TOKEN"],
  [new PaymentRequired({ challenge: "abc", reason: null }), 402, "PAYMENT_REQUIRED"],
  [new PayerMismatch({ payer: "0xabc", paymentState: "none" }), 403, "FORBIDDEN"],
  [new ResourceNotOwned({ kind: "mailbox", id: operationId }), 403, "RESOURCE_NOT_OWNED"],
  [new ResourceNotFound({ kind: "mailbox", id: operationId }), 404, "RESOURCE_NOT_FOUND"],
  [new RouteUnknown({ path: "/nowhere" }), 404, "RESOURCE_NOT_FOUND"],
  [new MethodNotAllowed({ method: "PUT", path: "/api/v1", allowed: ["GET", "HEAD"] }), 405, "METHOD_NOT_ALLOWED"],
  [new RequestTimedOut(), 408, "REQUEST_TIMEOUT"],
  [new Conflict({ message: "taken" }), 409, "CONFLICT"],
  [new IdempotencyConflict({ message: "other", paymentState: "settled" }), 409, "IDEMPOTENCY_CONFLICT"],
  [new PaymentPending({ operationId, paymentState: "unknown", retryAfterSeconds: 5 }), 409, "PAYMENT_PENDING"],
  [new AllowanceExhausted({ phoneNumberId: operationId }), 409, "ALLOWANCE_EXHAUSTED"],
  [new NumberExpiring({ phoneNumberId: operationId }), 409, "NUMBER_EXPIRING"],
  [new NumberReleased({ phoneNumberId: operationId, country: "US" }), 409, "NUMBER_RELEASED"],
  [
    new AllowanceRequired({
      message: "approve",
      transaction: { network: "eip155:1", to: "0x00", data: "0x01" }
    }),
    412,
    "PERMIT2_ALLOWANCE_REQUIRED"
  ],
  [new AnswerExpired({ operationId }), 410, "ANSWER_EXPIRED"],
  [new BodyTooLarge({ limitBytes: 1 }), 413, "PAYLOAD_TOO_LARGE"],
  [new UriTooLong({ limitBytes: 1 }), 414, "URI_TOO_LONG"],
  [new MediaTypeUnsupported({ message: "JSON alone." }), 415, "UNSUPPORTED_MEDIA_TYPE"],
  [new UpgradeRequired(), 426, "UPGRADE_REQUIRED"],
  [new OnboardingRequired({ startWith: "email.mailbox.create" }), 428, "ONBOARDING_REQUIRED"],
  [new RateLimited({ retryAfterSeconds: 2 }), 429, "RATE_LIMITED"],
  [new HeadersTooLarge({ limitBytes: 1 }), 431, "HEADERS_TOO_LARGE"],
  [new InternalError({ withPayment: true }), 500, "INTERNAL_ERROR"],
  [
    new OperationDelayed({ operationId, paymentState: "settled", message: "down", retryAfterSeconds: 5 }),
    502,
    "PROVIDER_TEMPORARY_FAILURE"
  ],
  [
    new OperationRejected({ operationId, paymentState: "refund_due", message: "no", receipt: null }),
    502,
    "PROVIDER_REJECTED"
  ],
  [new ServiceUnavailable({ ever: true }), 503, "SERVICE_UNAVAILABLE"]
]

describe("toWireError", () => {
  for (const [error, status, code] of rows) {
    it(`answers ${error._tag} with ${status} ${code}`, () => {
      const { body, status: actual } = wire(error)
      assert.strictEqual(actual, status)
      assert.strictEqual(body.error.code, code)
      assert.strictEqual(ERROR_STATUS[body.error.code], status)
      assert.strictEqual(body.error.requestId, requestId)
      assert.match(body.error.message, /[.]$/)
      Schema.decodeUnknownSync(ErrorEnvelope, { onExcessProperty: "error" })(JSON.parse(JSON.stringify(body)))
    })
  }

  it("states the payment state on paid operations, and omits it on others", () => {
    const error = new InvalidRequest({ message: "wrong", issues: [{ path: "", message: "wrong" }] })
    assert.strictEqual(wire(error).body.error.paymentState, "none")
    assert.strictEqual(wire(error).body.error.message, "wrong. Nothing was charged.")
    const free = wire(error, operationEntry("listEvents")).body.error
    assert.strictEqual(free.message, "wrong.")
    assert.notProperty(free, "paymentState")
    assert.strictEqual(wire(new InternalError({ withPayment: true })).body.error.paymentState, "unknown")
    const settled = wire(new IdempotencyConflict({ message: "other", paymentState: "settled" })).body.error
    assert.strictEqual(settled.paymentState, "settled")
    assert.notInclude(settled.message, "Nothing was charged")
  })

  it("states the payment states of errors that take a carrier, a slow body or a crash to reach", () => {
    const delayed = { operationId: null, message: "down", retryAfterSeconds: 5 }
    const cells: ReadonlyArray<readonly [ApiError, PaymentState]> = [
      [new InternalError({ withPayment: false }), "none"],
      [new RequestTimedOut(), "none"],
      [new RequestTimedOut(), "unknown"],
      [new AllowanceExhausted({ phoneNumberId: operationId }), "none"],
      [new NumberExpiring({ phoneNumberId: operationId }), "none"],
      [new NumberReleased({ phoneNumberId: operationId, country: "US" }), "none"],
      [new ProviderUnavailable({ message: "down", retryAfterSeconds: 5 }), "none"],
      [new OperationDelayed({ ...delayed, paymentState: "pending" }), "pending"]
    ]
    for (const [error, state] of cells) {
      const { code, paymentState } = wire(error, undefined, state).body.error
      assert.strictEqual(paymentState, state, code)
      assert.isTrue(canHavePaymentState(code, state), code)
    }
  })

  it("refers only to services that the server offers", () => {
    const at = (capabilities: Capabilities, error: ApiError, entry = operationEntry("listEvents")) =>
      toWireError(error, {
        requestId,
        method: entry.method,
        path: entry.path,
        entry,
        capabilities,
        paymentState: "none"
      }).body.error.next
    const unknown = new WalletUnknown({ wallet: "0x52908400098527886E0F7030069857D2E4169EE7" })
    const us = { method: "POST", path: "/api/v1/phone/purchase-us-number-30-days" }
    const mailbox = { method: "POST", path: "/api/v1/email/mailboxes" }
    assert.deepStrictEqual(at({ email: true, phone: false }, unknown), mailbox)
    assert.deepStrictEqual(at({ email: false, phone: true }, unknown), us)
    assert.deepStrictEqual(at({ email: true, phone: true }, unknown, operationEntry("listNumbers")), us)
    assert.isUndefined(at({ email: false, phone: false }, unknown))
    const released = (country: "US" | "CA") => new NumberReleased({ phoneNumberId: operationId, country })
    assert.deepStrictEqual(at({ email: true, phone: true }, released("US")), us)
    assert.deepStrictEqual(at({ email: true, phone: true }, released("CA")), {
      method: "POST",
      path: "/api/v1/phone/purchase-canada-number-30-days"
    })
  })

  it("names the operation that it is about, and the call that helps, also for resources without a list", () => {
    const about = (error: ApiError) => {
      const { next, operationId: id } = wire(error).body.error
      return [id, next === undefined ? undefined : `${next.method} ${next.path}`]
    }
    const payment = `GET /api/v1/payments/${operationId}`
    const again = "POST /api/v1/email/mailboxes/update"
    const message = "m"
    assert.deepStrictEqual(
      [
        new PaymentPending({ operationId, paymentState: "unknown", retryAfterSeconds: 5 }),
        new OperationDelayed({ operationId, paymentState: "settled", message, retryAfterSeconds: 5 }),
        new OperationRejected({ operationId, paymentState: "refund_due", message, receipt: null }),
        new ResourceNotFound({ kind: "operation", id: operationId }),
        new ResourceNotFound({ kind: "attachment", id: operationId }),
        new ContentNotStored({ message }),
        new ResourceNotFound({ kind: "webhook", id: "" }),
        new Conflict({ message }),
        new IdempotencyConflict({ message, paymentState: "settled" })
      ].map(about),
      [
        [operationId, again],
        [operationId, again],
        [operationId, payment],
        [undefined, "POST /api/v1/payments/status"],
        [undefined, "GET /api/v1/email/messages/query"],
        [undefined, "GET /api/v1/email/messages/query"],
        [undefined, "POST /api/v1/events/webhook"],
        [undefined, again],
        [undefined, "POST /api/v1/payments/status"]
      ]
    )
  })

  it("refers a wallet whose token is refused to signing in, which is free", () => {
    const { message, next } = wire(new CredentialRefused({ message: "revoked" })).body.error
    assert.deepStrictEqual(next, { method: "POST", path: "/api/v1/auth/token" })
    assert.include(message, "which is free: POST /api/v1/auth/token.")
  })

  it("does not claim that nothing was charged if the state of the payment is unknown", () => {
    const refused = wire(new CredentialRefused({ message: "wrong" }), undefined, "unknown").body.error
    assert.strictEqual(refused.paymentState, "unknown")
    assert.notInclude(refused.message, "Nothing was charged")
    assert.include(refused.message, "Do not sign another")
    const pending = new PaymentPending({ operationId, paymentState: "settled", retryAfterSeconds: 5 })
    assert.strictEqual(wire(pending, undefined, "unknown").body.error.paymentState, "settled")
  })

  it("sends the challenge and the retry delay in headers", () => {
    assert.strictEqual(wire(new PaymentRequired({ challenge: "abc", reason: null })).headers["PAYMENT-REQUIRED"], "abc")
    const pending = new PaymentPending({ operationId, paymentState: "unknown", retryAfterSeconds: 5 })
    assert.strictEqual(wire(pending).headers["Retry-After"], "5")
    assert.isTrue(wire(pending).body.error.retryable)
    assert.deepStrictEqual(wire(pending).body.error.next, { method: "POST", path: "/api/v1/email/mailboxes/update" })
    const method = new MethodNotAllowed({ method: "PUT", path: "/api/v1", allowed: ["GET", "HEAD"] })
    assert.strictEqual(wire(method).headers["Allow"], "GET, HEAD")
  })

  it("does not advise another payment if the payment of a conflict may have been charged", () => {
    const messageOf = (paymentState: PaymentState) =>
      wire(new IdempotencyConflict({ message: "Used", paymentState })).body.error.message
    assert.match(messageOf("none"), /^Used\. Repeat .* use a new key and a new payment .* Nothing was charged\.$/)
    assert.match(messageOf("settled"), /^Used\. This request charged nothing\. Repeat .* and a new payment/)
    assert.match(messageOf("unknown"), /^Used\. This request charged nothing\. .* Do not sign another payment\.$/)
    assert.notInclude(messageOf("unknown"), "a new payment")
  })

  it("advises the remedy of a refused payment instead of another payment", () => {
    const remedy = "Fund it, then repeat the identical request."
    const { message } = wire(new PaymentRequired({ challenge: "", reason: "No funds", remedy })).body.error
    assert.strictEqual(message, `Payment refused: No funds. ${remedy} Nothing was charged.`)
  })

  it("names the start-here service, its price and its inputs", () => {
    const { error, guides } = wire(new OnboardingRequired({ startWith: "email.mailbox.create" })).body
    assert.deepStrictEqual(error.onboarding?.price, { amount: "0.25", asset: "USDT" })
    assert.strictEqual(error.onboarding?.serviceId, "email.mailbox.create")
    assert.strictEqual(error.onboarding?.method, "POST")
    assert.strictEqual(error.onboarding?.endpoint, "/api/v1/email/mailboxes")
    assert.deepStrictEqual(
      error.onboarding?.requiredInput.map(({ name }) => name),
      ["localPart"]
    )
    assert.deepStrictEqual(error.next, { method: "POST", path: "/api/v1/email/mailboxes" })
    assert.include(error.message, "signs in to get its token, which is free: POST /api/v1/auth/token.")
    assert.deepStrictEqual(guides, { llms: "/llms.txt", serviceCatalog: "/api/v1/services", openapi: "/openapi.json" })
  })
})
