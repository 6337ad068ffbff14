import { createHmac } from "node:crypto"
import type { ServerResponse } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { vi } from "vitest"
import { agentServer, type Answering } from "./support/AgentServer.ts"
import { answerOf, hangUp, press, question, say, secret, secretText, withCallback } from "./support/Question.ts"

const with200 =
  (contentType: string, ...pieces: ReadonlyArray<string | Uint8Array>): Answering =>
  (response) => {
    response.writeHead(200, { "Content-Type": contentType })
    const next = (index: number): void => {
      const piece = pieces[index]
      if (piece === undefined) response.end()
      else response.write(piece, () => setTimeout(() => next(index + 1), 5))
    }
    next(0)
  }

const ask = (answering: Answering, limits: { firstByte?: number; whole?: number; bytes?: number } = {}) =>
  Effect.gen(function* () {
    const server = yield* agentServer(answering)
    return yield* withCallback({ allow: [server.allow], limits }, (callback) => answerOf(callback, server.url))
  }).pipe(Effect.scoped)

const until = (look: () => boolean) =>
  Effect.promise(() => vi.waitFor(() => assert.isTrue(look()), { timeout: 60_000, interval: 3 }))

const json = "application/json"
const lines = "application/x-ndjson"

describe("AgentCallbackHttps", () => {
  it.live("posts the signed message", () =>
    Effect.gen(function* () {
      const server = yield* agentServer(with200(json, '{"text":"hello"}'))
      const before = Math.floor(Date.now() / 1_000)
      yield* withCallback({ allow: [server.allow] }, (callback) => answerOf(callback, server.url))
      const [asked] = server.asked
      assert.strictEqual(server.asked.length, 1)
      assert.strictEqual(`${asked?.method} ${asked?.path}`, "POST /agent?id=1")
      const timestamp = String(asked?.headers["x-service-timestamp"])
      assert.isTrue(Number(timestamp) >= before && Number(timestamp) <= Date.now() / 1_000)
      const mac = createHmac("sha256", secretText)
        .update(timestamp)
        .update(".")
        .update(asked?.body ?? "")
      assert.strictEqual(asked?.headers["x-service-signature"], `v1=${mac.digest("hex")}`)
      assert.deepStrictEqual(JSON.parse(asked?.body ?? ""), {
        type: "agent.message",
        callId: question.callId,
        phoneNumberId: question.phoneNumberId,
        direction: "inbound",
        from: "+12125550100",
        fromWithheld: null,
        to: "+12125550101",
        turn: { text: "Grüß Gott", at: "2025-11-21T08:05:45.678Z" },
        transcriptSoFar: Array.from({ length: 20 }, (_, index) => ({
          role: index % 2 === 0 ? "caller" : "agent",
          text: `turn ${index + 5}`,
          at: `2025-11-21T08:05:00.${String(index + 5).padStart(3, "0")}Z`
        }))
      })
    }).pipe(Effect.scoped)
  )

  const answers: ReadonlyArray<readonly [what: string, answering: Answering, replies: ReadonlyArray<object>]> = [
    ["a text", with200(json, '{"text":"hello"}'), [say("hello")]],
    ["a hangup", with200(json, '{"hangup":true}'), [hangUp]],
    ["a text and a hangup", with200(json, '{"hangup":true,"text":"bye","mood":1}'), [say("bye"), hangUp]],
    ["keys", with200(json, '{"digits":"1w2*#"}'), [press("1w2*#")]],
    [
      "a text, keys and a hangup",
      with200(json, '{"hangup":true,"digits":"9","text":"bye"}'),
      [say("bye"), press("9"), hangUp]
    ],
    [
      "a text and a silence",
      with200(json, '{"silenceSeconds":5,"text":"Yes?"}'),
      [say("Yes?"), { _tag: "AwaitSpeech", seconds: 5 }]
    ],
    ["no hangup", with200(json, '{"hangup":false}'), []],
    ["an object over several lines", with200(json, '{\n  "text"', ': "a\\nb"\n', "}\n"), [say("a\nb")]],
    ["lines without their content type", with200("text/plain", '{"text":"a"}\n{"text":"b"}'), [say("a"), say("b")]],
    ["lines", with200(lines, '{"text":"a"}\n{"text":"b"}\n'), [say("a"), say("b")]],
    [
      "lines in pieces",
      with200(lines, '{"te', 'xt":"a"}\n\n{"text":', '"b"}\r', "\n", '{"hangup":true}'),
      [say("a"), say("b"), hangUp]
    ],
    [
      "a character in pieces",
      with200(lines, Buffer.from('{"text":"ü"}').subarray(0, 10), Buffer.from('{"text":"ü"}').subarray(10)),
      [say("ü")]
    ],
    ["nothing after a hangup", with200(lines, '{"hangup":true}\n{"text":"more"}\n'), [hangUp]],
    [
      "nothing after a hangup, without a line break",
      (response) => response.end('{"hangup":true}\n{"text":"more"}'),
      [hangUp]
    ],
    ["a hangup in an unfinished answer", (response) => response.write('{"hangup":true}\n'), [hangUp]],
    ["nothing (204)", (response) => response.writeHead(204).end(), []],
    ["nothing (empty)", (response) => response.writeHead(200).end(), []]
  ]
  it.live.each(answers)("parses %s", ([, answering, replies]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* ask(answering), { replies: [...replies] } as never)
    })
  )

  const head =
    (status: number, headers: Record<string, string> = {}): Answering =>
    (response) =>
      response.writeHead(status, headers).end('{"text":"no"}')
  /** Sends interim responses and no answer. */
  const interim =
    (count: number): Answering =>
    ({ socket }) =>
      socket?.write("HTTP/1.1 103 Early Hints\r\n\r\n".repeat(count))
  const failures: ReadonlyArray<readonly [what: string, answering: Answering, reason: string, message: string]> = [
    ["a redirect", head(302, { Location: "https://127.0.0.1/" }), "status", "302; redirects are not followed"],
    ["a permanent redirect", head(308, { Location: "/other" }), "status", "308"],
    ["a refusal", head(404), "status", "404"],
    ["a failure", head(500), "status", "500"],
    ["other JSON", with200(json, '{"answer":"x"}'), "answer", "neither"],
    ["a text of the wrong type", with200(json, '{"text":1}'), "answer", "neither"],
    ["a name that is no key", with200(json, '{"text":"x","digits":"12,3"}'), "answer", "neither"],
    ["too long a silence", with200(json, '{"silenceSeconds":61}'), "answer", "neither"],
    ["no keys", with200(json, '{"digits":""}'), "answer", "neither"],
    ["too many keys", with200(json, `{"digits":"${"1".repeat(65)}"}`), "answer", "neither"],
    ["a list", with200(json, '[{"text":"x"}]'), "answer", "neither"],
    ["HTML instead of JSON", with200("text/html", "<p>hello</p>\n<p>"), "answer", "neither"],
    ["malformed lines", with200(lines, "{\n", '"text":"x"}\n'), "answer", "neither"],
    ["invalid UTF-8", with200(json, Buffer.from([0x7b, 0xff, 0xfe])), "answer", "UTF-8"],
    ["more than the maximum length", with200(json, `{"text":"${"a".repeat(65_536)}"}`), "answer", "65536 bytes"],
    ["interim responses without end", interim(9), "answer", "more than 8 interim responses"],
    ["headers without end", head(200, { "X-Long": "a".repeat(20_000) }), "answer", "HPE_HEADER_OVERFLOW"],
    ["no answer at all", (response) => response.socket?.destroy(), "connection", "ECONNRESET"],
    [
      "an answer broken in the middle",
      (response) => {
        response.writeHead(200, { "Content-Length": "100" })
        response.write('{"text":"h', () => response.socket?.destroy())
      },
      "connection",
      ""
    ]
  ]
  it.live.each(failures)("reports a failure: %s", ([, answering, reason, message]) =>
    Effect.gen(function* () {
      const { error, replies } = yield* ask(answering)
      assert.deepStrictEqual(replies, [])
      assert.strictEqual(error?.reason as string, reason)
      assert.include(error?.message, message)
      assert.notInclude(error?.message, secretText)
    })
  )

  it.live("accepts as many interim responses as proxies send", () =>
    Effect.gen(function* () {
      const { replies } = yield* ask((response) => {
        for (let count = 0; count < 7; count++) response.writeProcessing()
        response.end('{"text":"a"}')
      })
      assert.deepStrictEqual(replies, [say("a")])
    })
  )

  it.live("limits the bytes and the pieces of an answer with its framing, whatever its limit of text", () =>
    Effect.gen(function* () {
      const bytes = 10_000_000
      const long = yield* ask(with200(json, "a".repeat(140_000)), { bytes })
      assert.include(long.error?.message, "takes more than 131072 bytes on the wire")
      // Each write is a TLS record, and arrives alone.
      const chopped: Answering = (response) => {
        response.writeHead(200, { "Content-Length": bytes }).flushHeaders()
        const next = (): unknown => response.socket?.write("a", (error) => (error ? undefined : next()))
        next()
      }
      const { error } = yield* ask(chopped, { bytes, firstByte: 60_000, whole: 60_000 })
      assert.include(error?.message, "arrives in more than 4096 pieces")
      assert.strictEqual(error?.reason, "answer")
    })
  )

  it.live("counts each answer on a kept connection alone", () =>
    Effect.gen(function* () {
      const server = yield* agentServer(with200(json, `{"text":"${"a".repeat(50_000)}"}`))
      yield* withCallback({ allow: [server.allow] }, (callback) =>
        Effect.gen(function* () {
          for (let turn = 0; turn < 4; turn++) assert.isUndefined((yield* answerOf(callback, server.url)).error)
        })
      )
      assert.lengthOf(server.sockets, 1)
    }).pipe(Effect.scoped)
  )

  it.live("keeps the replies that arrived before an answer breaks off or becomes invalid", () =>
    Effect.gen(function* () {
      const broken = yield* ask((response) => {
        response.writeHead(200, { "Content-Type": lines })
        response.write('{"text":"a"}\n{"te', () => setTimeout(() => response.socket?.destroy(), 50))
      })
      assert.deepStrictEqual(broken.replies, [say("a")])
      assert.strictEqual(broken.error?.reason, "connection")
      const wrong = yield* ask(with200(lines, '{"text":"a"}\n', "oops\n"))
      assert.deepStrictEqual(wrong.replies, [say("a")])
      assert.strictEqual(wrong.error?.reason, "answer")
    })
  )

  it.live("limits the time to the first byte, with or without response headers", () =>
    Effect.gen(function* () {
      const limits = { firstByte: 200, whole: 5_000 }
      for (const answering of [() => {}, (response: ServerResponse) => response.writeHead(200).flushHeaders()]) {
        const { error } = yield* ask(answering, limits)
        assert.strictEqual(error?.reason, "timeout")
        assert.strictEqual(error?.message, "127.0.0.1 did not begin to answer within 0.2 s.")
      }
    })
  )

  it.live("limits the time of a slow answer, and keeps the replies that arrived", () =>
    Effect.gen(function* () {
      const { error, replies } = yield* ask(
        (response) => {
          const drip = setInterval(() => response.write('{"text":"a"}\n'), 20)
          response.on("close", () => clearInterval(drip))
        },
        { whole: 400 }
      )
      assert.strictEqual(error?.reason, "timeout")
      assert.include(error?.message, "did not finish its answer within 0.4 s")
      assert.isAbove(replies.length, 2)
    })
  )

  it.live("emits each line at once", () =>
    Effect.gen(function* () {
      let open: ServerResponse | undefined
      const server = yield* agentServer((response) => {
        open = response
        response.write('{"text":"first"}\n')
      })
      const replies: Array<object> = []
      yield* withCallback({ allow: [server.allow] }, (callback) =>
        callback.ask({ url: server.url, secret }, question).pipe(
          Stream.runForEach((reply) =>
            Effect.sync(() => {
              replies.push(reply)
              if (replies.length === 1) open?.end('{"text":"last"}')
            })
          )
        )
      )
      assert.deepStrictEqual(replies, [say("first"), say("last")])
    }).pipe(Effect.scoped)
  )

  it.live("closes the connection when it is interrupted, before and during the answer", () =>
    Effect.gen(function* () {
      for (const answering of [() => {}, (response: ServerResponse) => response.write('{"text":"a"}\n')]) {
        const server = yield* agentServer(answering as Answering)
        yield* withCallback({ allow: [server.allow] }, (callback) =>
          Effect.gen(function* () {
            const asking = yield* Effect.forkChild(answerOf(callback, server.url))
            yield* until(() => server.asked.length === 1)
            assert.isFalse(server.sockets[0]?.destroyed)
            yield* Fiber.interrupt(asking)
            yield* until(() => server.sockets[0]?.destroyed === true)
          })
        )
      }
    }).pipe(Effect.scoped)
  )

  it.live("asks for many calls concurrently, on connections that are kept for their next turns", () =>
    Effect.gen(function* () {
      const calls = 70
      const thinking: Array<ServerResponse> = []
      // No request is answered before all have arrived, as with agents that take their time.
      const server = yield* agentServer((response) => {
        thinking.push(response)
        if (thinking.length % calls === 0) for (const one of thinking.splice(0)) one.end('{"text":"a"}')
      })
      yield* withCallback({ allow: [server.allow], limits: { firstByte: 20_000 } }, (callback) =>
        Effect.gen(function* () {
          for (let turn = 0; turn < 2; turn++) {
            const answers = yield* Effect.replicateEffect(answerOf(callback, server.url), calls, {
              concurrency: "unbounded"
            })
            assert.deepStrictEqual(answers, Array.from({ length: calls }, () => ({ replies: [say("a")] })) as never)
          }
        })
      )
      assert.strictEqual(server.sockets.length, calls)
    }).pipe(Effect.scoped)
  )

  it.live("reuses the connection, and closes it with the layer", () =>
    Effect.gen(function* () {
      const server = yield* agentServer(with200(json, '{"text":"a"}'))
      yield* withCallback({ allow: [server.allow] }, (callback) =>
        Effect.gen(function* () {
          for (let turn = 0; turn < 3; turn++) yield* answerOf(callback, server.url)
        })
      )
      assert.strictEqual(server.asked.length, 3)
      assert.strictEqual(server.sockets.length, 1)
      yield* until(() => server.sockets[0]?.destroyed === true)
    }).pipe(Effect.scoped)
  )
})
