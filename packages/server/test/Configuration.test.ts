import { assert, describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import { parseEnv } from "node:util"
import * as ServerConfig from "../src/config/ServerConfig.ts"
import { configurationPage, environmentFile } from "../src/variable/Documents.ts"
import { ALL_VARIABLES, VARIABLES } from "../src/variable/Variables.ts"

const KEYS = `1:${"k".repeat(44)}`

describe("the declaration of the variables", () => {
  it("generates the page on configuration of the documentation", async () => {
    await expect(configurationPage()).toMatchFileSnapshot(
      fileURLToPath(new URL("../../site/content/configuration.md", import.meta.url))
    )
  })

  it("generates an environment file with every variable, of which only required ones are set", () => {
    const text = environmentFile({ AGENTOS_KEYS: KEYS })
    for (const [name, { meaning }] of ALL_VARIABLES) {
      assert.match(text, new RegExp(`^#?${name}=`, "m"))
      assert.isAbove(meaning.length, 0)
    }
    assert.deepStrictEqual(parseEnv(text), { AGENTOS_PUBLIC_URL: "", AGENTOS_KEYS: KEYS, AGENTOS_NETWORKS: "" })
    const prose = text.replaceAll("\n# ", " ")
    assert.include(prose, "pages may sign in (/docs/authentication#get-a-lost-token-back) with a wallet")
    assert.include(prose, "one for each core (/docs/operate#workers). More")
    for (const line of text.split("\n")) if (line.startsWith("# ")) assert.isAtMost(line.length, 340, line)
  })

  it("generates an environment file whose defaults change nothing", () => {
    const minimal = {
      AGENTOS_PUBLIC_URL: "https://agents.example.com",
      AGENTOS_KEYS: KEYS,
      AGENTOS_DATA_DIR: "/var/lib/agentos",
      AGENTOS_EMAIL_DOMAIN: "agents.example.com",
      AGENTOS_SMTP_RELAY_HOST: "relay.example.com",
      AGENTOS_NETWORKS: JSON.stringify([
        { ...(JSON.parse(VARIABLES.AGENTOS_NETWORKS.example.replaceAll("…", "")) as [object])[0], ...NETWORK }
      ])
    }
    const withDefaults = Object.fromEntries(
      ALL_VARIABLES.flatMap(([name, spec]) =>
        "default" in spec && spec.default !== undefined ? [[name, String(spec.default)] as const] : []
      )
    )
    const read = (environment: Record<string, string>) => Effect.runSync(ServerConfig.read(environment))
    assert.deepStrictEqual(JSON.stringify(read({ ...withDefaults, ...minimal })), JSON.stringify(read(minimal)))
  })
})

const NETWORK = {
  payTo: "0x857b06519E91e3A54538791bDbb0E22373e36b66",
  facilitator: { url: "https://facilitator.example" },
  refund: { privateKey: `0x${"11".repeat(32)}` }
}
