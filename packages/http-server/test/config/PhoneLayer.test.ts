import { TelephonyProvider, Timestamp } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { phonePorts } from "../../src/config/PhoneLayer.ts"
import * as ServerConfig from "../../src/config/ServerConfig.ts"

/** Builds the telephony ports that the variables select. The other required variables have arbitrary values. */
const portsOf = (environment: Record<string, string>) =>
  ServerConfig.read({
    AGENTOS_ENVIRONMENT: "sandbox",
    AGENTOS_PUBLIC_URL: "https://agentos.example",
    AGENTOS_KEYS: `1:${"k".repeat(44)}`,
    AGENTOS_DATA_DIR: "/nowhere",
    AGENTOS_NETWORKS: JSON.stringify([
      {
        network: "eip155:196",
        rpcUrl: "https://rpc.example",
        asset: "0x779ded0c9e1022225f8e0630b35a9b54be713736",
        name: "USDT",
        version: "1",
        decimals: 6,
        payTo: "0x00000000000000000000000000000000000000b2",
        maxTimeoutSeconds: 120,
        confirmations: 1,
        facilitator: { url: "https://facilitator.example" }
      }
    ]),
    ...environment
  }).pipe(Effect.flatMap((config) => Layer.build(phonePorts(config))))

describe("phonePorts", () => {
  it.effect("provide a carrier that fails every request as misconfigured if none is configured", () =>
    Effect.gen(function* () {
      const carrier = yield* Effect.provide(TelephonyProvider, yield* portsOf({}))
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

  it.effect("provide the configured carrier, and read the configured files", () =>
    Effect.gen(function* () {
      const account = { AGENTOS_TWILIO_ACCOUNT_SID: `AC${"0".repeat(32)}`, AGENTOS_TWILIO_AUTH_TOKEN: "t" }
      assert.strictEqual((yield* Effect.provide(TelephonyProvider, yield* portsOf(account))).name, "twilio")
      const agents = JSON.stringify([{ host: "127.0.0.1", port: 9443, caFile: "/nowhere/ca.pem" }])
      const unread = yield* Effect.flip(portsOf({ ...account, AGENTOS_AGENT_WEBHOOK_ALLOW: agents }))
      assert.include(unread.message, "AGENTOS_AGENT_WEBHOOK_ALLOW: cannot read /nowhere/ca.pem (ENOENT)")
    }).pipe(Effect.scoped)
  )
})
