import type { ServerResponse } from "node:http"
import type { SettleAnswer } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { inspect } from "node:util"
import * as FacilitatorHttp from "../../src/facilitator/FacilitatorHttp.ts"
import { HttpFacilitatorConfig } from "../../src/facilitator/Facilitator.ts"
import { unreachableUrl, sendJson, serve } from "../support/HttpFake.ts"
import { transaction } from "../support/Sample.ts"

const request = { payload: '{"x402Version":2,"extensions":{}}', requirements: '{"scheme":"exact"}' }

/** A facilitator that gives every request the same response. If it never responds, the timeout is short. */
const answering = (respond: (response: ServerResponse) => void, other: Partial<HttpFacilitatorConfig> = {}) =>
  Effect.map(
    serve((_request, response) => respond(response)),
    ({ seen, url }) => {
      const millis = respond === silence || respond === half ? 500 : 10_000
      const patience = { verifyTimeoutMillis: millis, settleTimeoutMillis: millis }
      return { seen, client: FacilitatorHttp.make({ url: `${url}/x402/`, ...patience, ...other }) }
    }
  )
const json = (value: unknown, status?: number) => (response: ServerResponse) => sendJson(response, value, status)
const text =
  (body: string, status = 200) =>
  (response: ServerResponse) => {
    response.writeHead(status)
    response.end(body)
  }
/** Ways not to answer. */
const silence = () => undefined
const cut = (response: ServerResponse) => response.destroy()
const half = (response: ServerResponse) => {
  response.writeHead(200, { "content-length": "100" })
  response.write('{"success":true')
}
const flood = (response: ServerResponse) => {
  response.writeHead(200)
  const spaces = Buffer.alloc(64 * 1_024, " ")
  response.on("error", () => undefined)
  const more = () => {
    if (!response.destroyed) response.write(spaces, () => setImmediate(more))
  }
  more()
}
const redirect = (response: ServerResponse) => {
  response.writeHead(307, { location: "/elsewhere" })
  response.end()
}

const refused = (errorReason: string | null, other: object = {}) =>
  json({ success: false, errorReason, transaction: "", network: "eip155:402402", ...other })
const settled = { success: true, transaction, network: "eip155:402402", payer: "0x1" }

const settlements: ReadonlyArray<
  readonly [what: string, respond: (response: ServerResponse) => void, tag: SettleAnswer["_tag"]]
> = [
  ["a settlement", json(settled), "Accepted"],
  ["a settlement with more in it", json({ ...settled, status: "success", extra: {}, amount: "1" }), "Accepted"],
  ["a settlement without its transaction", json({ ...settled, transaction: undefined }), "Unknown"],
  ["a settlement with an empty transaction", json({ ...settled, transaction: "" }), "Unknown"],
  ["a settlement with a transaction of zeros", json({ ...settled, transaction: `0x${"0".repeat(64)}` }), "Unknown"],
  ["a settlement with something else for a transaction", json({ ...settled, transaction: "pending" }), "Unknown"],
  ["a settlement with status 201", json(settled, 201), "Accepted"],
  ["a settlement with status 202 and no body", text("", 202), "Unknown"],
  ["a settlement with status 500", json(settled, 500), "Unknown"],
  ["a settlement with status 400", json(settled, 400), "Unknown"],
  ["too little money", refused("insufficient_funds"), "Refused"],
  ["too little money in other words", refused("invalid_exact_evm_insufficient_balance"), "Refused"],
  ["a wrong signature", refused("invalid_exact_evm_signature"), "Refused"],
  ["an expired authorization", refused("invalid_exact_evm_payload_authorization_valid_before"), "Refused"],
  ["a wallet that it serves not", refused("invalid_exact_evm_payload_authorization_from_address_kyt"), "Refused"],
  ["a refusal without a transaction", json({ success: false, errorReason: "insufficient_funds" }), "Refused"],
  ["a refusal with a transaction", refused("insufficient_funds", { transaction }), "Unknown"],
  ["a refusal with status 400", json({ success: false, errorReason: "insufficient_funds" }, 400), "Unknown"],
  ["a refusal with status 402", json({ success: false, errorReason: "insufficient_funds" }, 402), "Unknown"],
  ["a settlement that is pending", refused("settlement_pending", { transaction }), "Unknown"],
  ["a failed transaction", refused("invalid_exact_evm_transaction_failed", { transaction }), "Unknown"],
  ["a failed broadcast", refused("invalid_exact_evm_transaction_failed"), "Unknown"],
  ["a used nonce", refused("invalid_exact_evm_nonce_already_used"), "Unknown"],
  ["a failed simulation", refused("invalid_exact_evm_transaction_simulation_failed"), "Unknown"],
  ["a strange transaction", refused("invalid_exact_evm_transfer_event_mismatch", { transaction }), "Unknown"],
  ["an unexpected error", refused("unexpected_settle_error"), "Unknown"],
  ["an unknown reason", refused("mercury_in_retrograde"), "Unknown"],
  ["no reason", refused(null), "Unknown"],
  ["no verdict", json({ transaction }), "Unknown"],
  ["a verdict that is a word", json({ ...settled, success: "true" }), "Unknown"],
  ["another document", json({ code: 0, msg: "", data: settled }), "Unknown"],
  ["no JSON", text("<html>"), "Unknown"],
  ["nothing", text(""), "Unknown"],
  ["status 401", text("", 401), "Unknown"],
  ["status 429", text("", 429), "Unknown"],
  ["status 500", text("", 500), "Unknown"],
  ["status 504", text("", 504), "Unknown"],
  ["a redirect", redirect, "Unknown"],
  ["silence", silence, "Unknown"],
  ["a connection that breaks", cut, "Unknown"],
  ["half an answer", half, "Unknown"],
  ["an answer without end", flood, "Unknown"]
]

describe("FacilitatorHttp.settle", () => {
  it.live.each(settlements)("classifies %s", ([, respond, tag]) =>
    Effect.gen(function* () {
      const { client, seen } = yield* answering(respond)
      const answer = yield* client.settle(request)
      assert.strictEqual(answer._tag, tag)
      if (answer._tag === "Accepted") assert.strictEqual(answer.transaction, transaction)
      else assert.notMatch(answer.message, /undefined|null/)
      assert.lengthOf(seen, 1, "asked once, and nowhere else")
    })
  )

  it.live("returns Unknown if there is no answer", () =>
    Effect.gen(function* () {
      const client = FacilitatorHttp.make({ url: unreachableUrl })
      assert.strictEqual((yield* client.settle(request))._tag, "Unknown")
    })
  )

  it.live("sends the client's payload and our requirements, with the configured headers", () =>
    Effect.gen(function* () {
      const { client, seen } = yield* answering(json(settled), { headers: { "X-Api-Key": Redacted.make("hush") } })
      yield* client.settle(request)
      assert.deepStrictEqual(
        seen.map(({ method, path }) => `${method} ${path}`),
        ["POST /x402/settle"]
      )
      for (const { body, headers } of seen) {
        assert.strictEqual(
          body,
          `{"x402Version":2,"paymentPayload":${request.payload},"paymentRequirements":${request.requirements}}`
        )
        assert.strictEqual(headers["x-api-key"], "hush")
        assert.strictEqual(headers["content-type"], "application/json")
      }
    })
  )
})

describe("FacilitatorHttp", () => {
  it.live("gets no request before a payment is to be settled", () =>
    Effect.gen(function* () {
      const { client, seen } = yield* answering(json({ isValid: true }))
      yield* client.ready
      assert.lengthOf(seen, 0)
    })
  )

  it.live("shows only codes from a facilitator's answers", () =>
    Effect.gen(function* () {
      const secret = "https://node.test/v2/very-secret-key"
      const told = yield* answering(json(refused(secret, { errorMessage: secret })))
      assert.notInclude(inspect(yield* told.client.settle(request)), "very-secret-key")
    })
  )

  it.effect("refuses a header value that can't be sent, without revealing it", () =>
    Effect.gen(function* () {
      const decode = (value: string) =>
        Effect.try(() =>
          HttpFacilitatorConfig.make({ url: unreachableUrl, headers: { "X-Key": Redacted.make(value) } })
        )
      const error = yield* Effect.flip(decode("very\nsecret"))
      assert.notInclude(inspect(error, { depth: 9 }), "very\\nsecret")
      yield* decode("Bearer abc def")
    })
  )
})

describe("FacilitatorHttp.supports", () => {
  const kind = (x402Version: number, scheme: string, network: string) => ({ x402Version, scheme, network, extra: {} })
  const supports = (respond: (response: ServerResponse) => void) =>
    Effect.flatMap(answering(respond), ({ client }) => client.supports("eip155:196"))

  it.live("finds scheme exact of version 2 on the network", () =>
    Effect.gen(function* () {
      const list = (...kinds: ReadonlyArray<object>) =>
        Effect.map(supports(json({ kinds, extensions: [], signers: {} })), ({ exact }) => exact)
      assert.isTrue(yield* list(kind(1, "exact", "x-layer"), kind(2, "exact", "eip155:196")))
      assert.isTrue(yield* list(kind(2, "exact", "eip155:*")))
      assert.isFalse(yield* list())
      assert.isFalse(yield* list(kind(1, "exact", "eip155:196")))
      assert.isFalse(yield* list(kind(2, "upto", "eip155:196")))
      assert.isFalse(yield* list(kind(2, "exact", "eip155:1"), kind(2, "exact", "solana:*")))
    })
  )

  it.live("finds the sponsoring of allowances, if the extension is listed", () =>
    Effect.gen(function* () {
      const sponsors = (more: object) =>
        Effect.map(supports(json({ kinds: [], ...more })), ({ gasSponsoring }) => gasSponsoring)
      const both = ["erc20ApprovalGasSponsoring", "bazaar", "eip2612GasSponsoring"]
      assert.deepStrictEqual(yield* sponsors({ extensions: both }), ["eip2612", "erc20Approval"])
      assert.deepStrictEqual(yield* sponsors({ extensions: both.slice(0, 2) }), ["erc20Approval"])
      assert.deepStrictEqual(yield* sponsors({ extensions: "eip2612GasSponsoring" }), [])
      assert.deepStrictEqual(yield* sponsors({}), [])
    })
  )

  it.live("fails without a list", () =>
    Effect.gen(function* () {
      const reason = (respond: (response: ServerResponse) => void) =>
        Effect.map(Effect.flip(supports(respond)), (error) => error.reason)
      assert.strictEqual(yield* reason(json({})), "Temporary")
      assert.strictEqual(yield* reason(text("", 503)), "Temporary")
      assert.strictEqual(yield* reason(text("", 404)), "Misconfigured")
      assert.strictEqual(yield* reason(silence), "Temporary")
    })
  )
})
