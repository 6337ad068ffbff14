import { startPostgres } from "@agentos/postgres/testing"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { SandboxDescription } from "@agentos/sandbox"
import { Agent, freshName } from "../support/Agent.ts"
import { runLedger } from "../support/Ledger.ts"
import { type Sandbox, startSandbox } from "../support/Sandbox.ts"

/** Returns the settings of a sandbox's server that the ledger check needs. */
const environmentOf = (sandbox: SandboxDescription, databaseUrl: string) => {
  const { asset, assetName, assetVersion, decimals, network, payTo, rpcUrl } = sandbox.chain
  return {
    AGENTOS_ENVIRONMENT: "sandbox",
    AGENTOS_PUBLIC_URL: sandbox.baseUrl,
    AGENTOS_KEYS: "1:the check makes no use of any key at all",
    DATABASE_URL: databaseUrl,
    AGENTOS_NETWORKS: JSON.stringify([
      {
        network,
        rpcUrl,
        asset,
        name: assetName,
        version: assetVersion,
        decimals,
        payTo,
        facilitator: { url: sandbox.facilitatorUrl },
        confirmations: 0,
        maxTimeoutSeconds: 30
      }
    ])
  }
}

describe("pnpm ledger", () => {
  let postgres: Awaited<ReturnType<typeof startPostgres>>
  let running: Sandbox
  let sandbox: SandboxDescription
  beforeAll(async () => {
    postgres = await startPostgres()
    running = await startSandbox({ environment: { DATABASE_URL: postgres.url } })
    sandbox = await running.describe()
  })
  afterAll(async () => {
    await running?.stop()
    await postgres?.stop()
  })

  it("accounts for every base unit while a server runs, and matches the chain", async () => {
    const agent = new Agent(sandbox, sandbox.wallets[0]!.privateKey)
    const { mailboxId } = await agent.createMailbox(freshName())
    await agent.pay({ path: "/api/v1/email/mailboxes/update", body: { mailboxId, displayName: "Ada" } })
    const { output, status } = await runLedger(environmentOf(sandbox, postgres.url))
    expect(status).toBe(0)
    const report = JSON.parse(output) as { ok: boolean; ledger: ReadonlyArray<object>; chain: ReadonlyArray<object> }
    expect(report).toMatchObject({
      ok: true,
      ledger: [{ settled: "260000", fulfilled: "260000", inFlight: "0", refundDue: "0", refunded: "0", problems: [] }],
      chain: [{ received: { count: 2, amount: "260000" }, paidBack: { count: 0 }, unclaimed: [], problems: [] }]
    })
  })

  it("exits with 3 if the chain shows a transfer of no known operation", async () => {
    const agent = new Agent(sandbox, sandbox.wallets[1]!.privateKey)
    const request = { path: "/api/v1/email/mailboxes", body: { localPart: freshName() } }
    const payload = await agent.sign(await agent.challenge(request))
    const settled = await fetch(`${sandbox.facilitatorUrl}/settle`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ x402Version: 2, paymentPayload: payload, paymentRequirements: payload.accepted })
    })
    expect(await settled.json()).toMatchObject({ success: true })
    const { output, status } = await runLedger(environmentOf(sandbox, postgres.url))
    expect(status).toBe(3)
    expect(JSON.parse(output)).toMatchObject({
      ok: false,
      chain: [{ unclaimed: [{ wallet: agent.account.address.toLowerCase(), amount: "250000" }], problems: [] }]
    })
  })

  it("exits with 1 and the reason if the check fails", async () => {
    const { errors, output, status } = await runLedger({
      ...environmentOf(sandbox, postgres.url),
      AGENTOS_NETWORKS: "[]"
    })
    expect({ output, status }).toEqual({ output: "", status: 1 })
    expect(errors).toContain("AGENTOS_NETWORKS")
  })
})
