import { readdirSync } from "node:fs"
import { afterAll, assert, describe, it } from "vitest"
import { changeSetting, checkProfileName, readConfig } from "../../src/config/ConfigFile.ts"
import { findToken, forgetToken, saveToken } from "../../src/config/Credentials.ts"
import { changeBudget, readBudget } from "../../src/payment/Budget.ts"
import { machine, removeMachines } from "../support/Machine.ts"

afterAll(removeMachines)

const SERVER = "https://agentos.example"
const PROFILES = Array.from({ length: 12 }, (_, index) => `agent-${index}`)

describe("checkProfileName", () => {
  it("rejects names of object properties and of other files", () => {
    for (const name of ["constructor", "toString", "hasOwnProperty", "__proto__", "../up", ""])
      assert.throws(() => checkProfileName(name), /Invalid profile name/)
    assert.strictEqual(checkProfileName("staging-2.eu"), "staging-2.eu")
  })
})

describe("concurrent changes of several profiles", () => {
  it("keep every setting", async () => {
    const host = machine()
    await Promise.all(PROFILES.map((profile) => changeSetting(host, profile, "baseUrl", `${SERVER}/${profile}`)))
    const { profiles } = await readConfig(host)
    assert.deepStrictEqual(
      PROFILES.map((profile) => profiles[profile]?.baseUrl),
      PROFILES.map((profile) => `${SERVER}/${profile}`)
    )
    assert.deepStrictEqual(readdirSync(host.home), ["config.json"])
  })

  it("lose no access token and restore none", async () => {
    const host = machine()
    await saveToken(host, "gone", SERVER, "an old one")
    const saving = PROFILES.map((profile) => saveToken(host, profile, SERVER, `the token of ${profile}`))
    const [wasThere] = await Promise.all([forgetToken(host, "gone", SERVER), ...saving])
    assert.isTrue(wasThere)
    const found = await Promise.all(PROFILES.map((profile) => findToken(host, profile, SERVER)))
    assert.deepStrictEqual(
      found.map((token) => token?.value),
      PROFILES.map((profile) => `the token of ${profile}`)
    )
    assert.isUndefined(await findToken(host, "gone", SERVER))
  })

  it("keep every limit, also of the same profile", async () => {
    const host = machine()
    await Promise.all(
      PROFILES.flatMap((profile) => [
        changeBudget(host, profile, (before) => ({ ...before, perCall: 1n })),
        changeBudget(host, profile, (before) => ({ ...before, perDay: 2n }))
      ])
    )
    for (const profile of PROFILES)
      assert.deepStrictEqual(await readBudget(host, profile), { perCall: 1n, perDay: 2n }, profile)
  })
})
