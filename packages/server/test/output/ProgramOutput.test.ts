import { ProviderError, Timestamp } from "@agentos/core"
import type { AccessEntry } from "@agentos/http-server"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { HttpServerError } from "effect/http"
import { accessLine, explain } from "../../src/output/ProgramOutput.ts"

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

describe("accessLine", () => {
  const required = { requestId: "1", method: "GET", path: `/"\\ü\u2028`, status: 200, durationMs: 0.5, address: "" }
  const none = { operation: undefined, tenantId: undefined, code: undefined, repeats: undefined, traceId: undefined }

  it.effect.each<AccessEntry>([
    { ...required, ...none },
    { ...required, operation: "getPayment", tenantId: "3", code: "PAYMENT_REQUIRED", repeats: "2", traceId: "4" }
  ])("is what Logger.formatJson writes for the same annotations: %o", (entry) =>
    Effect.gen(function* () {
      const written: Array<string> = []
      const logger = Logger.make((options) => void written.push(Logger.formatJson.log(options)))
      yield* Effect.annotateLogs(Effect.logInfo("request"), { ...entry }).pipe(Effect.provide(Logger.layer([logger])))
      const line = accessLine(entry, yield* Timestamp.now, yield* Effect.withFiber(({ id }) => Effect.succeed(id)))
      assert.deepEqual(written, [line])
    })
  )
})
