import { afterAll, assert, beforeAll, describe, expect, it } from "@effect/vitest"
import { SERVICES, Usdt } from "@agentos/core"
import { createHash } from "node:crypto"
import { fileURLToPath } from "node:url"
import { agentSkill } from "../../src/site/AgentSkill.ts"
import { call } from "../support/TestClient.ts"
import { startServer, type TestServer } from "../support/TestServer.ts"

const INDEX = "/.well-known/agent-skills/index.json"

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

describe("the agent skill", () => {
  it("is listed with the digest of the bytes that are served", async () => {
    const index = await call(server, "GET", INDEX)
    assert.strictEqual(index.status, 200)
    const { $schema, skills } = JSON.parse(index.text) as {
      readonly $schema: string
      readonly skills: ReadonlyArray<Record<"name" | "type" | "description" | "url" | "digest", string>>
    }
    assert.strictEqual($schema, "https://schemas.agentskills.io/discovery/0.2.0/schema.json")
    const [skill] = skills
    assert.lengthOf(skills, 1)
    const url = new URL(skill?.url ?? "", `http://server${INDEX}`)
    const served = await call(server, "GET", url.pathname)
    assert.match(served.headers.get("content-type") ?? "", /^text\/markdown/)
    assert.strictEqual(skill?.digest, `sha256:${createHash("sha256").update(served.text).digest("hex")}`)
    const [, name, description] = /^---\nname: (.+)\ndescription: (.+)\n---\n/.exec(served.text) ?? []
    assert.deepStrictEqual([name, description], [skill?.name, skill?.description])
    assert.match(name ?? "", /^[a-z0-9]+(?:-[a-z0-9]+)*$/)
    assert.isAtMost(description?.length ?? 0, 1_024)
    assert.include(url.pathname, `/${name}/SKILL.md`)
  })

  it("in the repository is that of the catalog, with every price", async () => {
    const capabilities = { email: true, phone: true }
    const text = agentSkill({ environment: "production", publicUrl: "https://agentos.example", capabilities })
    for (const { method, path, price } of SERVICES)
      if (price !== null) assert.include(text, `| \`${method} ${path}\` | ${Usdt.toDecimal(price)} USDT |`)
    await expect(text).toMatchFileSnapshot(
      fileURLToPath(new URL("../../../../skills/agentos/SKILL.md", import.meta.url))
    )
  })
})
