import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as ServerConfig from "../../src/config/ServerConfig.ts"
import { setupOf } from "../../src/program/ServerSetup.ts"

/** Makes the setup that the variables select. The other required variables have arbitrary values. */
const setupFrom = (environment: Record<string, string>) =>
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
  }).pipe(Effect.flatMap(setupOf))

describe("setupOf", () => {
  it.effect("has telephony only if a carrier is configured, and mail only if a domain is", () =>
    Effect.gen(function* () {
      const account = { AGENTOS_TWILIO_ACCOUNT_SID: `AC${"0".repeat(32)}`, AGENTOS_TWILIO_AUTH_TOKEN: "t" }
      const mail = { AGENTOS_EMAIL_DOMAIN: "agents.example", AGENTOS_SMTP_RELAY_HOST: "relay.example" }
      const selected = Effect.map(Effect.forEach([{}, account, mail], setupFrom), (setups) =>
        setups.map((setup) => [setup.telephony !== undefined, setup.mail !== undefined])
      )
      assert.deepStrictEqual(yield* selected, [
        [false, false],
        [true, false],
        [false, true]
      ])
    })
  )

  it.effect("names the variable of a file that cannot be read", () =>
    Effect.gen(function* () {
      const agents = JSON.stringify([{ host: "127.0.0.1", port: 9443, caFile: "/nowhere/ca.pem" }])
      const unread = yield* Effect.flip(setupFrom({ AGENTOS_AGENT_WEBHOOK_ALLOW: agents }))
      assert.include(unread.message, "AGENTOS_AGENT_WEBHOOK_ALLOW: cannot read /nowhere/ca.pem (ENOENT)")
    })
  )
})
