import { ProviderError } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger, Redacted } from "effect"
import { HttpServerError } from "effect/http"
import { explain, formatEntry } from "../src/ProgramOutput.ts"

describe("explain", () => {
  it("adds the cause to a provider error, and uses the message of any other error", () => {
    const cause = new Error("HttpRequestError: HTTP request failed.:\n  connect ECONNREFUSED")
    const failure = new ProviderError({
      provider: "chain",
      reason: "Temporary",
      message: "It could not be read.",
      cause
    })
    assert.strictEqual(
      explain(failure),
      "It could not be read. HttpRequestError: HTTP request failed.: connect ECONNREFUSED"
    )
    assert.strictEqual(explain(new Error("It is broken.", { cause })), "It is broken.")
    const taken = new Error("listen EADDRINUSE: address already in use 127.0.0.1:8080")
    assert.strictEqual(
      explain(new HttpServerError.ServeError({ cause: taken })),
      "cannot listen: listen EADDRINUSE: address already in use 127.0.0.1:8080"
    )
  })
})

describe("formatEntry", () => {
  it.effect("writes what Logger.formatJson writes, and no secret", () =>
    Effect.gen(function* () {
      const written: Array<readonly [ours: string, other: string]> = []
      const both = Logger.make((entry) => void written.push([formatEntry(entry), Logger.formatJson.log(entry)]))
      const secret = Redacted.make("a secret")
      const values = [
        { path: `/"\\ü\u2028`, status: 402, durationMs: 0.5, isRepeated: false, code: undefined },
        { tenant: null, count: 3n, list: [1, "two"], nested: { token: secret }, at: new Date(0) },
        { token: secret }
      ]
      yield* Effect.gen(function* () {
        for (const annotations of values) {
          yield* Effect.annotateLogs(Effect.logInfo("request"), annotations)
          yield* Effect.annotateLogs(Effect.logError("request failed", new Error("cause")), annotations)
        }
        yield* Effect.withLogSpan(Effect.logWarning({ token: secret }, "two messages"), "span")
        yield* Effect.logInfo(secret)
      }).pipe(Effect.provide(Logger.layer([both])))
      assert.lengthOf(written, 8)
      for (const [ours, other] of written) {
        assert.strictEqual(ours, other)
        assert.notInclude(ours, "a secret")
      }
    })
  )
})
