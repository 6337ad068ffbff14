import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"
import { aboutOf } from "../src/tail/EventHandling.ts"
import { errorReply, useApiDouble } from "./support/ApiDouble.ts"
import { TOKEN } from "./support/PaidAnswers.ts"
import { useProgram } from "./support/Program.ts"

const program = useProgram()
const api = useApiDouble()
const CALL = "0190f3c2-0000-7000-8000-000000000001"

const connected = () => ({ env: { AGENTOS_BASE_URL: api.url(), AGENTOS_TOKEN: TOKEN } })

describe("remarks", () => {
  it("names a profile without a server, and a profile without settings", async () => {
    const env = { AGENTOS_HOME: program.folder() }
    const { stderr } = await program.run(["services", "list", "--profile", "stagign"], { env })
    assert.include(stderr, "No server is configured for profile stagign.")
    const chosen = await program.run(["config", "set", "profile", "stagign"], { env })
    assert.deepStrictEqual([chosen.code, chosen.stderr], [0, "Profile stagign has no settings yet.\n"])
    await program.run(["config", "set", "base-url", "https://agentos.example"], { env })
    assert.strictEqual((await program.run(["config", "set", "profile", "stagign"], { env })).stderr, "")
  })

  it("points to the description of the service after a quote with invalid inputs", async () => {
    const service = {
      serviceId: "email.mailbox.create",
      method: "POST",
      path: "/api/v1/email/mailboxes",
      price: {},
      inputs: []
    }
    api.on("GET /api/v1/services/email.mailbox.create", { data: { service } })
    api.on("POST /api/v1/email/mailboxes", errorReply(400, "INVALID_REQUEST", { paymentState: "none" }))
    const { code, stderr } = await program.run(["quote", "email.mailbox.create"], connected())
    assert.strictEqual(code, 3)
    assert.include(stderr, "Next: agentctl services show email.mailbox.create\n")
  })

  it("begins the next command as agentctl was started", async () => {
    const main = fileURLToPath(new URL("../src/main.ts", import.meta.url))
    const place = { encoding: "utf8", env: { AGENTOS_HOME: program.folder() } } as const
    const { stderr } = spawnSync(process.execPath, [main, "mailbox", "create", "--frm"], place)
    assert.include(stderr, "Next: npx -y pnpm@12 agentctl mailbox create --help\n")
    const installed = await program.execute(["mailbox", "create", "--frm"])
    assert.include(installed.stderr, "Next: agentctl mailbox create --help\n")
  })

  it("reports an empty transcript", async () => {
    const transcript = { callId: CALL, complete: true, turns: [] }
    api.on(`GET /api/v1/phone/calls/${CALL}/transcript`, { data: { transcript } })
    const { stderr, stdout } = await program.run(["call", "transcript", CALL], connected())
    assert.deepStrictEqual([stdout, stderr], ["", "The transcript is empty.\n"])
  })

  it("summarizes a payment by its service and mail by its sender", () => {
    const price = { amount: "0.25", asset: "USDT" }
    assert.strictEqual(aboutOf({ serviceId: "email.mailbox.create", price }), "email.mailbox.create, 0.25 USDT")
    assert.strictEqual(aboutOf({ from: "bob@outside.example", subject: "Hi" }), "bob@outside.example: Hi")
    assert.isUndefined(aboutOf({ callId: CALL }))
  })
})
