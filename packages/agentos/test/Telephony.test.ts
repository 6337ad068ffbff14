import { TelephonyProvider, Timestamp } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { none, twilio } from "../src/Telephony.ts"

const URL = "https://agentos.example"

describe("telephony", () => {
  it.effect("fails every request as misconfigured without a provider", () =>
    Effect.gen(function* () {
      const carrier = yield* Effect.provide(TelephonyProvider, yield* Layer.build(none.layer(URL)))
      for (const asked of [
        carrier.search({ country: "US", limit: 1 }),
        carrier.buy("+14155550100"),
        carrier.findNumber("+14155550100"),
        carrier.release("PN1"),
        carrier.listNumbers(undefined),
        carrier.place({ callId: "c", from: "+14155550100", to: "+12025550150", limitSeconds: 60 }),
        carrier.findCalls("+14155550100", "+12025550150", Timestamp.Timestamp.make(0)),
        carrier.findCall("CA1"),
        carrier.changeLimit("CA1", 60),
        carrier.hangUp("CA1")
      ]) {
        const { message, reason } = yield* Effect.flip(asked)
        assert.deepStrictEqual([reason, message], ["Misconfigured", "No carrier is configured."])
      }
    }).pipe(Effect.scoped)
  )

  it.effect("is Twilio's for a Twilio account", () =>
    Effect.gen(function* () {
      const { layer } = twilio({ accountSid: `AC${"0".repeat(32)}`, authToken: "t" })
      assert.strictEqual((yield* Effect.provide(TelephonyProvider, yield* Layer.build(layer(URL)))).name, "twilio")
    }).pipe(Effect.scoped)
  )
})
