import { ProviderError } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { HttpServerError } from "effect/http"
import { explain } from "../src/ProgramOutput.ts"

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
