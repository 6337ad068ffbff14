import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { ServerResponse } from "node:http"
import { createClient } from "viem"
import { BATCH_MAX, isOutage, rpcTransport } from "../../src/chain/RpcTransport.ts"
import { sendJson, serve } from "../support/HttpFake.ts"

interface Call {
  readonly id: number
  readonly method: string
  readonly params: ReadonlyArray<unknown>
}

/** Echoes the first parameter of a call, and reports an error for the parameter "bad". */
const reply = ({ id, params: [param] }: Call) =>
  param === "bad"
    ? { jsonrpc: "2.0", id, error: { code: -32_000, message: "not for bad" } }
    : { jsonrpc: "2.0", id, result: param }

/** Starts a node that answers a batch as given, and a single request always. */
const startNode = (answerBatch: (calls: ReadonlyArray<Call>, response: ServerResponse) => void) =>
  Effect.gen(function* () {
    const sizes: Array<number> = []
    const { url } = yield* serve(({ body }, response) => {
      const calls = JSON.parse(body) as Call | ReadonlyArray<Call>
      sizes.push("method" in calls ? 0 : calls.length)
      if ("method" in calls) sendJson(response, reply(calls))
      else answerBatch(calls, response)
    })
    const client = createClient({ transport: rpcTransport({ url, timeoutMillis: 5_000, answerBytesMax: 100_000 }) })
    const echo = (text: string): Promise<unknown> => client.request({ method: "web3_sha3", params: [`0x${text}`] })
    const echoAll = (...texts: ReadonlyArray<string>) => Effect.promise(() => Promise.all(texts.map(echo)))
    const ask = (text: string): Promise<unknown> =>
      client.request<{ Method: "echo"; Parameters: [string]; ReturnType: unknown }>({ method: "echo", params: [text] })
    return { sizes, echoAll, ask }
  })

describe("RpcTransport", () => {
  it.live("sends the requests of one turn in one batch, and gives each its own answer in any order", () =>
    Effect.gen(function* () {
      const { echoAll, sizes } = yield* startNode((calls, response) =>
        sendJson(response, calls.toReversed().map(reply))
      )
      assert.deepStrictEqual(yield* echoAll("1", "2", "3"), ["0x1", "0x2", "0x3"])
      assert.deepStrictEqual(sizes, [3])
    })
  )

  it.live("sends a single request without a batch", () =>
    Effect.gen(function* () {
      const { echoAll, sizes } = yield* startNode((_, response) => sendJson(response, {}, 500))
      assert.deepStrictEqual(yield* echoAll("1"), ["0x1"])
      assert.deepStrictEqual(sizes, [0])
    })
  )

  it.live("splits what exceeds the limit of a batch", () =>
    Effect.gen(function* () {
      const { echoAll, sizes } = yield* startNode((calls, response) => sendJson(response, calls.map(reply)))
      const texts = Array.from({ length: BATCH_MAX + 2 }, (_, index) => `${index}`)
      assert.deepStrictEqual(
        yield* echoAll(...texts),
        texts.map((text) => `0x${text}`)
      )
      assert.sameMembers(sizes, [BATCH_MAX, 2])
    })
  )

  it.live("fails only the request that the node answers with an error", () =>
    Effect.gen(function* () {
      const { ask } = yield* startNode((calls, response) => sendJson(response, calls.map(reply)))
      const [good, bad] = yield* Effect.promise(() => Promise.allSettled([ask("good"), ask("bad")]))
      assert.deepStrictEqual(good, { status: "fulfilled", value: "good" })
      assert.strictEqual(bad.status, "rejected")
    })
  )

  const refusals: Readonly<Record<string, (calls: ReadonlyArray<Call>, response: ServerResponse) => void>> = {
    "with one error": (_, response) =>
      sendJson(response, { jsonrpc: "2.0", id: null, error: { code: -32_600, message: "no batches" } }),
    "with an error for each request": (calls, response) =>
      sendJson(
        response,
        calls.map(({ id }) => ({ jsonrpc: "2.0", id, error: { code: -32_600, message: "no batches" } }))
      ),
    "with status 400": (_, response) => sendJson(response, { message: "no batches" }, 400),
    "by the answers to some of its requests": (calls, response) => sendJson(response, calls.slice(1).map(reply)),
    "with nothing": (_, response) => sendJson(response, null)
  }
  for (const [how, answerBatch] of Object.entries(refusals)) {
    it.live(`sends requests one by one to a node that refuses a batch ${how}`, () =>
      Effect.gen(function* () {
        const { echoAll, sizes } = yield* startNode(answerBatch)
        assert.deepStrictEqual(yield* echoAll("1", "2"), ["0x1", "0x2"])
        assert.deepStrictEqual(yield* echoAll("3", "4"), ["0x3", "0x4"])
        assert.deepStrictEqual(sizes, [2, 0, 0, 0, 0])
      })
    )
  }

  it.live("repeats the requests of a batch once after an outage, and still sends batches", () =>
    Effect.gen(function* () {
      let failures = 1
      const { echoAll, sizes } = yield* startNode((calls, response) =>
        failures-- > 0 ? sendJson(response, {}, 503) : sendJson(response, calls.map(reply))
      )
      assert.deepStrictEqual(yield* echoAll("1", "2"), ["0x1", "0x2"])
      // Each waits for the repetition by itself, so on a busy machine they can be sent in two turns.
      const [first, ...repeated] = sizes
      assert.strictEqual(first, 2)
      assert.strictEqual(
        repeated.map((size) => Math.max(size, 1)).reduce((sum, size) => sum + size),
        2
      )
      assert.deepStrictEqual(yield* echoAll("3", "4"), ["0x3", "0x4"])
      assert.strictEqual(sizes.at(-1), 2)
    })
  )

  // By the system's clock: the timer is one of Node's, beside Effect.
  it.live.each<readonly [string, (response: ServerResponse) => void]>([
    ["an answer", () => undefined],
    ["the rest of an answer", (response) => response.writeHead(200, { "content-length": "100" }).write("{")]
  ])("fails if %s does not arrive in time, after one repetition", ([_, respond]) =>
    Effect.gen(function* () {
      let requests = 0
      const { url } = yield* serve((_request, response) => {
        requests++
        respond(response)
      })
      const client = createClient({ transport: rpcTransport({ url, timeoutMillis: 500, answerBytesMax: 1_000 }) })
      const error = yield* Effect.promise(() => client.request({ method: "eth_chainId" }).catch((e: unknown) => e))
      assert.isTrue(isOutage(error), String(error))
      assert.strictEqual(requests, 2)
    })
  )
})
