import type { ServerResponse } from "node:http"
import type { ProviderError, SettleAnswer } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Schema } from "effect"
import { TestClock } from "effect/testing"
import { inspect } from "node:util"
import { FacilitatorConfig, type OkxFacilitatorConfig } from "../../src/facilitator/Facilitator.ts"
import * as FacilitatorOkx from "../../src/facilitator/FacilitatorOkx.ts"
import { unreachableUrl, sendJson, serve } from "../support/HttpFake.ts"
import { type Answers, config, credentials, okx } from "../support/OkxFake.ts"
import { transaction } from "../support/Sample.ts"

const request = { payload: '{"x402Version":2,"note":"\u20ae"}', requirements: '{"scheme":"exact"}' }

const asking = (answers: Answers, other: Partial<OkxFacilitatorConfig> = {}) =>
  Effect.map(serve(okx(answers)), ({ seen, url }) => ({ seen, client: FacilitatorOkx.make(config(`${url}/`, other)) }))

const envelope =
  (value: object, status = 200) =>
  (response: ServerResponse) =>
    sendJson(response, value, status)
const cut = (response: ServerResponse) => response.destroy()
const silence = () => undefined

const settled = {
  success: true,
  errorReason: null,
  errorMessage: null,
  payer: "0xcb30ed083ad246b126a3aa1f414b44346e83e67d",
  transaction,
  network: "eip155:196",
  status: "success"
}
const failed = (errorReason: string | null, other: object = {}) => ({
  ...settled,
  success: false,
  errorReason,
  transaction: "",
  status: "failed",
  ...other
})

const settlements: ReadonlyArray<readonly [what: string, answers: Answers, tag: SettleAnswer["_tag"]]> = [
  ["a confirmed settlement", { settle: settled }, "Accepted"],
  ["a code that is a number", { settle: envelope({ code: 0, msg: "", data: settled }) }, "Accepted"],
  ["a settlement without a status", { settle: { ...settled, status: null } }, "Unknown"],
  ["a settlement without a transaction", { settle: { ...settled, transaction: "" } }, "Unknown"],
  ["a settlement with another status", { settle: { ...settled, status: "settled" } }, "Unknown"],
  [
    "one that is pending, and then confirmed",
    { settle: { ...settled, status: "pending" }, status: [{ ...settled, status: "pending" }, settled] },
    "Accepted"
  ],
  [
    "one that OKX gave up waiting for, and then found",
    { settle: failed("timeout", { status: "timeout", transaction }), status: [settled] },
    "Accepted"
  ],
  [
    "one that is pending, and then failed",
    { settle: { ...settled, status: "pending" }, status: [{ ...settled, success: true, status: "failed" }] },
    "Unknown"
  ],
  ["one whose status request fails", { settle: { ...settled, status: "pending" }, status: [cut] }, "Unknown"],
  [
    "one that OKX does not find",
    { settle: { ...settled, status: "pending" }, status: [failed("not_found", { status: null })] },
    "Unknown"
  ],
  [
    "the status of another transaction",
    { settle: { ...settled, status: "pending" }, status: [{ ...settled, transaction: `0x${"9".repeat(64)}` }] },
    "Unknown"
  ],
  [
    "one that stays pending",
    { settle: { ...settled, status: "pending" }, status: [{ ...settled, status: "pending" }] },
    "Unknown"
  ],
  ["too little money", { settle: failed("insufficient_balance") }, "Refused"],
  ["too little money in the words of x402", { settle: failed("insufficient_funds") }, "Refused"],
  ["a wallet that it serves not", { settle: failed("risk_address", { status: null }) }, "Refused"],
  ["a refusal with a transaction", { settle: failed("insufficient_balance", { transaction }) }, "Unknown"],
  ["a refusal that is pending", { settle: failed("insufficient_balance", { status: "pending" }) }, "Unknown"],
  ["a used nonce", { settle: failed("nonce_used") }, "Unknown"],
  ["trouble on the chain", { settle: failed("onchain_error") }, "Unknown"],
  ["a text", { settle: failed("payment processing") }, "Unknown"],
  ["no reason", { settle: failed(null) }, "Unknown"],
  ["an error of the envelope", { settle: envelope({ code: "50026", msg: "System error", data: null }) }, "Unknown"],
  ["an error around a settlement", { settle: envelope({ code: "8000", msg: "TEE", data: settled }) }, "Unknown"],
  ["a settlement with status 500", { settle: envelope({ code: "0", data: settled }, 500) }, "Unknown"],
  ["a settlement without an envelope", { settle: envelope(settled) }, "Unknown"],
  ["no data", { settle: null }, "Unknown"],
  ["a connection that breaks", { settle: cut }, "Unknown"],
  ["silence", { settle: silence }, "Unknown"]
]

// Some wait until their patience ends.
describe.concurrent("FacilitatorOkx.settle", () => {
  it.live.each(settlements)("classifies %s", ([, answers, tag]) =>
    Effect.gen(function* () {
      const patience = { settleTimeoutMillis: tag === "Unknown" ? 1_500 : 5_000 }
      const { client, seen } = yield* asking(answers, patience)
      const answer = yield* client.settle(request)
      assert.strictEqual(answer._tag, tag)
      if (answer._tag === "Accepted") assert.strictEqual(answer.transaction, transaction)
      assert.lengthOf(
        seen.filter(({ method }) => method === "POST"),
        1,
        "settled once"
      )
    })
  )

  it.live("asks OKX to answer when the chain has confirmed the payment", () =>
    Effect.gen(function* () {
      const { client, seen } = yield* asking({ settle: settled })
      yield* client.settle(request)
      assert.deepStrictEqual(
        seen.map(({ body, method, path }) => ({ body, method, path })),
        [
          {
            method: "POST",
            path: "/api/v6/pay/x402/settle",
            body: `{"x402Version":2,"paymentPayload":${request.payload},"paymentRequirements":${request.requirements},"syncSettle":true}`
          }
        ]
      )
    })
  )

  it.live("requests the status of that transaction, with a signature that covers the query", () =>
    Effect.gen(function* () {
      const { client, seen } = yield* asking({ settle: { ...settled, status: "pending" }, status: [settled] })
      assert.strictEqual((yield* client.settle(request))._tag, "Accepted")
      assert.strictEqual(seen[1]?.path, `/api/v6/pay/x402/settle/status?txHash=${transaction}`)
    })
  )

  it.live("is rejected by OKX with a wrong secret", () =>
    Effect.gen(function* () {
      const { client } = yield* asking({ settle: settled, supported: { kinds: [] } }, { secretKey: Redacted.make("x") })
      assert.strictEqual((yield* client.settle(request))._tag, "Unknown")
      const error = yield* Effect.flip(client.supports("eip155:196"))
      assert.strictEqual(error.reason, "Misconfigured")
      assert.include(error.message, "50113")
    })
  )

  it.effect("takes the time from the clock", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.parse("2020-12-08T09:08:57.715Z"))
      const { seen, url } = yield* serve((_request, response) => sendJson(response, { code: "0", data: settled }))
      yield* FacilitatorOkx.make(config(url)).settle(request)
      assert.strictEqual(seen[0]?.headers["ok-access-timestamp"], "2020-12-08T09:08:57.715Z")
    })
  )
})

type Said = boolean | ProviderError["reason"]
const EXACT = { kinds: [{ x402Version: 2, scheme: "exact", network: "eip155:196" }] }
const lists: ReadonlyArray<readonly [what: string, answers: Answers, said: Said]> = [
  ["a list", { supported: EXACT }, true],
  ["no list", { supported: {} }, "Temporary"],
  ["no data", { supported: null }, "Temporary"],
  ["too many questions", { supported: envelope({ code: "50011", msg: "Too many", data: null }, 429) }, "Temporary"],
  ["a system error", { supported: envelope({ code: "50026", msg: "System error", data: null }, 500) }, "Temporary"],
  ["a wrong parameter", { supported: envelope({ code: 30001, msg: "parameter incorrect", data: null }) }, "Rejected"],
  [
    "a region without access",
    { supported: envelope({ code: "50125", msg: "no access", data: null }, 401) },
    "Misconfigured"
  ],
  [
    "an unknown code with status 403",
    { supported: envelope({ code: "7", msg: "", data: null }, 403) },
    "Misconfigured"
  ],
  ["a list in an error", { supported: envelope({ code: "1", data: EXACT }) }, "Temporary"],
  ["no JSON", { supported: (response) => void response.end("<html>") }, "Temporary"],
  ["a path that is not there", {}, "Misconfigured"],
  ["a connection that breaks", { supported: cut }, "Temporary"]
]

describe("FacilitatorOkx", () => {
  it.live.each(lists)("classifies %s", ([, answers, said]) =>
    Effect.gen(function* () {
      const { client } = yield* asking(answers)
      const heard = yield* Effect.match(client.supports("eip155:196"), {
        onSuccess: ({ exact }): Said => exact,
        onFailure: ({ reason }): Said => reason
      })
      assert.strictEqual(heard, said)
    })
  )

  it.live("gets no request before a payment is to be settled", () =>
    Effect.gen(function* () {
      const { client, seen } = yield* asking({})
      yield* client.ready
      assert.lengthOf(seen, 0)
    })
  )

  it.live("reveals neither OKX's texts nor its own secrets", () =>
    Effect.gen(function* () {
      const words = "see https://node.test/very-secret"
      const told = yield* asking({
        supported: envelope({ code: words, msg: words, data: null }),
        settle: failed(words)
      })
      const error = yield* Effect.flip(told.client.supports("eip155:196"))
      const away = yield* Effect.flip(FacilitatorOkx.make(config(unreachableUrl)).supports("eip155:196"))
      const said = inspect([error, away, yield* told.client.settle(request), config(unreachableUrl)], { depth: 9 })
      for (const secret of ["very-secret", ...Object.values(credentials)]) assert.notInclude(said, secret)
    })
  )
})

describe("FacilitatorOkx.supports", () => {
  it.live("finds scheme exact of version 2 on the network", () =>
    Effect.gen(function* () {
      const kinds = [
        { x402Version: 2, scheme: "aggr_deferred", network: "eip155:1952" },
        { x402Version: 2, scheme: "exact", network: "eip155:196", extra: {} }
      ]
      const { client } = yield* asking({ supported: { kinds, extensions: [], signers: {} } })
      assert.isTrue((yield* client.supports("eip155:196")).exact)
      assert.isFalse((yield* client.supports("eip155:1952")).exact)
      const silent = yield* asking({ supported: { kinds: null } })
      assert.strictEqual((yield* Effect.flip(silent.client.supports("eip155:196"))).reason, "Temporary")
    })
  )
})

describe("FacilitatorConfig", () => {
  const decode = Schema.decodeUnknownEffect(FacilitatorConfig)

  it.effect("distinguishes the kinds, and treats one without a kind as the standard one", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* decode({ url: "https://a.test" }), { url: "https://a.test" })
      assert.strictEqual((yield* decode({ kind: "http", url: "https://a.test" })).kind, "http")
      assert.strictEqual((yield* decode({ kind: "okx", ...credentials })).kind, "okx")
      yield* Effect.flip(decode({ kind: "okx", url: "https://a.test" }))
      yield* Effect.flip(decode({ kind: "other", url: "https://a.test" }))
    })
  )

  it.effect("reveals no secret of an invalid configuration", () =>
    Effect.gen(function* () {
      const secret = "c0ffee".repeat(11)
      for (const wrong of [
        { kind: "okx", ...credentials, apiKey: `c0ffee\n${secret}` },
        { kind: "okx", ...credentials, passphrase: `${secret}\u0000` }
      ]) {
        const error = yield* Effect.flip(decode(wrong))
        assert.notInclude(`${error.message} ${inspect(error, { depth: 9 })}`, "c0ffee")
      }
    })
  )
})
