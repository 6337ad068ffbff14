import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { ServerResponse } from "node:http"
import { exchangeHttp, ExchangeTimeout, type HttpCall } from "../src/HttpExchange.ts"
import { serve } from "./support/HttpFake.ts"

const LIMIT_BYTES = 1_000

/** Sends a POST to a server that responds as given. Returns the seen requests, and the answer or the error. */
const exchanged = (respond: (response: ServerResponse) => void, changed: Partial<HttpCall> = {}) =>
  Effect.gen(function* () {
    const { seen, url } = yield* serve((_, response) => respond(response))
    const call = { headers: { "x-key": "k" }, body: `{"text":"ü"}`, timeoutMillis: 10_000 }
    const exchange = exchangeHttp({ url, answerBytesMax: LIMIT_BYTES })
    const outcome = yield* Effect.promise(() =>
      exchange({ ...call, ...changed }).catch((error: unknown) => (error instanceof Error ? error : String(error)))
    )
    return { outcome, seen }
  })

const messageOf = (outcome: unknown): string => (outcome instanceof Error ? outcome.message : "no error")

describe("exchangeHttp", () => {
  it.live("sends the body with its length in bytes, and returns any status with the whole text", () =>
    Effect.gen(function* () {
      const { outcome, seen } = yield* exchanged((response) => {
        response.writeHead(503)
        response.write("a wei")
        response.end("rd tëxt")
      })
      assert.deepStrictEqual(outcome, { status: 503, body: "a weird tëxt" })
      const [{ body, headers, method }] = seen as readonly [(typeof seen)[number]]
      assert.strictEqual(method, "POST")
      assert.strictEqual(body, `{"text":"ü"}`)
      assert.deepInclude(headers, { "content-length": "13", "content-type": "application/json", "x-key": "k" })
    })
  )

  it.live("sends a GET without a body", () =>
    Effect.gen(function* () {
      const { outcome, seen } = yield* exchanged((response) => response.end("{}"), { body: null })
      assert.deepStrictEqual(outcome, { status: 200, body: "{}" })
      assert.strictEqual(seen[0]?.method, "GET")
      assert.notProperty(seen[0]?.headers, "content-type")
    })
  )

  it.live("rejects an answer that is too long, even if it does not end, and one that is cut off", () =>
    Effect.gen(function* () {
      const long = yield* exchanged((response) => response.write("x".repeat(LIMIT_BYTES + 1)))
      assert.include(messageOf(long.outcome), "more than 1000 bytes")
      const cut = yield* exchanged((response) => {
        response.writeHead(200, { "content-length": 10 })
        response.write("123")
        setImmediate(() => response.destroy())
      })
      assert.instanceOf(cut.outcome, Error)
    })
  )

  it.live("rejects a redirect and does not follow it", () =>
    Effect.gen(function* () {
      const { outcome, seen } = yield* exchanged((response) =>
        response.writeHead(307, { location: "/elsewhere" }).end("{}")
      )
      assert.include(messageOf(outcome), "redirect")
      assert.lengthOf(seen, 1)
    })
  )

  it.live("rejects an answer that is not complete in time", () =>
    Effect.gen(function* () {
      const none = yield* exchanged(() => undefined, { timeoutMillis: 50 })
      assert.instanceOf(none.outcome, ExchangeTimeout)
      const begun = yield* exchanged((response) => response.write("x"), { timeoutMillis: 50 })
      assert.instanceOf(begun.outcome, ExchangeTimeout)
    })
  )

  it.live("rejects when it is aborted", () =>
    Effect.gen(function* () {
      const { outcome } = yield* exchanged(() => undefined, { signal: AbortSignal.timeout(50) })
      assert.instanceOf(outcome, Error)
    })
  )

  it.live("keeps its connection for the next request", () =>
    Effect.gen(function* () {
      const ports = new Set<number | undefined>()
      const respond = (response: ServerResponse) => {
        ports.add(response.socket?.remotePort)
        response.end("{}")
      }
      const { url } = yield* serve((_, response) => respond(response))
      const exchange = exchangeHttp({ url, answerBytesMax: LIMIT_BYTES })
      for (let count = 0; count < 3; count++)
        yield* Effect.promise(() => exchange({ body: "{}", timeoutMillis: 10_000 }))
      assert.strictEqual(ports.size, 1)
    })
  )
})
